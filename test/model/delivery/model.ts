import { type Explored, explore } from '../explore.ts';
import { canonical, isOver } from './canonical.ts';
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
import { messageIn } from './tables.ts';
import { lastTickOf, textNames } from './texts.ts';
import { type At, claimSteps, giveBackSteps, readSteps, recordSteps, workersOf } from './worker-steps.ts';

/** Everything that can happen next. With `isLazy` one order stands for orders of steps that have nothing to do with each other. */
export function stepsOf(settings: Settings, state: State, isLazy = false): ModelStep[] {
  if (isEnd(settings, state)) return [];
  return [
    ...workersOf(state).flatMap((at) => workerSteps(settings, state, at)),
    ...choreSteps(settings, state),
    ...nodeSteps(settings, state),
    ...pauseSteps(settings, state),
    ...moverSteps(settings, state),
    ...callerSteps(state, isLazy && !mayReport(settings, state)),
    ...receiptSteps(settings, state),
    ...dropSteps(settings, state),
    ...tickSteps(settings, state),
  ];
}

/** The steps of one worker: nothing else of its node is read for them. */
export const workerSteps = (settings: Settings, state: State, at: At): ModelStep[] => [
  ...storeSteps(settings, state, at),
  ...wireSteps(settings, state, at),
];

/** Statements of a worker, and what follows from rows that it reads. */
export function storeSteps(settings: Settings, state: State, at: At): ModelStep[] {
  return [
    ...claimSteps(settings, state, at),
    ...giveBackSteps(settings, state, at),
    ...readSteps(settings, state, at),
    ...lateSteps(settings, state, at),
    ...recordSteps(settings, state, at),
  ];
}

/** Between a worker and its carrier: of the tables, they read only which texts its claim has. */
export function wireSteps(settings: Settings, state: State, at: At): ModelStep[] {
  return [
    ...submitSteps(settings, state, at),
    ...answerSteps(settings, state, at),
    ...connectionSteps(settings, state, at),
  ];
}

/** Time is over, or nothing can change any text. */
function isEnd(settings: Settings, state: State): boolean {
  if (state.tick >= lastTickOf(settings)) return true;
  return textNames.every((name) => {
    const isAwaited = messageIn(state.tables, name)?.status === 'sent' && mayReport(settings, state);
    return !isAwaited && isOver(state, name);
  });
}

export const mayReport = ({ mostReceipts }: Settings, { receipts, tables }: State) =>
  receipts < mostReceipts || tables.unmatched.length > 0;

/** Tries every order of steps within the bounds of the settings. */
export function exploreDelivery(settings: Settings, mostStates?: number): Explored {
  return explore({
    initial: [initialState(settings)],
    steps: (state) => stepsOf(settings, state, true),
    canonical: (state) => canonical(state, mayReport(settings, state)),
    invariants: (state) => brokenIn(settings, state),
    isEnd: (state) => isEnd(settings, state),
    ...(mostStates !== undefined && { mostStates }),
  });
}
