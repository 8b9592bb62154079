// run: with many processes
// The parent and processes that do nothing but end: what it replaces, and when it gives up.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { createNodeWindows } from '../../src/edge/node-windows.ts';
import { startWebProcesses, type WebProcesses } from '../../src/node-parent.ts';
import { createMetrics } from '../../src/platform/metrics/metrics.ts';
import { readConfig } from '../../src/settings/settings.ts';
import { createTestClock } from '../support/clock.ts';
import { eventually } from '../support/eventually.ts';
import { createTestLog } from '../support/log.ts';
import { isRunning, makeFolder } from '../support/process.ts';

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

test('a spare is loaded, takes the place of one that ends, and is itself replaced', async () => {
  const folder = makeFolder('web-process');
  const { web, lines } = await start(
    `const fs = require('node:fs');
    const note = (word) => fs.appendFileSync(${JSON.stringify(join(folder, 'told'))}, word + ' ' + process.pid + '\\n');
    note('loaded');
    process.on('message', ({ name, data }) => name === 'begin' && note('began'));
    const answer = (call) => process.send({ answer: call, value: { carriers: [] } });`,
  );
  const told = (word: string) =>
    readFileSync(join(folder, 'told'), 'utf8')
      .split('\n')
      .filter((line) => line.startsWith(word))
      .map((line) => Number(line.split(' ')[1]));
  const { stop } = await web;
  await eventually('a spare to be loaded', () => told('loaded').length === 3);
  const [first] = told('began');
  const spare = told('loaded').find((pid) => !told('began').includes(pid));
  process.kill(first ?? assert.fail('one began'), 'SIGKILL');
  await eventually('the spare to begin', () => told('began').length === 3);
  assert.equal(told('began').at(-1), spare, 'the spare replaces it');
  await eventually('another spare to be loaded', () => told('loaded').length === 4);
  process.kill(told('loaded').at(-1) ?? assert.fail('there is a spare'), 'SIGKILL');
  await eventually('a spare that ended to be replaced', () => told('loaded').length === 5);
  assert.equal(told('began').length, 3, 'it does not begin unasked');
  assert.equal(lines.filter((line) => line.includes('a web process ended')).length, 2);
  await stop(0);
  for (const pid of told('loaded')) assert.ok(!isRunning(pid), `process ${pid} is left`);
});

test('a process that cannot start makes the start fail with its reason, and leaves none behind', async () => {
  const { web } = await start(
    `const answer = (call) => process.send({ answer: call, error: 'listen EADDRINUSE: address already in use' });`,
  );
  await assert.rejects(web, /^StartError: listen EADDRINUSE/);
});
