// Every order of what writers, readers and Postgres do, within bounds: no reader skips an event.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { inShort } from '../../support/effort.ts';
import { tellFigure } from '../../support/figures.ts';
import { explore } from '../explore.ts';
import { type Bounds, canonical, firstState, type Rules, rules, stepsOf } from './model.ts';
import { withoutLock, withoutLog } from './old-rules.ts';

const one: Bounds = {
  changes: [0, 1],
  nodes: 1,
  readers: ['oldest'],
  day: false,
  left: { crashes: 1, checkpoints: 0, writes: 0 },
};

function tryAll(bounds: Bounds, by: Rules = rules) {
  return explore({
    initial: [firstState(bounds)],
    steps: stepsOf(by),
    canonical,
    invariants: by.invariants,
    mostStates: Number(process.env.MOST ?? 150_000),
  });
}

describe('the horizon of events', () => {
  const all: Record<string, Bounds> = {
    'two changes': { ...one },
    'two changes w': { ...one, left: { crashes: 1, checkpoints: 1, writes: 1 } },
    'two nodes': { ...one, nodes: 2, left: { crashes: 1, checkpoints: 0, writes: 0 } },
    now: { ...one, readers: ['oldest', 'now'], left: { crashes: 1, checkpoints: 0, writes: 0 } },
    day: { ...one, day: true, changes: [0, 1], left: { crashes: 1, checkpoints: 0, writes: 0 } },
    'three changes': { ...one, changes: [0, 0, 1] },
  };
  for (const [name, bounds] of Object.entries(all)) {
    test(`${name}: nobody skips an event, whatever crashes`, () => {
      const t0 = performance.now();
      const { states, depth, violation } = tryAll(bounds);
      assert.equal(violation, undefined, JSON.stringify(violation, null, 1));
      tellFigure(
        `events, ${name}: ${states} states, runs of up to ${depth} steps ${Math.round(performance.now() - t0)}`,
      );
    });
  }
});

describe('the model finds what was wrong', () => {
  test('a position that a crash takes back and that is given out again', () => {
    const { violation } = tryAll(one, withoutLog);
    console.log(violation);
  });
  test('a look', () => {
    const { violation } = tryAll({ ...one, left: { crashes: 0, checkpoints: 0, writes: 0 } }, withoutLock);
    console.log(violation);
  });
  test('a look', () => {
    const { violation } = tryAll({ ...one, left: { crashes: 0, checkpoints: 0, writes: 0 } }, withoutLog);
    console.log(violation);
  });
});
