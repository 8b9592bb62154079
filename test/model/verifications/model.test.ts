// Every order of starts, checks, cancellations and expiry of one number on several nodes, within bounds.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { inShort } from '../../support/effort.ts';
import { tellFigure } from '../../support/figures.ts';
import { type Explored, explore } from '../explore.ts';
import { steps } from './model.ts';
import { type Bounds, brokenPromise, canonical, firstState } from './state.ts';

const wrong = { isRight: false };
const right = { isRight: true };

const inBoth: Record<string, Bounds> = {
  'starts of two lengths, checks and a lost answer': {
    starts: [{ length: 6, losses: 1 }, { length: 8 }],
    checks: [wrong, { ...right, target: 1 }],
    cancels: [0],
    ticks: inShort(2, 3),
  },
  'wrong and right codes at once, with a try or two left': {
    vers: [{ attempts: 3 }],
    checks: [{ ...wrong, losses: 1 }, wrong, right, { ...wrong, hasKey: true, losses: 1 }],
    cancels: [0],
    ticks: 2,
  },
  'a start while codes are checked': {
    vers: [{ attempts: 3 }],
    starts: [{ length: 8 }],
    checks: [wrong, { ...right, hasKey: true, losses: 1 }, { ...wrong, target: 1 }],
    ticks: 2,
  },
  'two codes of the caller, and a late repeat': {
    starts: [
      { length: 6, code: 1, losses: 1 },
      { length: 6, code: 2 },
      { length: 6, code: 1 },
    ],
    checks: [{ ...right, target: 1 }],
    ticks: 1,
  },
  'a code of the caller and one of ours': {
    starts: [{ length: 6, code: 1, losses: 1 }, { length: 6 }],
    checks: [wrong, { ...right, target: 1 }],
    ticks: inShort(1, 3),
  },
  "the caller's codes while others are checked": {
    vers: [{ attempts: 3, code: 1 }],
    starts: [{ length: 6, code: 2 }],
    checks: [{ ...wrong, losses: 1 }, right, { ...wrong, target: 1 }],
    ticks: 2,
  },
  'the last of the sends': {
    vers: [{ sends: 4, texts: 4 }],
    starts: [{ length: 6, losses: 1 }, { length: 6 }],
    checks: [wrong],
    ticks: inShort(2, 3),
  },
  'the last of fifteen wrong codes a day': {
    failuresBefore: 14,
    starts: [{ length: 6 }, { length: 8 }],
    checks: [wrong, { ...wrong, target: 1 }],
    ticks: 1,
  },
};

const inLong: Record<string, Bounds> = {
  'three starts of two lengths': {
    starts: [{ length: 6, losses: 1 }, { length: 8 }, { length: 6 }],
    checks: [wrong, { ...right, target: 1 }],
    cancels: [0],
    ticks: 3,
  },
  'five codes at once and a start': {
    vers: [{ attempts: 3 }],
    starts: [{ length: 8 }],
    checks: [
      ...[{ ...wrong, losses: 1 }, wrong, right],
      ...[
        { ...wrong, hasKey: true, losses: 1 },
        { ...right, hasKey: true, losses: 1 },
      ],
    ],
    cancels: [0],
    ticks: 2,
  },
  'three starts near the last of fifteen wrong codes': {
    failuresBefore: 10,
    vers: [{ attempts: 3 }],
    starts: [{ length: 6 }, { length: 8 }, { length: 6 }],
    checks: [wrong, wrong, { ...wrong, target: 1 }, { ...wrong, target: 1 }, { ...wrong, target: 2 }],
    ticks: 2,
  },
};

function tryAll(bounds: Bounds): Explored {
  return explore({ initial: [firstState(bounds)], steps, canonical, invariants: brokenPromise });
}

describe('verifications keep the promises of the contract in every order', () => {
  for (const [name, bounds] of Object.entries(inShort(inBoth, { ...inBoth, ...inLong }))) {
    for (const countsStarts of [true, false]) {
      const where = countsStarts ? 'where the guard counts starts' : 'where it does not';
      test(`${name}, ${where}`, () => {
        const { states, depth, violation } = tryAll({ ...bounds, countsStarts });
        assert.equal(violation, undefined, violation && `${violation.message}\n${violation.run.join('\n')}`);
        tellFigure(`verifications, ${name}, ${where}: ${states} states, runs of up to ${depth} steps`);
      });
    }
  }
});

test('the model finds what was wrong: two starts that have counted the same wrong codes', () => {
  const bounds = inBoth['the last of fifteen wrong codes a day'] ?? {};
  assert.deepEqual(tryAll({ ...bounds, countsStarts: false, locksNumber: false }).violation, {
    message: '16 wrong codes in a day',
    run: [
      'start 0 startFree changes nothing',
      'start 0 selectPending',
      'start 0 finds none',
      'start 0 countStarts',
      'start 1 startFree changes nothing',
      'start 1 selectPending',
      'start 0 commits',
      'start 1 finds none',
      'start 1 countStarts',
      'check 0 spendTries changes nothing',
      'check 0 decideChecks fails it',
      'start 1 commits',
      'check 1 spendTries changes nothing',
      'check 1 decideChecks fails it',
    ],
  });
});
