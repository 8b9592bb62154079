import { learn } from '../../../src/events/horizon-rule.ts';
import type { Step } from '../explore.ts';
import { pollSteps, readerSteps } from './reader-steps.ts';
import type { Rules, State } from './state.ts';
import { changeSteps, daySteps, postgresSteps } from './writer-steps.ts';

/** As the code is. */
export const rules: Rules = { learn, readsUnderLock: true, invariants: brokenOrAhead };

export function stepsOf({ learn, readsUnderLock }: Rules): (state: State) => Step<State>[] {
  return (state) =>
    state.broken === undefined
      ? [
          ...state.changes.flatMap((_, index) => changeSteps(state, index, readsUnderLock)),
          ...daySteps(state),
          ...postgresSteps(state),
          ...state.nodes.flatMap((_, index) => pollSteps(state, index, { learn, readsUnderLock })),
          ...state.readers.flatMap((_, index) => readerSteps(state, index)),
        ]
      : [];
}

/** What is skipped, twice or out of order. */
export function brokenOnly({ broken }: State): string | undefined {
  return broken;
}

/** Also a cursor that a node would refuse, because no such position was ever given out. */
export function brokenOrAhead({ broken, pg, readers }: State): string | undefined {
  const ahead = readers.findIndex(({ cursor }) => cursor !== undefined && cursor > pg.last);
  return broken ?? (ahead < 0 ? undefined : `the cursor of reader ${ahead + 1} is ahead of every position`);
}
