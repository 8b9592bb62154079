import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createProcessCalls, type ProcessCalls } from '../../platform/processes/calls.ts';
import { createParentPlaces, createStreamPlaces, keepPlaces, mostStreams } from './stream-places.ts';

/** A parent and its web processes, whose messages are delivered when the test wants. */
function createNode() {
  const places = createStreamPlaces();
  const held: (() => void)[] = [];
  let isHolding = false;
  const deliver = (act: () => void) => (isHolding ? held.push(act) : queueMicrotask(act));

  function start() {
    const keeper = keepPlaces(places);
    let parent: ProcessCalls | undefined;
    const child = createProcessCalls((message) => deliver(() => parent?.receive(message)), {});
    const handlers = { takePlace: keeper.take, leavePlace: keeper.leave };
    parent = createProcessCalls((message) => child.receive(message), handlers);
    return { places: createParentPlaces(child), kill: keeper.end };
  }
  return {
    start,
    hold() {
      isHolding = true;
    },
    release() {
      isHolding = false;
      for (const act of held.splice(0)) act();
    },
  };
}

test('an application has five places of each kind in all processes together', async () => {
  const node = createNode();
  const [one, other] = [node.start(), node.start()];
  const taken = await Promise.all(
    Array.from({ length: 20 }, (_, index) => (index % 2 ? one : other).places.take('events', 'app_1')),
  );
  assert.equal(taken.filter((leave) => leave !== undefined).length, mostStreams);
  assert.notEqual(await one.places.take('inbox', 'app_1'), undefined);
  assert.notEqual(await one.places.take('events', 'app_2'), undefined);
  // Calling `leave` twice frees one place only.
  const leave = taken.find((each) => each !== undefined);
  leave?.();
  leave?.();
  assert.notEqual(await other.places.take('events', 'app_1'), undefined);
  assert.equal(await other.places.take('events', 'app_1'), undefined);
});

test('what a process held when it was killed is free again', async () => {
  const node = createNode();
  const [one, other] = [node.start(), node.start()];
  for (let place = 0; place < mostStreams; place++) await one.places.take('events', 'app_1');
  assert.equal(await other.places.take('events', 'app_1'), undefined);
  one.kill();
  for (let place = 0; place < mostStreams; place++)
    assert.notEqual(await other.places.take('events', 'app_1'), undefined);
});

test('a place that the parent gives too late is given back', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const node = createNode();
  const one = node.start();
  node.hold();
  const late = one.places.take('events', 'app_1');
  t.mock.timers.tick(2001);
  await assert.rejects(late, { code: 'UNAVAILABLE' });
  node.release();
  const again = await Promise.all(Array.from({ length: mostStreams }, () => one.places.take('events', 'app_1')));
  assert.ok(again.every((leave) => leave !== undefined));
});
