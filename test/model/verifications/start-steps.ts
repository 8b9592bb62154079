import { createGuard } from '../../../src/verify/guard.ts';
import { guardFactsOf } from '../../../src/verify/start/decision.ts';
import { type Continuation, continuation, triesFor, type Verification } from '../../../src/verify/verification.ts';
import type { Step } from '../explore.ts';
import { lateRepeatTicks, lifeTicks, newVer, resendTicks, type Start, type State, type Ver } from './state.ts';

const guard = createGuard({}, 'sandbox');
const number = '+447700900123';

/** Whether a transaction of a start holds the verification, so that others wait for it. */
export function isHeld(state: State, ver: number): boolean {
  return state.starts.some(({ found }, start) => found === ver && isHeldBy(state, start));
}

function isHeldBy({ starts }: State, start: number): boolean {
  const stage = starts[start]?.stage;
  return stage === 'locked' || stage === 'counted';
}

export function failuresToday({ vers, failuresBefore }: State): number {
  return vers.reduce((sum, { attempts }) => sum + attempts, failuresBefore);
}

const pendingOf = ({ vers }: State) => vers.findIndex(({ status }) => status === 'pending');

/** `createStartBatch`: one statement where the number is free, else a transaction. */
export function startSteps(state: State, index: number): Step<State>[] {
  const start = state.starts[index] as Start;
  const put = (to: Partial<Start>, from: State = state): State => ({
    ...from,
    starts: from.starts.with(index, { ...start, ...to }),
  });
  const named = (name: string) => `start ${index} ${name}`;
  const pending = pendingOf(state);
  switch (start.stage) {
    case 'waits':
      return state.countsStarts
        ? [{ name: named('begins'), next: put({ stage: 'held', at: state.now }) }]
        : startFree(state, index);
    case 'held': {
      // `lockNames`.
      const waits =
        state.locksNumber && state.starts.some(({ stage }) => ['selected', 'locked', 'counted'].includes(stage));
      const found = pending < 0 ? undefined : pending;
      return waits ? [] : [{ name: named('selectPending'), next: put({ stage: 'selected', found }) }];
    }
    case 'selected':
      return lockPending(state, index);
    case 'locked':
      return [
        { name: named('countStarts'), next: put({ stage: 'counted', failures: failuresToday(state), at: state.now }) },
      ];
    case 'counted':
      return commit(state, index, decided(state, index));
    case 'done':
      return [];
  }
}

/** `startFree`: the number has no pending verification, and no wrong codes of the day. */
function startFree(state: State, index: number): Step<State>[] {
  // A transaction that has expired the pending one has not committed yet: the insert waits for it.
  const isBeingFreed = state.starts.some(
    ({ found, isOpen }, held) => found !== undefined && !isOpen && isHeldBy(state, held),
  );
  if (isBeingFreed) return [];
  const start = state.starts[index] as Start;
  const put = (to: Partial<Start>, from: State = state): State => ({
    ...from,
    starts: from.starts.with(index, { ...start, ...to }),
  });
  const failures =
    state.failuresBefore +
    state.vers.reduce((sum, { status, attempts }) => sum + (status === 'pending' ? 0 : attempts), 0);
  if (pendingOf(state) >= 0 || failures > 0)
    return [{ name: `start ${index} startFree changes nothing`, next: put({ stage: 'held', at: state.now }) }];
  return answers(
    state,
    index,
    { ...state, vers: [...state.vers, started({ ...start, at: state.now }, index, 0)] },
    'startFree',
  );
}

/** `lockPending`: waits for a transaction that holds the row; one that has ended meanwhile is none. */
function lockPending(state: State, index: number): Step<State>[] {
  const start = state.starts[index] as Start;
  const put = (to: Partial<Start>): State => ({ ...state, starts: state.starts.with(index, { ...start, ...to }) });
  if (start.found === undefined) return [{ name: `start ${index} finds none`, next: put({ stage: 'locked' }) }];
  if (isHeld(state, start.found)) return [];
  const ver = state.vers[start.found] as Ver;
  const next =
    ver.status === 'pending'
      ? put({ stage: 'locked', isOpen: ver.expiresAt > start.at })
      : put({ stage: 'locked', found: undefined, isOpen: false });
  return [{ name: `start ${index} lockPending`, next }];
}

