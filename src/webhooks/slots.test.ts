import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Lane } from './pace.ts';
import { type CallLine, createCallSlots } from './slots.ts';

function createWorld(most: number) {
  let nowMs = 0;
  const slots = createCallSlots({ steadyMs: () => nowMs }, most);
  const order: string[] = [];
  const under: { name: string; free: () => void }[] = [];

  /** An endpoint with this number of calls to make. */
  function line(account: string, name: string, calls: number, lane: Lane): CallLine & { lane: Lane } {
    const own = {
      account,
      endpoint: name,
      lane,
      begin(free: () => void) {
        order.push(name);
        under.push({ name, free });
        return --calls > 0;
      },
      noteAge() {
        own.lane = 'slow';
      },
    };
    slots.join(own);
    return own;
  }
  return {
    slots,
    order,
    line,
    pass(ms: number) {
      nowMs += ms;
      slots.watch();
    },
    /** The oldest call of the endpoint ends. */
    end(name: string) {
      const [ended] = under.splice(
        under.findIndex((each) => each.name === name),
        1,
      );
      ended?.free();
    },
    count: (name: string) => under.filter((each) => each.name === name).length,
  };
}

test('a call that takes more than a second no longer takes a slot from quick endpoints, and its endpoint is slow at once', () => {
  const { line, pass, order, count } = createWorld(4);
  line('a', 'trusted', 100, 'quick');
  assert.equal(count('trusted'), 4, 'alone it has all');
  line('b', 'honest', 1, 'quick');
  assert.equal(count('honest'), 0);
  pass(1000);
  assert.equal(count('honest'), 0, 'a second is quick');
  pass(1);
  assert.equal(order.at(-1), 'honest');
  assert.equal(count('trusted'), 4, 'it is slow now, and has more than the half of the slow ones');
});

test('those that wait begin in turns when a call ends', () => {
  const { line, end, order } = createWorld(2);
  for (const name of ['a1', 'a2']) line('a', name, 2, 'quick');
  line('b', 'b1', 2, 'quick');
  assert.deepEqual(order, ['a1', 'a1']);
  for (const name of ['a1', 'a1', 'b1', 'a2']) end(name);
  assert.deepEqual(order, ['a1', 'a1', 'b1', 'a2', 'b1', 'a2']);
});

test('an endpoint that leaves the line begins no call', () => {
  const { slots, line, end, order } = createWorld(1);
  line('a', 'a1', 2, 'quick');
  const gone = line('b', 'b1', 1, 'quick');
  slots.leave(gone);
  end('a1');
  assert.deepEqual(order, ['a1', 'a1']);
});
