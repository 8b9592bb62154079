// Tests: test/smpp/bind-supervisor.test.ts
import { minuteMs } from '../../platform/clock.ts';
import { isAccountRefusal, mayBeOldSession } from '../../smpp/bind-refusals.ts';
import { statuses } from '../../smpp/pdu.ts';
import type { CloseReason } from '../../smpp/session-types.ts';

const shortestMs = 1000;
const longestMs = minuteMs;
const longestRefusedMs = 15 * minuteMs;
/**
 * Some carriers drop a caller that connects more often than three times a minute, so shorter sessions do not reset the
 * waits.
 */
const steadyAfterMs = minuteMs;
/** A carrier may count a session for some seconds after its unbind. */
const afterUnbind = { tries: 5, fromMs: 1000, toMs: 2000 };
const orderlyEnds: readonly CloseReason['kind'][] = ['peer_unbind', 'unwritten', 'stopped'];

/** The wait before the next attempt to bind. */
export interface BackOff {
  /** A session has ended after it was bound for `boundMs`; undefined if it never was. */
  after(reason: CloseReason, boundMs: number | undefined): Wait;
  /** The waits start again from the shortest: an operator wants an attempt at once. */
  reset(justUnbound: boolean): void;
}

export interface Wait {
  waitMs: number;
  /** The refusal will pass: the carrier still counts our own session, which was just unbound. */
  isPassing: boolean;
}

/** `justUnbound`: the account's session was ours a moment ago, here or on another node. */
export function createBackOff(random: () => number, justUnbound = false): BackOff {
  let failures = 0;
  let refusals = 0;
  let shortTries = justUnbound ? afterUnbind.tries : 0;

  function longWaitMs(reason: CloseReason): number {
    if (reason.kind === 'bind_refused') {
      // Our older session still lives there, mostly after a crash: it ends by the peer's own time-out.
      if (reason.status === statuses.alreadyBound) return minuteMs;
      if (isAccountRefusal(reason.status)) return Math.min(longestRefusedMs, minuteMs * 2 ** refusals++);
    }
    // Full jitter: nodes that lost the same carrier do not come back together.
    return Math.round(random() * Math.min(longestMs, shortestMs * 2 ** Math.min(failures++, 16)));
  }

  return {
    after(reason, boundMs) {
      if (boundMs !== undefined) {
        refusals = 0;
        shortTries = orderlyEnds.includes(reason.kind) ? afterUnbind.tries : 0;
        if (boundMs >= steadyAfterMs) failures = 0;
      }
      if (reason.kind === 'bind_refused' && mayBeOldSession(reason.status) && shortTries > 0) {
        shortTries--;
        const { fromMs, toMs } = afterUnbind;
        return { waitMs: fromMs + Math.round(random() * (toMs - fromMs)), isPassing: true };
      }
      return { waitMs: longWaitMs(reason), isPassing: false };
    },
    reset(hasUnbound) {
      failures = 0;
      refusals = 0;
      if (hasUnbound) shortTries = afterUnbind.tries;
    },
  };
}
