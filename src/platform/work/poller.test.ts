import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createPoller } from './poller.ts';

/** Work whose runs end when the test says so. */
function createWork() {
  const ends: { resolve: () => void; reject: (error: Error) => void }[] = [];
  let [atOnce, most] = [0, 0];
  return {
    ends,
    get most() {
      return most;
    },
    async run() {
      most = Math.max(most, ++atOnce);
      try {
        await new Promise<void>((resolve, reject) => ends.push({ resolve, reject }));
      } finally {
        atOnce--;
      }
    },
  };
}

const turn = () => new Promise((done) => setImmediate(done));

describe('a poller', () => {
  test('runs on request, and once more for all who ask during a run', async () => {
    const work = createWork();
    const poller = createPoller({ run: work.run, pauseMs: 1000 });
    const first = poller.poll();
    await turn();
    const [second, third] = [poller.poll(), poller.poll()];
    assert.equal(second, third);
    work.ends[0]?.reject(new Error('away'));
    await assert.rejects(first, /away/);
    await turn();
    assert.equal(work.ends.length, 2);
    work.ends[1]?.resolve();
    await second;
    assert.deepEqual([work.ends.length, work.most], [2, 1]);
  });

  test('repeats after a pause, also after a failed run, until it is stopped', async () => {
    const failures: string[] = [];
    let runs = 0;
    let enough = () => {};
    const ran = new Promise<void>((done) => {
      enough = done;
    });
    const poller = createPoller({
      run() {
        if (++runs === 4) enough();
        if (runs === 2) throw new Error('away');
      },
      pauseMs: () => 1,
      onFailure: ({ message }) => failures.push(message),
    });
    // The poller's own timer keeps no process alive.
    const alive = setInterval(() => {}, 1000);
    poller.start(0);
    poller.start(0);
    await ran;
    await poller.stop();
    clearInterval(alive);
    assert.deepEqual([runs, failures], [4, ['away']]);
  });

  test('hurries when it pauses, and does not when it runs', async () => {
    const work = createWork();
    const poller = createPoller({ run: work.run, pauseMs: 1000 });
    poller.hurry();
    await turn();
    assert.equal(work.ends.length, 0, 'it is not started');
    poller.start();
    for (let calls = 0; calls < 3; calls++) poller.hurry();
    await turn();
    poller.hurry();
    work.ends[0]?.resolve();
    await poller.stop();
    assert.equal(work.ends.length, 1);
  });

  test('waits at its stop for the runs that were asked for', async () => {
    const work = createWork();
    const poller = createPoller({ run: work.run, pauseMs: 0 });
    poller.start();
    void poller.poll();
    await turn();
    void poller.poll();
    let stopped = false;
    const stopping = poller.stop().then(() => {
      stopped = true;
    });
    work.ends[0]?.resolve();
    await turn();
    assert.deepEqual([stopped, work.ends.length], [false, 2]);
    work.ends[1]?.resolve();
    await stopping;
    poller.hurry();
    await turn();
    assert.equal(work.ends.length, 2);
  });
});
