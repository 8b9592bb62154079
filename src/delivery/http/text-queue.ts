import type { Lane } from '../../messages/message.ts';
import type { Answer, OutgoingText } from '../carrier.ts';

/** A text that waits for its request. */
export interface WaitingText {
  text: OutgoingText;
  place: number;
  answer: Answer;
  /** Called once, with the first answer. */
  onAnswered: () => void;
  /** So long it waits here (steady time): after that it goes back to the queue in the database. */
  untilMs: number;
}

/** The texts that a carrier has taken and not sent, in two lanes. */
export interface TextQueue {
  add(waiting: WaitingText): void;
  /** To the front of its lane: the carrier wanted fewer texts. */
  putBack(waiting: WaitingText): void;
  take(bulk: boolean): WaitingText | undefined;
  takeAll(fits: (waiting: WaitingText) => boolean): WaitingText[];
  waiting(lane: Lane): number;
  readonly size: number;
}

export function createTextQueue(): TextQueue {
  const lanes: Record<Lane, WaitingText[]> = { first: [], bulk: [] };
  return {
    add: (waiting) => void lanes[waiting.text.lane].push(waiting),
    putBack: (waiting) => void lanes[waiting.text.lane].unshift(waiting),
    take: (bulk) => lanes.first.shift() ?? (bulk ? lanes.bulk.shift() : undefined),
    takeAll(fits) {
      const taken = [...lanes.first, ...lanes.bulk].filter(fits);
      if (taken.length === 0) return taken;
      for (const lane of ['first', 'bulk'] as const) lanes[lane] = lanes[lane].filter((each) => !fits(each));
      return taken;
    },
    waiting: (lane) => lanes[lane].length,
    get size() {
      return lanes.first.length + lanes.bulk.length;
    },
  };
}
