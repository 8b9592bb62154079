// Every order of what writers, readers and Postgres do, within bounds: no reader skips an event.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { learn } from '../../../src/events/horizon-rule.ts';
import { inShort } from '../../support/effort.ts';
import { tellFigure } from '../../support/figures.ts';
import { type Explored, explore } from '../explore.ts';
import { rules, stepsOf } from './model.ts';
import { withoutLock, withoutLog } from './old-rules.ts';
import { type Bounds, canonical, firstState, type Rules } from './state.ts';

const small: Bounds = {
  changes: [0, 1],
  nodes: 1,
  readers: ['oldest'],
  day: false,
  left: { crashes: 1, checkpoints: 0, writes: 0 },
};
const crashes = small.left;

const inBoth: Record<string, Bounds> = {
  'changes of two records': small,
  'changes of one record, and a checkpoint': { ...small, changes: [0, 0], left: { ...crashes, checkpoints: 1 } },
  'a reader that begins now': { ...small, changes: [0, 0], readers: inShort(['now'], ['oldest', 'now']) },
  'a new day': { ...small, changes: [0], day: true },
  'two nodes': { ...small, changes: [0], nodes: 2 },
};

const inLong: Record<string, Bounds> = {
  'changes of two records, a checkpoint, another writer': { ...small, left: { crashes: 1, checkpoints: 1, writes: 1 } },
  'three changes': { ...small, changes: [0, 0, 1] },
  'two crashes': { ...small, left: { ...crashes, crashes: 2 } },
  'a new day, two records': { ...small, day: true },
  'two nodes, two changes': { ...small, changes: [0, 0], nodes: 2 },
};

function tryAll(bounds: Bounds, by: Rules = rules): Explored {
  return explore({ initial: [firstState(bounds)], steps: stepsOf(by), canonical, invariants: by.invariants });
}

describe('the horizon of events: no reader skips an event, whatever crashes', () => {
  for (const [name, bounds] of Object.entries(inShort(inBoth, { ...inBoth, ...inLong }))) {
    test(name, () => {
      const { states, depth, violation } = tryAll(bounds);
      assert.equal(violation, undefined, violation && `${violation.message}\n${violation.run.join('\n')}`);
      tellFigure(`events, ${name}: ${states} states, runs of up to ${depth} steps`);
    });
  }
});

describe('the model finds what was wrong', () => {
  test('a position that a crash takes back is given out again, behind the cursor of a reader', () => {
    assert.deepEqual(tryAll(small, withoutLog).violation, {
      message: 'reader 1 skips the event at 1',
      run: [
        'change 1 of record 0 begins',
        'change 1 of record 0 takes a position',
        'change 1 of record 0 rolls back',
        'node 1 reads the newest position',
        'node 1 reads the writers and the log',
        'Postgres crashes',
        'change 2 of record 1 begins',
        'change 2 of record 1 takes a position',
        'change 2 of record 1 writes its commit',
        'reader 1 reads up to 1 at node 1',
        'change 2 of record 1 has committed',
      ],
    });
  });

  test('a poll without a lock sees a position that is given out only later', () => {
    const { violation } = tryAll({ ...small, left: { ...crashes, crashes: 0 } }, withoutLock);
    assert.deepEqual(violation, {
      message: 'reader 1 skips the event at 2',
      run: [
        'change 1 of record 0 begins',
        'change 1 of record 0 begins to take a position',
        'node 1 reads the newest position',
        'change 1 of record 0 takes a position, and logs it',
        'change 1 of record 0 rolls back',
        'node 1 reads the writers and the log',
        'change 2 of record 1 begins',
        'change 2 of record 1 takes a position',
        'change 2 of record 1 writes its commit',
        'reader 1 reads up to 2 at node 1',
        'change 2 of record 1 has committed',
      ],
    });
  });

  test('a poll from before a crash proves nothing about one after it', () => {
    const compares: Rules = { ...rules, learn: (view, made) => learn(view, { ...made, oldestConnection: '' }) };
    assert.match(tryAll(small, compares).violation?.message ?? '', /skips the event|is ahead of every position/);
  });
});
