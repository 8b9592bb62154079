// run: with many processes
import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { after, before, test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { compiledFile, isRunning, processesOn } from '../support/process.ts';
import { buildService, endServices, type Service, startService } from '../support/service.ts';

let cluster: Service;
before(async () => {
  await buildService();
  const env = { HELIOGRAPH_TEST_FOLDER: process.env.HELIOGRAPH_TEST_FOLDER ?? '' };
  cluster = await startService({ command: ['node', compiledFile('scripts/cluster.ts')], env });
  await cluster.printed('to stop everything');
});
after(endServices);

/** The processes that it has named, in order. */
function pids(): number[] {
  return [...cluster.output().matchAll(/\(process (\d+)\)/g)].map(([, pid]) => Number(pid));
}

test('npm run cluster: three nodes behind a balancer; one that is killed comes back; Ctrl-C leaves nothing', async () => {
  const line = /curl -i (\S+) -H 'apikey: (\S+)'/.exec(cluster.output());
  const send = () =>
    fetch(line?.[1] ?? '', {
      method: 'POST',
      headers: { apikey: line?.[2] ?? '', 'Content-Type': 'application/json' },
      body: '{"to":"+15005550100","from":"ACME","message":"Hello"}',
    });
  // More than once: on a machine that is busy with other things a node may have to count by itself for a moment.
  await eventually('one count over three nodes', async () => {
    const remaining: number[] = [];
    for (let sent = 0; sent < 3; sent++) {
      const response = await send();
      assert.equal(response.status, 201);
      remaining.push(Number(response.headers.get('RateLimit-Remaining')));
    }
    const [one = 0, two = 0, three = 0] = remaining;
    return one - two === 1 && two - three === 1;
  });

  const [first = 0, second = 0, third = 0, redis = 0] = pids();
  process.kill(second, 'SIGKILL');
  await eventually('it is started again', () => pids().length === 5, { withinMs: 60_000 });
  const again = pids().at(-1) ?? 0;
  assert.equal((await send()).status, 201);

  cluster.kill('SIGINT');
  const { code } = await cluster.ended;
  assert.equal(code, 0, cluster.output());
  for (const pid of [first, third, again, redis]) assert.equal(isRunning(pid), false, String(pid));
});

test('npm run cluster on a port that is taken says so, says what to do, and leaves nothing', async () => {
  const taken = createServer();
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
  const { port } = taken.address() as { port: number };
  const refused = await startService({ port, command: ['node', compiledFile('scripts/cluster.ts')] });
  const { code } = await refused.ended;
  taken.close();
  assert.equal(code, 1);
  assert.match(refused.output(), new RegExp(`Port ${port} is taken.*PORT=${port + 1} npm run cluster`));
  assert.deepEqual(processesOn(`heliograph-test-${refused.pid}-`), []);
});
