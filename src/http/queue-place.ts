import type { Place } from '../platform/work/fair-share.ts';
import type { Exchange } from './exchange.ts';
import type { Caller } from './route.ts';

/** Requests of one caller that may wait in a bulkhead, whatever its plan. */
export const leastRoom = 100;
const mostRoom = 5000;

/** An application has room for all that its plan admits in a minute, and so for its whole burst, on each API. */
export function roomFor(perMinute: number): number {
  return Math.min(mostRoom, Math.max(leastRoom, perMinute));
}

/** Where a request waits for its turn. It leaves when its connection breaks. */
export function placeOf(exchange: Exchange, caller: Caller): Place {
  const onWaiting = (leave: () => void) => exchange.onGone(leave);
  if (caller.kind === 'application') {
    const { applicationId, api } = caller;
    return { caller: applicationId, queue: api, room: roomOf(exchange), onWaiting };
  }
  const owner = caller.kind === 'developer' ? caller.accountId : exchange.address;
  return { caller: owner, queue: '', room: leastRoom, onWaiting };
}

export function roomOf({ admission }: Exchange): number {
  return admission?.counted === true ? roomFor(admission.decision.limits.perMinute) : leastRoom;
}
