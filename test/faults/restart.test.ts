// run: with services, on web processes
import assert from 'node:assert/strict';
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { after, before, test } from 'node:test';
import { uuidOf } from '../../src/platform/ids.ts';
import { createRegistered, type TestApplication } from '../support/applications.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { inShort } from '../support/effort.ts';
import { eventually } from '../support/eventually.ts';
import { sharedSettings, urlOf } from '../support/node-settings.ts';
import { compiledFile, freePort, makeFolder } from '../support/process.ts';
import type { ClientOptions, Outcomes } from '../support/restart-client.ts';
import { buildService, endServices, type Service, startService } from '../support/service.ts';

const plans = JSON.stringify({ enterprise: { per_minute: 1_000_000, burst: 1_000_000 } });
const dataDir = makeFolder('alone');
let db: TestDatabase;
let port: number;
let service: Service;
let own: TestApplication;

async function start(): Promise<void> {
  const env = { ...sharedSettings, DATABASE_URL: urlOf(db.connection), HELIOGRAPH_PLANS: plans };
  service = await startService({ dataDir, port, env });
  await service.ready;
}

before(async () => {
  await buildService();
  db = await createTestDatabase();
  port = await freePort();
  await start();
  own = await createRegistered(service, ['sms'], 'enterprise');
});
after(async () => {
  await endServices();
  await db.drop();
});

interface Client {
  /** Resolves when this many more texts have been answered. */
  answered(more: number): Promise<void>;
  stop(): Promise<Outcomes>;
}

function startClient(): Client {
  const options: ClientOptions = { port, apiKey: own.apiKey, callers: 4 };
  const script = compiledFile('test/support/restart-client.ts');
  const child: ChildProcess = fork(script, [JSON.stringify(options)], { execArgv: [] });
  async function ask<Answer>(question: 'count' | 'stop'): Promise<Answer> {
    child.send(question);
    const [answer] = (await once(child, 'message')) as [Answer];
    return answer;
  }
  return {
    async answered(more) {
      const wanted = (await ask<number>('count')) + more;
      await eventually(`${more} more answers`, async () => (await ask<number>('count')) >= wanted, {
        withinMs: 60_000,
      });
    },
    stop: () => ask<Outcomes>('stop'),
  };
}

test('a lone node stopped under load: every request was answered, or not carried out', async (t) => {
  const client = startClient();
  const restarts = inShort(1, 50);
  for (let round = 0; round < restarts; round++) {
    await client.answered(100);
    service.kill('SIGTERM');
    const { code } = await service.ended;
    assert.equal(code, 0, service.output());
    await start();
  }
  const outcomes = await client.stop();
  const { rows } = await db.database.query<{ reference: string; count: number }>(
    'select reference, count(*) as count from message where application_id = $1 group by reference',
    [uuidOf(own.id)],
  );
  const carriedOut = new Map(rows.map(({ reference, count }) => [reference, count]));
  const tally: Record<string, number> = {};
  for (const [reference, outcome] of Object.entries(outcomes)) {
    const name = `${reference.split('-')[0]} ${outcome}`;
    tally[name] = (tally[name] ?? 0) + 1;
  }
  t.diagnostic(JSON.stringify(tally));
  const wrong = Object.entries(outcomes).filter(
    ([reference, outcome]) => (carriedOut.get(reference) ?? 0) !== (outcome === 201 ? 1 : 0),
  );
  assert.deepEqual(wrong, [], 'carried out without an answer, or answered without being carried out');
});
