import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createWakeableSleep } from '../../platform/work/wakeable-sleep.ts';
import { createQueueLooks } from './polls.ts';

const neverMs = 100_000;
const turn = () => new Promise<void>((done) => setImmediate(done));

/** Two loops over a queue of batches. A batch is under way until `finish` is called; `room` is what a look can see. */
function createLoops(room = { whole: true, any: true }) {
  const sleep = createWakeableSleep();
  const looks = createQueueLooks(sleep);
  const world = { queue: 0, looked: 0, room, lookTakes: 0 };
  const underWay: (() => void)[] = [];
  async function run(): Promise<void> {
    for (let isWoken = true; !sleep.stopped; ) {
      await turn();
      const isWanted = (await looks.isWanted()) || !isWoken;
      isWoken = await looks.next(isWanted ? await look() : 0, neverMs);
    }
  }
  async function look(): Promise<number> {
    world.looked++;
    const endLook = looks.begin(world.room.whole);
    for (let turns = 0; turns < world.lookTakes; turns++) await turn();
    if (!world.room.any || world.queue === 0) {
      endLook();
      return 0;
    }
    world.queue--;
    looks.wake();
    endLook();
    await new Promise<void>((done) => underWay.push(done));
    return 1;
  }
  const ended = Promise.all([run(), run()]);
  const settled = async () => {
    for (let turns = 0; turns < 50; turns++) await turn();
  };
  return {
    world,
    wake: looks.wake,
    underWay: () => underWay.length,
    settled,
    finish: () => underWay.shift()?.(),
    /** So many batches come at once. */
    arrive: (batches: number) => () => {
      world.queue = batches;
      looks.wake();
    },
    async looksOf(act: () => void): Promise<number> {
      await settled();
      const before = world.looked;
      act();
      await settled();
      return world.looked - before;
    },
    async stop(): Promise<void> {
      sleep.stop();
      for (const finish of underWay.splice(0)) finish();
      await ended;
    },
  };
}

test('a wake without a text is one look, and so are several in one turn', async () => {
  const { wake, looksOf, stop } = createLoops();
  assert.equal(await looksOf(wake), 1);
  assert.equal(await looksOf(() => [wake(), wake(), wake()]), 1);
  await stop();
});

test('a text is one look more: the other loop looks while its carrier has it, and no one looks after it', async () => {
  const { arrive, looksOf, finish, stop } = createLoops();
  assert.equal(await looksOf(arrive(1)), 2);
  assert.equal(await looksOf(finish), 0);
  assert.equal(await looksOf(arrive(1)), 2, 'the next one');
  await stop();
});

test('two batches are under way while there are texts, and whoever finishes one takes the next', async () => {
  const { world, arrive, looksOf, underWay, finish, stop } = createLoops();
  assert.equal(await looksOf(arrive(5)), 2);
  assert.equal(underWay(), 2);
  for (let left = 3; left > 0; left--) assert.equal(await looksOf(finish), 1);
  assert.deepEqual([world.queue, underWay()], [0, 2]);
  assert.equal(await looksOf(finish), 1, 'the last batch may have left some');
  assert.equal(await looksOf(finish), 0);
  await stop();
});

test('whoever finishes a batch while the other one looks waits for what that look finds', async () => {
  for (const more of [0, 1]) {
    const { world, arrive, looksOf, underWay, finish, stop } = createLoops();
    await looksOf(() => {});
    world.lookTakes = 5;
    const looked = await looksOf(async () => {
      arrive(1 + more)();
      while (underWay() === 0) await turn();
      finish();
    });
    // The first batch, the look behind it, and the look behind what that one has found.
    assert.deepEqual([looked, underWay()], [2 + more, more]);
    await stop();
  }
});

test('a wake while both are busy is not lost', async () => {
  const { world, arrive, looksOf, finish, stop } = createLoops();
  assert.equal(await looksOf(arrive(2)), 2);
  assert.equal(await looksOf(arrive(1)), 0);
  assert.equal(await looksOf(finish), 1);
  assert.equal(world.queue, 0);
  await stop();
});

test('where a look saw no room, or room for one lane only, the one who finishes a batch looks again', async () => {
  for (const any of [false, true]) {
    const { world, wake, arrive, looksOf, finish, stop } = createLoops();
    await looksOf(arrive(1));
    // The other loop's look behind the batch has seen everything; this one does not.
    world.room = { whole: false, any };
    assert.equal(await looksOf(wake), 1);
    assert.equal(await looksOf(finish), 1);
    assert.equal(await looksOf(() => {}), 0, 'it does not look for ever');
    await stop();
  }
});
