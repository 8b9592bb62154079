// The parent and processes that do nothing but end: what it replaces, and when it gives up.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { createNodeWindows } from '../../src/edge/node-windows.ts';
import { startWebProcesses, type WebProcesses } from '../../src/node-parent.ts';
import { readConfig } from '../../src/platform/config.ts';
import { createMetrics } from '../../src/platform/metrics.ts';
import { createTestClock } from '../support/clock.ts';
import { createTestLog } from '../support/log.ts';
import { makeFolder } from '../support/process.ts';

/** What a web process says to its parent, without a service behind it. */
const talk = `
  process.on('message', ({ name, call }) => {
    if (name === 'begin') answer(call);
    if (name === 'stop') process.exit(0);
  });
  process.send({ name: 'loaded' });
`;

async function start(program: string): Promise<{ web: Promise<WebProcesses>; fatal: Promise<Error>; lines: string[] }> {
  const file = join(makeFolder('web-process'), 'web-process.cjs');
  writeFileSync(file, program + talk);
  const { log, lines } = createTestLog();
  const metrics = createMetrics();
  let fail = (_error: Error) => {};
  const fatal = new Promise<Error>((resolve) => {
    fail = resolve;
  });
  const web = startWebProcesses({
    config: readConfig({ HELIOGRAPH_PROCESSES: '2' }),
    connection: { url: 'postgres://nowhere' },
    secret: 'not used',
    readable: false,
    log,
    metrics,
    windows: createNodeWindows(createTestClock(), metrics),
    wakeDelivery: () => {},
    onFatal: fail,
    file,
  });
  return { web, fatal, lines };
}

test('the fifth end within ten seconds stops the node, and says why', async () => {
  const { web, fatal, lines } = await start(
    `const answer = (call) => process.send({ answer: call, value: { carriers: [] } }, () => process.exit(3));`,
  );
  await web.catch(() => {});
  assert.match((await fatal).message, /ended five times within 10 seconds/);
  assert.equal(lines.filter((line) => line.includes('a web process ended') && line.includes('"code":3')).length, 5);
  await (await web).stop(0);
});

test('a process that cannot start makes the start fail with its reason, and leaves none behind', async () => {
  const { web } = await start(
    `const answer = (call) => process.send({ answer: call, error: 'listen EADDRINUSE: address already in use' });`,
  );
  await assert.rejects(web, /^StartError: listen EADDRINUSE/);
});
