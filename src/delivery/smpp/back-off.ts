import { minuteMs } from '../../platform/clock.ts';
import { isAccountRefusal } from './bind-refusals.ts';
import { statuses } from './pdu.ts';
import type { CloseReason } from './session-types.ts';

const shortestMs = 1000;
const longestMs = minuteMs;
const longestRefusedMs = 15 * minuteMs;
/** Some carriers drop a caller that connects more often than three times a minute, so flapping must not reset it. */
const steadyAfterMs = minuteMs;

/** How long to wait before the next try to bind. */
export interface BackOff {
  /** A session has ended that was bound for so long; undefined if it never was. */
  after(reason: CloseReason, boundMs: number | undefined): number;
}

export function createBackOff(random: () => number): BackOff {
  let failures = 0;
  let refusals = 0;

  return {
    after(reason, boundMs) {
      if (boundMs !== undefined) refusals = 0;
      if (boundMs !== undefined && boundMs >= steadyAfterMs) failures = 0;
      if (reason.kind === 'bind_refused') {
        // Our older session still lives there, mostly after a crash: it ends by the peer's own time-out.
        if (reason.status === statuses.alreadyBound) return minuteMs;
        if (isAccountRefusal(reason.status)) return Math.min(longestRefusedMs, minuteMs * 2 ** refusals++);
      }
      // Full jitter: nodes that lost the same carrier do not come back together.
      return Math.round(random() * Math.min(longestMs, shortestMs * 2 ** Math.min(failures++, 16)));
    },
  };
}
