import { type Lane, laneNames } from '../../messages/message.ts';
import type { SubmitFields } from './pdu.ts';
import type { SubmittedText } from './submitted-text.ts';

/** A part that waits for a free place in a window. */
export interface WaitingPart {
  submitted: SubmittedText;
  part: number;
  fields: SubmitFields;
  /** After this time (steady) it goes back to the queue in the database. */
  untilMs: number;
}

/** The parts that wait, by lane: the first lane first, and every fifth part is of the bulk lane. */
export interface PartQueue {
  readonly size: number;
  waiting(lane: Lane): number;
  add(part: WaitingPart): void;
  /** Goes before all others of its lane: the carrier wants it later, not last. */
  putBack(part: WaitingPart): void;
  /** Takes the next part; undefined if there is none of these lanes. */
  take(lanes: Record<Lane, boolean>): WaitingPart | undefined;
  /** Takes all parts that fit. */
  takeAll(fits: (part: WaitingPart) => boolean): WaitingPart[];
}

const bulkTurn = 5;

export function createPartQueue(): PartQueue {
  const queues: Record<Lane, WaitingPart[]> = { first: [], bulk: [] };
  /** Where each queue begins: shifting an array of hundreds for every part is slow. */
  const heads: Record<Lane, number> = { first: 0, bulk: 0 };
  let turns = 0;

  const count = (lane: Lane) => queues[lane].length - heads[lane];

  function takeFrom(lane: Lane): WaitingPart | undefined {
    const part = queues[lane][heads[lane]++];
    if (heads[lane] >= queues[lane].length) {
      queues[lane] = [];
      heads[lane] = 0;
    }
    return part;
  }

  return {
    get size() {
      return count('first') + count('bulk');
    },
    waiting: count,
    add: (part) => void queues[part.submitted.text.lane].push(part),
    putBack(part) {
      const { lane } = part.submitted.text;
      queues[lane] = [part, ...queues[lane].slice(heads[lane])];
      heads[lane] = 0;
    },
    take({ first, bulk }) {
      const urgent = first && count('first') > 0;
      const others = bulk && count('bulk') > 0;
      if (!urgent && !others) return undefined;
      if (urgent && others) turns++;
      return takeFrom(others && (!urgent || turns % bulkTurn === 0) ? 'bulk' : 'first');
    },
    takeAll(fits) {
      const taken: WaitingPart[] = [];
      for (const lane of laneNames) {
        const all = queues[lane].slice(heads[lane]);
        taken.push(...all.filter(fits));
        queues[lane] = all.filter((part) => !fits(part));
        heads[lane] = 0;
      }
      return taken;
    },
  };
}
