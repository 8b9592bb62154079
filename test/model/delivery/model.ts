import { type Explored, explore } from '../explore.ts';
import { canonical } from './canonical.ts';
import { brokenIn } from './invariants.ts';
import {
  callerSteps,
  choreSteps,
  dropSteps,
  moverSteps,
  nodeSteps,
  pauseSteps,
  receiptSteps,
  tickSteps,
} from './other-steps.ts';
import { answerSteps, connectionSteps, lateSteps, submitSteps } from './sender-steps.ts';
import { initialState, type ModelStep, type Settings, type State } from './state.ts';
import { entriesOf, isUnsent } from './tables.ts';
import { lastTickOf } from './texts.ts';
import { claimSteps, giveBackSteps, readSteps, recordSteps, workersOf } from './worker-steps.ts';

/** Everything that can happen next. */
export function stepsOf(settings: Settings, state: State): ModelStep[] {
  if (isEnd(settings, state)) return [];
  const steps = workersOf(state).flatMap((at) => [
    ...claimSteps(settings, state, at),
    ...giveBackSteps(settings, state, at),
    ...readSteps(settings, state, at),
    ...submitSteps(settings, state, at),
    ...answerSteps(settings, state, at),
    ...lateSteps(settings, state, at),
    ...connectionSteps(settings, state, at),
    ...recordSteps(settings, state, at),
  ]);
  return [
    ...steps,
    ...choreSteps(settings, state),
    ...nodeSteps(settings, state),
    ...pauseSteps(settings, state),
    ...moverSteps(settings, state),
    ...callerSteps(state),
    ...receiptSteps(settings, state),
    ...dropSteps(settings, state),
    ...tickSteps(settings, state),
  ];
}

/** Time is over, or nothing can change any text. */
function isEnd(settings: Settings, state: State): boolean {
  if (state.tick >= lastTickOf(settings)) return true;
  const { tables, nodes } = state;
  if (
    nodes.some(({ workers }) =>
      workers.some(({ phase, late, queue }) => phase !== 'idle' || late.length + queue.length > 0),
    )
  )
    return false;
  return tables.messages.every(
    ({ name, status }) =>
      !isUnsent(status) && entriesOf(tables, name).length === 0 && !(status === 'sent' && mayReport(settings, state)),
  );
}

const mayReport = ({ mostReceipts }: Settings, { receipts, tables }: State) =>
  receipts < mostReceipts || tables.unmatched.length > 0;

/** Tries every order of steps within the bounds of the settings. */
export function exploreDelivery(settings: Settings, mostStates?: number): Explored {
  return explore({
    initial: [initialState(settings)],
    steps: (state) => stepsOf(settings, state),
    canonical: (state) => canonical(state, mayReport(settings, state)),
    invariants: (state) => brokenIn(settings, state),
    isEnd: (state) => isEnd(settings, state),
    ...(mostStates !== undefined && { mostStates }),
  });
}
