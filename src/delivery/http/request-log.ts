import { type Clock, toTimestamp } from '../../platform/clock.ts';
import { shownCarrierId } from '../carrier/id.ts';
import type { LogEntry } from '../carrier/log-store.ts';

const kept = 200;

/** A request as operators see it: no text, no secret, no number. */
export interface LoggedRequest {
  /** `POST /v1/messages`, as the description writes it. */
  command: string;
  /** The status of HTTP; 0 without an answer. */
  status: number;
  messageId: string;
  carrierMessageId: string | null;
  /** The error in the provider's own words. */
  reported: string | null;
  to: string;
}

/** The last 200 requests of a carrier on this node. */
export function createRequestLog(clock: Clock) {
  const ring: (LoggedRequest & { atMs: number; sequence: number })[] = [];
  let recorded = 0;
  return {
    record(request: LoggedRequest): void {
      ring[recorded % kept] = { ...request, atMs: clock.nowMs(), sequence: ++recorded };
    },
    /** The oldest first. */
    entries(slot: number): LogEntry[] {
      return ring
        .toSorted((a, b) => a.sequence - b.sequence)
        .map(({ atMs, command, status, sequence, messageId, carrierMessageId, reported, to }) => ({
          at: toTimestamp(atMs),
          slot,
          direction: 'out',
          command,
          status,
          sequence,
          message_id: messageId,
          carrier_message_id: shownCarrierId(carrierMessageId),
          number_ends: to.slice(-3),
          reported,
        }));
    },
  };
}
