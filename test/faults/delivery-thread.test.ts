// run: with crashes
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import type { ThreadData } from '../../src/delivery-thread.ts';
import type { Metrics } from '../../src/platform/metrics/metrics.ts';
import { type DeliveryThread, startDeliveryThread } from '../../src/start-delivery-thread.ts';
import { eventually } from '../support/eventually.ts';
import { createTestLog } from '../support/log.ts';
import { makeFolder } from '../support/process.ts';

/** How soon a thread that has died is started again here. */
const restartAfterMs = 50;

interface Scene {
  launch(): DeliveryThread;
  /** Resolves when the thread has started. */
  start(): Promise<DeliveryThread>;
  /** What the threads have noted, in order. */
  notes(): string[];
  counted: Record<string, number>;
  /** The labels of the gauge of worker states. */
  states(): string[][];
}

/** A thread that does what `script` says instead of delivering. `note` writes where the test can read it. */
function play(script: string): Scene {
  const folder = makeFolder('thread');
  const notesFile = join(folder, 'notes');
  const file = join(folder, 'thread.mjs');
  writeFileSync(notesFile, '');
  writeFileSync(
    file,
    `import { appendFileSync } from 'node:fs';
     import { parentPort } from 'node:worker_threads';
     const note = (text) => appendFileSync(${JSON.stringify(notesFile)}, text + '\\n');
     note('launched');
     ${script}`,
  );
  const counted: Record<string, number> = {};
  const add = (name: string, by: number) => {
    counted[name] = (counted[name] ?? 0) + by;
  };
  let collectStates: Parameters<Metrics['gauges']>[3] = () => [];
  const metrics = {
    countDelivery: add,
    countCarrier: () => {},
    countText: () => {},
    addAnswerTimes: () => {},
    countWebhook: add,
    countWebhookLease: add,
    setWebhooksWaiting: () => {},
    countSpans: add,
    gauges: (...[, , , collect]: Parameters<Metrics['gauges']>) => {
      collectStates = collect;
    },
    countMaintenance: (chore: string, count: string, by: number) => add(`${chore} ${count}`, by),
  };
  const launch = () => {
    const options = { file: pathToFileURL(file), restartAfterMs };
    return startDeliveryThread({} as ThreadData, createTestLog().log, metrics, options);
  };
  return {
    launch,
    async start() {
      const thread = launch();
      await thread.started;
      return thread;
    },
    notes: () => readFileSync(notesFile, 'utf8').trim().split('\n'),
    counted,
    states: () => collectStates().map(({ labels }) => labels),
  };
}

const working = `
  parentPort.on('message', (order) => {
    note(order === 'stop' ? order : 'wake ' + (order.carriers?.join() ?? 'all'));
    if (order !== 'stop') return;
    parentPort.postMessage({ delivery: { submitted: 3 }, carriers: {}, texts: {}, answers: {}, maintenance: { traces: { rows: 7 } }, webhooks: { delivered: 2 }, webhookLeases: { calling: 1 }, webhooksWaiting: { count: 0, oldestAtMs: null }, spans: { exported: 4 }, workers: [] });
    parentPort.close();
  });
  parentPort.postMessage('started');`;

describe('the delivery thread', { concurrency: true }, () => {
  test('is woken once per turn, stops when asked, and its last counts arrive', async () => {
    const scene = play(working);
    const thread = await scene.start();
    for (let commits = 0; commits < 100; commits++) thread.wake(commits % 2 === 0 ? ['a#1'] : ['b#2', 'a#1']);
    await eventually('it is woken', () => scene.notes().length > 1);
    thread.wake(['a#1']);
    thread.wake();
    await eventually('it is woken again', () => scene.notes().length > 2);
    await thread.stop();
    assert.deepEqual(scene.notes(), ['launched', 'wake a#1,b#2', 'wake all', 'stop']);
    assert.deepEqual(scene.counted, { submitted: 3, 'traces rows': 7, delivered: 2, calling: 1, exported: 4 });
  });

  test('reports the states of its workers, until it dies', async () => {
    const report = `{ delivery: {}, carriers: {}, texts: {}, answers: {}, maintenance: {}, webhooks: {}, webhookLeases: {}, webhooksWaiting: { count: 0, oldestAtMs: null }, spans: {}, workers: [['acme', 'resting']] }`;
    const scene = play(`${working}
      parentPort.postMessage(${report});`);
    const thread = await scene.start();
    await eventually('its states are shown', () => scene.states().length > 0);
    assert.deepEqual(scene.states(), [['acme', 'resting']]);
    await thread.stop();
    assert.deepEqual(scene.states(), []);
  });

  test('a wake and a stop that come while it loads its code reach it', async () => {
    const scene = play(working);
    const thread = scene.launch();
    thread.wake(['a#1']);
    // A wake is sent once per turn of the event loop.
    await new Promise((done) => setImmediate(done));
    await thread.stop();
    assert.deepEqual(scene.notes(), ['launched', 'wake a#1', 'stop']);
  });

  for (const [how, script] of [
    ['fails', `throw new Error('no database');`],
    ['ends', 'process.exit(0);'],
  ] as const) {
    test(`a delivery thread that ${how} before it works fails the start`, async () => {
      await assert.rejects(play(script).start());
    });
  }

  test('a delivery thread that dies is started again, and is woken as before', async () => {
    const scene = play(`${working}
      parentPort.on('message', (order) => { if (order !== 'stop') throw new Error('it dies'); });`);
    const thread = await scene.start();
    thread.wake();
    await eventually('there is another', () => scene.notes().filter((note) => note === 'launched').length === 2);
    await thread.stop();
    assert.deepEqual(scene.notes(), ['launched', 'wake all', 'launched', 'stop']);
  });

  test('a delivery thread that has died when the service stops is not started again', async () => {
    const scene = play(`${working}
      parentPort.on('message', () => process.exit(1));`);
    const thread = await scene.start();
    thread.wake();
    await eventually('it has died', () => scene.notes().includes('wake all'));
    // Whether it is found dying or dead, nothing may be launched after the stop.
    await thread.stop();
    const after = scene.notes();
    await new Promise((done) => setTimeout(done, 10 * restartAfterMs));
    assert.deepEqual(scene.notes(), after);
  });
});
