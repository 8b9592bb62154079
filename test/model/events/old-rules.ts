// How the horizon was before the model, so that the model goes on finding what was wrong with it.
import type { learn } from '../../../src/events/horizon-rule.ts';
import { brokenOnly } from './model.ts';
import type { Rules } from './state.ts';

/** Knew nothing of the log. */
const learnWithoutLog: typeof learn = ({ safe, earlier }, made) => {
  const hasEnded = earlier !== undefined && [...earlier.writers].every((writer) => !made.writers.has(writer));
  if (made.writers.size === 0) return { safe: Math.max(safe, made.last), earlier: undefined, lacksLog: false };
  if (earlier === undefined) return { safe, earlier: made, lacksLog: false };
  if (!hasEnded) return { safe, earlier, lacksLog: false };
  return { safe: Math.max(safe, earlier.last), earlier: made, lacksLog: false };
};

/** Positions that a crash takes back are given out again. */
export const withoutLog: Rules = { learn: learnWithoutLog, readsUnderLock: true, invariants: brokenOnly };

/** Reads `last_value` as any other table, without the lock that `nextval` holds. */
export const withoutLock: Rules = { learn: learnWithoutLog, readsUnderLock: false, invariants: brokenOnly };
