/**
 * recovering: claims of a process that died go back to the queue before the worker claims any text.
 * recovery_failing: as before, and the database does not answer.
 * working: claims texts, and polls often.
 * resting: has found no text for a while, and polls less often. A wake is noticed at once.
 * failing: the last statement failed, and the worker retries soon.
 */
export type WorkerState = 'recovering' | 'recovery_failing' | 'working' | 'resting' | 'failing' | 'stopped';

/** `claimed`: a claim with texts. `empty`: a claim without. `quiet`: many polls without a text. */
export type WorkerEvent = 'released' | 'claimed' | 'empty' | 'quiet' | 'failed' | 'stopped';

/** An event that is not listed changes nothing. */
export const transitions: Record<WorkerState, Partial<Record<WorkerEvent, WorkerState>>> = {
  recovering: { released: 'working', failed: 'recovery_failing', stopped: 'stopped' },
  recovery_failing: { released: 'working', stopped: 'stopped' },
  working: { quiet: 'resting', failed: 'failing', stopped: 'stopped' },
  resting: { claimed: 'working', failed: 'failing', stopped: 'stopped' },
  failing: { claimed: 'working', empty: 'working', stopped: 'stopped' },
  stopped: {},
};

/** Conditions beside the state that keep a worker from claiming, as operators see them. */
export type ShownWorkerState = WorkerState | 'clock_wrong' | 'results_waiting';

const restsAfterPolls = 10;

export function createWorkerStates(first: 'recovering' | 'working') {
  let current: WorkerState = first;
  let pollsWithoutText = 0;

  function note(event: WorkerEvent): boolean {
    if (event === 'claimed') pollsWithoutText = 0;
    const next = transitions[current][event];
    current = next ?? current;
    return next !== undefined;
  }

  return {
    get current(): WorkerState {
      return current;
    },
    /** Returns whether the event changed the state. */
    note,
    /** Counts a poll of the schedule since the last text. */
    notePoll(): void {
      pollsWithoutText++;
      if (pollsWithoutText >= restsAfterPolls) note('quiet');
    },
  };
}

export function mayClaim(state: ShownWorkerState): boolean {
  return state === 'working' || state === 'resting' || state === 'failing';
}

export function isRecovering(state: WorkerState): boolean {
  return state === 'recovering' || state === 'recovery_failing';
}