/** `decideStart` and what `write` makes of it; undefined if the key `verification_pending` refuses it. */
function decided(state: State, index: number): State | undefined {
  const start = state.starts[index] as Start;
  const { found, isOpen, failures, at } = start;
  // `expireLapsed`, of the same transaction.
  const vers =
    found === undefined || isOpen ? state.vers : state.vers.with(found, ended(state.vers[found] as Ver, 'expired'));
  const open = isOpen && found !== undefined ? (vers[found] as Ver) : undefined;
  if (open === undefined || found === undefined) return begun({ ...state, vers }, index, failures);
  if (open.startedBy === index) return { ...state, vers };
  switch (continuationOf(state, open, start)) {
    case 'leave':
      return { ...state, vers };
    case 'send_again':
      return {
        ...state,
        vers: vers.with(found, { ...open, sends: open.sends + 1, texts: open.texts + 1, resendAt: at + resendTicks }),
      };
    case 'supersede': {
      const left = open.maxAttempts - open.attempts;
      const over = { ...ended(open, 'canceled'), textsCanceled: true, supersededAt: at };
      const refused = refusal(failures);
      return refused
        ? begun({ ...state, vers }, index, failures)
        : begun({ ...state, vers: vers.with(found, over) }, index, failures, left);
    }
  }
}

/** `isSameCode`, and `findSuperseded` for a late repeat of a caller's code. */
function continuationOf({ vers }: State, open: Ver, { code, length, at }: Start): Continuation {
  const isSameCode = open.code === code && open.length === length;
  const found = continuation(asVerification(open), { isSameCode, isNewWay: false }, at);
  const isLate = (ver: Ver) =>
    ver.code === code &&
    ver.length === length &&
    ver.supersededAt !== undefined &&
    ver.supersededAt > at - lateRepeatTicks;
  return found === 'supersede' && code !== 0 && vers.some(isLate) ? 'leave' : found;
}

/** `startNew` and `insertStarts`. */
function begun(state: State, index: number, failures: number, inherited?: number): State | undefined {
  if (refusal(failures)) {
    const blocked: Ver = {
      ...started(state.starts[index] as Start, index, failures),
      code: 0,
      status: 'blocked',
      maxAttempts: 0,
      sends: 0,
      texts: 0,
      resendAt: null,
      events: 1,
    };
    return { ...state, vers: [...state.vers, blocked] };
  }
  if (pendingOf(state) >= 0) return undefined;
  return { ...state, vers: [...state.vers, started(state.starts[index] as Start, index, failures, inherited)] };
}

function started({ length, code, at }: Start, index: number, failures: number, inherited?: number): Ver {
  return {
    ...newVer,
    length,
    code,
    startedBy: index,
    inherited,
    maxAttempts: triesFor(failures, inherited),
    resendAt: at + resendTicks,
    expiresAt: at + lifeTicks,
  };
}

function refusal(failures: number): boolean {
  const counts = { startsForNumber: 0, startsForPrefix: 0, failuresToday: failures };
  return guard.refusal(guardFactsOf(number, counts, () => undefined)) !== null;
}

/** `endings`. */
export function ended(ver: Ver, status: Ver['status']): Ver {
  return { ...ver, status, events: ver.events + 1 };
}

/** The transaction commits, or the key refuses it and the service submits it once more. */
function commit(state: State, index: number, next: State | undefined): Step<State>[] {
  if (next !== undefined) return answers(state, index, next, 'commits');
  const start = state.starts[index] as Start;
  const again = {
    ...start,
    stage: start.refusals > 0 ? 'waits' : 'done',
    found: undefined,
    isOpen: false,
    failures: 0,
    at: 0,
    refusals: start.refusals - 1,
  } as const;
  return [
    {
      name: `start ${index} is refused: another has taken the number`,
      next: { ...state, starts: state.starts.with(index, again) },
    },
  ];
}

/** The answer comes, or it is lost and the batch runs again. */
function answers(state: State, index: number, next: State, name: string): Step<State>[] {
  const start = state.starts[index] as Start;
  const over = { ...start, found: undefined, isOpen: false, failures: 0, at: 0 };
  const to = (put: Start): State => ({ ...next, starts: next.starts.with(index, put) });
  const arrives = { name: `start ${index} ${name}`, next: to({ ...over, stage: 'done' }) };
  if (start.losses === 0) return [arrives];
  return [
    arrives,
    {
      name: `start ${index} ${name}, and its answer is lost`,
      next: to({ ...over, stage: 'waits', losses: start.losses - 1 }),
    },
  ];
}

/** The input of the pure rules. */
function asVerification(ver: Ver): Verification {
  return {
    codeLength: ver.length,
    channel: 'sms',
    sends: ver.sends,
    resendAvailableAtMs: ver.resendAt,
  } as Verification;
}
