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

const all: Record<string, Bounds> = {
  'starts of two lengths, checks and a lost answer': {
    starts: [{ length: 6, losses: 1 }, { length: 8 }, { length: 6 }],
    checks: [wrong, { ...right, target: 1 }],
    cancels: [0],
    ticks: 3,
  },
  'wrong and right codes at once, with a try or two left': {
    vers: [{ attempts: 3 }],
    starts: [{ length: 8 }],
    checks: [
      { ...wrong, losses: 1 },
      wrong,
      right,
      { ...wrong, hasKey: true, losses: 1 },
      { ...right, hasKey: true, losses: 1 },
    ],
    cancels: [0],
    ticks: 2,
  },
  'the last of the sends': {
    vers: [{ sends: 4, texts: 4 }],
    starts: [{ length: 6, losses: 1 }, { length: 6 }],
    checks: [wrong],
    ticks: 3,
  },
  'the last of fifteen wrong codes a day': {
    failuresBefore: 10,
    vers: [{ attempts: 3 }],
    starts: [{ length: 6 }, { length: 8 }],
    checks: [wrong, wrong, { ...wrong, target: 1 }, { ...wrong, target: 1 }],
    ticks: 2,
  },
};

function tryAll(bounds: Bounds): Explored {
  return explore({ initial: [firstState(bounds)], steps, canonical, invariants: brokenPromise });
}

describe('verifications keep the promises of the contract in every order', () => {
  for (const locksNumber of [true, false]) {
    for (const [name, bounds] of Object.entries(all)) {
      test(`${name}, ${locksNumber ? 'where the guard counts starts' : 'where it does not'}`, () => {
        const { states, depth, violation } = tryAll({ ...bounds, locksNumber });
        assert.equal(violation, undefined, violation && `${violation.message}\n${violation.run.join('\n')}`);
        tellFigure(`verifications, ${name}: ${states} states, runs of up to ${depth} steps`);
      });
    }
  }
});
void inShort;
