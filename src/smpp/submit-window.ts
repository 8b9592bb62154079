// Tests: test/smpp/session.test.ts
import type { Clock } from '../platform/clock.ts';
import { minuteMs } from '../platform/clock.ts';
import { highestSequence, type SubmitFields, type SubmitPdu, type Tlv } from './pdu.ts';

/** The result of a submit. */
export type SubmitAnswer =
  /** submit_sm_resp or generic_nack. Status 0 means accepted; the id may be empty. */
  | { kind: 'answered'; status: number; messageId: string; tlvs: readonly Tlv[] }
  /** It was never given to the socket: it can be sent again without a copy. */
  | { kind: 'not_sent' }
  /**
   * It was given to the socket, and no answer came in time or before the session closed. `silent`: the session is still
   * open, so the answer may come late.
   */
  | { kind: 'in_doubt'; silent: boolean };

export interface SubmitRequest {
  fields: SubmitFields;
  /** Our id, for the log. */
  messageId: string | null;
  /** Without an answer for this long after the write it is in doubt; `responseMs` of the session if undefined. */
  deadlineMs?: number | undefined;
  /** It is not written at or after this time (steady), but settled as not sent. */
  writeBeforeMs?: number | undefined;
  /** Called when the socket gets it. */
  onWritten?: (() => void) | undefined;
  /** Called once; after `in_doubt` perhaps once more, when the answer comes late. */
  settle: (answer: SubmitAnswer) => void;
}

/** A submit in the window. Its text is kept only until the socket has it. */
export interface PendingSubmit extends Pick<SubmitRequest, 'messageId' | 'settle' | 'onWritten'> {
  sequence: number;
  unsent: { pdu: SubmitPdu; frame: Buffer } | undefined;
  /** When it was written; until then, when we got it. */
  sentMs: number;
  writeBeforeMs: number;
  answerWithinMs: number;
}

/** A late answer settles its submit for this long after the time-out. */
const lateMs = 5 * minuteMs;
/** A silent peer at a high rate must not fill the memory; the oldest are forgotten. */
const mostTombstones = 20_000;

export function createSubmitWindow({ clock, lastSequence = 0 }: { clock: Clock; lastSequence?: number }) {
  const pending = new Map<number, PendingSubmit>();
  /** Submits in doubt, the oldest first. */
  const tombstones = new Map<number, { entry: PendingSubmit; untilMs: number }>();
  let sequence = lastSequence;
  let timeoutsInRow = 0;

  function bury(entry: PendingSubmit, nowMs: number): void {
    tombstones.set(entry.sequence, { entry, untilMs: nowMs + lateMs });
    for (const [oldest, { untilMs }] of tombstones) {
      if (untilMs > nowMs && tombstones.size <= mostTombstones) break;
      tombstones.delete(oldest);
    }
  }

  function settle(entry: PendingSubmit, silent = false): void {
    const wasSent = entry.unsent === undefined;
    pending.delete(entry.sequence);
    entry.unsent = undefined;
    entry.settle(wasSent ? { kind: 'in_doubt', silent } : { kind: 'not_sent' });
  }

  return {
    get size(): number {
      return pending.size;
    },
    /** Time-outs since the last answer. */
    get timeoutsInRow(): number {
      return timeoutsInRow;
    },
    nextSequence(): number {
      do {
        sequence = sequence >= highestSequence ? 1 : sequence + 1;
      } while (pending.has(sequence) || tombstones.has(sequence));
      return sequence;
    },
    add: (entry: PendingSubmit): void => void pending.set(entry.sequence, entry),

    /** Settles the submit with this sequence, in time or late. Undefined if there is none. */
    answer(answered: number, answer: SubmitAnswer): PendingSubmit | undefined {
      const entry = pending.get(answered);
      if (entry !== undefined) {
        // The peer cannot know a submit that it was not sent.
        if (entry.unsent !== undefined) return undefined;
        pending.delete(answered);
        timeoutsInRow = 0;
        entry.settle(answer);
        return entry;
      }
      const late = tombstones.get(answered);
      if (late === undefined) return undefined;
      tombstones.delete(answered);
      if (late.untilMs <= clock.steadyMs()) return undefined;
      late.entry.settle(answer);
      return late.entry;
    },

    /** Settles overdue submits. Returns those that were sent. */
    expire(nowMs: number): PendingSubmit[] {
      const overdue = [...pending.values()].filter((entry) => dueMsOf(entry) <= nowMs);
      const sent = overdue.filter(({ unsent }) => unsent === undefined);
      timeoutsInRow += sent.length;
      for (const entry of sent) bury(entry, nowMs);
      for (const entry of overdue) settle(entry, true);
      return sent;
    },

    /** Settles submits that the socket never got. */
    dropUnsent(): void {
      for (const entry of [...pending.values()]) if (entry.unsent !== undefined) settle(entry);
    },

    /** Settles everything: the session is over. */
    close(): void {
      tombstones.clear();
      for (const entry of [...pending.values()]) settle(entry);
    },
  };
}

function dueMsOf({ unsent, writeBeforeMs, sentMs, answerWithinMs }: PendingSubmit): number {
  return unsent === undefined ? sentMs + answerWithinMs : writeBeforeMs;
}
