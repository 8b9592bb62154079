import { minuteMs } from '../../../src/platform/clock.ts';
import {
  lateRepeatMs,
  mostAttempts,
  mostFailuresADay,
  mostSends,
  type VerificationStatus,
} from '../../../src/verify/verification.ts';

/** A verification of the one number of the model. Times are ticks. */
export interface Ver {
  length: number;
  /** The code that the caller made; 0 for one of ours. */
  code: number;
  /** When another start superseded it. */
  supersededAt: number | undefined;
  status: VerificationStatus;
  attempts: number;
  maxAttempts: number;
  sends: number;
  resendAt: number | null;
  expiresAt: number;
  /** Texts that were written for it. */
  texts: number;
  /** Its texts that have not left yet are canceled. */
  textsCanceled: boolean;
  /** The request that started it. */
  startedBy: number;
  /** Tries that were left of the one it superseded. */
  inherited: number | undefined;
  /** How many times a statement ended it. Each writes an event. */
  events: number;
  /** How many answers said `valid: true`. */
  approvals: number;
}

/** A request to start, and how far its statements have come. */
export interface Start {
  length: number;
  /** The code that the caller made; 0 for one of ours. */
  code: number;
  /** `held`: the number is not free, so a transaction begins. The rest are its statements. */
  stage: 'waits' | 'held' | 'selected' | 'locked' | 'counted' | 'done';
  /** The pending verification it has found, by its place; `isOpen` once it is locked. */
  found: number | undefined;
  isOpen: boolean;
  failures: number;
  /** When its transaction began; once it has counted, when it decided. */
  at: number;
  /** How many times Postgres may still refuse it, or lose its answer. */
  refusals: number;
  losses: number;
}

/** A request to check a code, and how far it has come. */
export interface Check {
  target: number;
  isRight: boolean;
  hasKey: boolean;
  stage: 'waits' | 'decides' | 'done';
  /** The answer that is stored for its key. */
  isStored: boolean;
  /** How many times its answer may be lost, and the caller asks again. */
  losses: number;
  /** Tries that it has spent. */
  spent: number;
  /** How many times its statements ran. */
  runs: number;
}

export interface State {
  now: number;
  lastTick: number;
  /** Whether the guard counts starts: then none is made by one statement. */
  countsStarts: boolean;
  /** Whether transactions of starts for one number wait for one another. */
  locksNumber: boolean;
  vers: Ver[];
  starts: Start[];
  checks: Check[];
  cancels: number[];
  /** Wrong codes of the day, of verifications that are over. */
  failuresBefore: number;
}

export const resendTicks = 1;
export const lifeTicks = 2;
export const lateRepeatTicks = lateRepeatMs / minuteMs;

export interface Bounds {
  starts?: { length: number; code?: number; losses?: number }[];
  checks?: { target?: number; isRight: boolean; hasKey?: boolean; losses?: number }[];
  cancels?: number[];
  ticks?: number;
  countsStarts?: boolean;
  locksNumber?: boolean;
  failuresBefore?: number;
  /** What is there at the beginning. */
  vers?: Partial<Ver>[];
}

export const newVer: Ver = {
  length: 6,
  code: 0,
  supersededAt: undefined,
  status: 'pending',
  attempts: 0,
  maxAttempts: mostAttempts,
  sends: 1,
  resendAt: resendTicks,
  expiresAt: lifeTicks,
  texts: 1,
  textsCanceled: false,
  startedBy: -1,
  inherited: undefined,
  events: 0,
  approvals: 0,
};

export function firstState(bounds: Bounds): State {
  const { starts = [], checks = [], cancels = [], ticks = 0, vers = [], failuresBefore = 0 } = bounds;
  const { countsStarts = true, locksNumber = true } = bounds;
  return {
    now: 0,
    lastTick: ticks,
    countsStarts,
    locksNumber,
    vers: vers.map((ver) => ({ ...newVer, ...ver })),
    starts: starts.map(({ length, code = 0, losses = 0 }) => ({
      ...{ length, code, losses, stage: 'waits', found: undefined, isOpen: false, failures: 0, at: 0, refusals: 1 },
    })),
    checks: checks.map(({ target = 0, isRight, hasKey = false, losses = 0 }) => ({
      ...{ target, isRight, hasKey, losses, stage: 'waits', isStored: false, spent: 0, runs: 0 },
    })),
    cancels,
    failuresBefore,
  };
}

/** Section 6 of the contract. */
export function brokenPromise({ vers, checks, failuresBefore }: State): string | undefined {
  const isPending = vers.filter(({ status }) => status === 'pending');
  if (isPending.length > 1) return 'two verifications of a number are pending';
  let wrong = failuresBefore;
  for (const [index, ver] of vers.entries()) {
    const of = `of verification ${index}`;
    wrong += ver.attempts;
    if (ver.events !== (ver.status === 'pending' ? 0 : 1))
      return `the events ${of} are ${ver.events}: it is ${ver.status}`;
    if (ver.attempts > ver.maxAttempts || ver.maxAttempts > mostAttempts) return `the tries ${of} are too many`;
    if (ver.status === 'failed' && ver.attempts < ver.maxAttempts) return `the tries ${of} were not used up`;
    if (ver.approvals > 1) return `the code ${of} was right twice`;
    if (ver.texts !== ver.sends || ver.sends > mostSends)
      return `the texts ${of} are ${ver.texts} for ${ver.sends} sends`;
    if (ver.inherited !== undefined && ver.maxAttempts > ver.inherited) return `${index} has more tries than were left`;
  }
  if (wrong > mostFailuresADay) return `${wrong} wrong codes in a day`;
  return brokenCheck(checks);
}

/** A wrong code spends one try each time that it is decided, and with a key once. */
function brokenCheck(checks: Check[]): string | undefined {
  for (const [index, { hasKey, spent, runs, isRight }] of checks.entries()) {
    if (isRight && spent > 0) return `the right code of check ${index} spent a try`;
    if (spent > (hasKey ? 1 : runs)) return `check ${index} spent ${spent} tries in ${runs} runs`;
  }
  return undefined;
}

export function canonical({ now, vers, starts, checks, cancels, ...rest }: State): string {
  return [
    now,
    rest.failuresBefore,
    vers.map((ver) => Object.values(ver).join(' ')),
    starts.map((start) => Object.values(start).join(' ')),
    checks.map((check) => Object.values(check).join(' ')),
    cancels,
  ].join(';');
}
