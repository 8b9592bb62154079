import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createWakeableSleep } from '../../platform/work/wakeable-sleep.ts';
import { createQueuePolls } from './polls.ts';

const neverMs = 100_000;
const turn = () => new Promise<void>((done) => setImmediate(done));

/** Two loops over a queue of batches. A batch is under way until `finish` is called; `room`: whether a poll reads the whole queue, and whether it may claim. */
function createLoops(room = { whole: true, any: true }) {
  const sleep = createWakeableSleep();
  const polls = createQueuePolls(sleep);
  const world = { queue: 0, polled: 0, room, pollTakes: 0 };
  const underWay: (() => void)[] = [];
  async function run(): Promise<void> {
    for (let isWoken = true; !sleep.stopped; ) {
      await turn();
      const isWanted = (await polls.isWanted()) || !isWoken;
      isWoken = await polls.next(isWanted ? await poll() : 0, neverMs);
    }
  }
  async function poll(): Promise<number> {
    world.polled++;
    const endPoll = polls.begin(world.room.whole);
    for (let turns = 0; turns < world.pollTakes; turns++) await turn();
    if (!world.room.any || world.queue === 0) {
      endPoll();
      return 0;
    }
    world.queue--;
    polls.wake();
    endPoll();
    await new Promise<void>((done) => underWay.push(done));
    return 1;
  }
  const ended = Promise.all([run(), run()]);
  const settled = async () => {
    for (let turns = 0; turns < 50; turns++) await turn();
  };
  return {
    world,
    wake: polls.wake,
    underWay: () => underWay.length,
    settled,
    finish: () => underWay.shift()?.(),
    /** This many batches come at once. */
    arrive: (batches: number) => () => {
      world.queue = batches;
      polls.wake();
    },
    async pollsOf(act: () => void): Promise<number> {
      await settled();
      const before = world.polled;
      act();
      await settled();
      return world.polled - before;
    },
    async stop(): Promise<void> {
      sleep.stop();
      for (const finish of underWay.splice(0)) finish();
      await ended;
    },
  };
}

test('a wake without a text leads to one poll, and so do several wakes in one turn', async () => {
  const { wake, pollsOf, stop } = createLoops();
  assert.equal(await pollsOf(wake), 1);
  assert.equal(await pollsOf(() => [wake(), wake(), wake()]), 1);
  await stop();
});

test('a text leads to one more poll: the other loop polls while the carrier has it, and none polls after it', async () => {
  const { arrive, pollsOf, finish, stop } = createLoops();
  assert.equal(await pollsOf(arrive(1)), 2);
  assert.equal(await pollsOf(finish), 0);
  assert.equal(await pollsOf(arrive(1)), 2, 'the next one');
  await stop();
});

test('two batches are under way while there are texts, and the loop that finishes one takes the next', async () => {
  const { world, arrive, pollsOf, underWay, finish, stop } = createLoops();
  assert.equal(await pollsOf(arrive(5)), 2);
  assert.equal(underWay(), 2);
  for (let left = 3; left > 0; left--) assert.equal(await pollsOf(finish), 1);
  assert.deepEqual([world.queue, underWay()], [0, 2]);
  assert.equal(await pollsOf(finish), 1, 'the last batch may have left some');
  assert.equal(await pollsOf(finish), 0);
  await stop();
});

test('a loop that finishes a batch while the other one polls waits for the result of that poll', async () => {
  for (const more of [0, 1]) {
    const { world, arrive, pollsOf, underWay, finish, stop } = createLoops();
    await pollsOf(() => {});
    world.pollTakes = 5;
    const polled = await pollsOf(async () => {
      arrive(1 + more)();
      while (underWay() === 0) await turn();
      finish();
    });
    // One poll takes the first batch, and a second one follows it. If that finds another batch, a third one follows.
    assert.deepEqual([polled, underWay()], [2 + more, more]);
    await stop();
  }
});

test('a wake while both are busy is not lost', async () => {
  const { world, arrive, pollsOf, finish, stop } = createLoops();
  assert.equal(await pollsOf(arrive(2)), 2);
  assert.equal(await pollsOf(arrive(1)), 0);
  assert.equal(await pollsOf(finish), 1);
  assert.equal(world.queue, 0);
  await stop();
});

test('after a poll that had no room, or room for one lane only, the loop that finishes a batch polls again', async () => {
  for (const any of [false, true]) {
    const { world, wake, arrive, pollsOf, finish, stop } = createLoops();
    await pollsOf(arrive(1));
    // Until here the poll that follows a batch has read the whole queue. The next poll does not.
    world.room = { whole: false, any };
    assert.equal(await pollsOf(wake), 1);
    assert.equal(await pollsOf(finish), 1);
    assert.equal(await pollsOf(() => {}), 0, 'it polls once only');
    await stop();
  }
});
