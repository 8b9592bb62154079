import { type AnswerTimes, createAnswerTimes } from './answer-times.ts';

/** Times of one operation: since the last look, and over the run outside and within injected faults. */
interface Times {
  lately: AnswerTimes;
  usual: AnswerTimes;
  faulty: AnswerTimes;
}

export interface OperationTimes {
  operation: string;
  usual: AnswerTimes;
  faulty: AnswerTimes;
}

export interface Meter {
  time(operation: string, ms: number): void;
  /** Times of the operations since the last call of this. */
  takeLately(): Map<string, AnswerTimes>;
  operations(): OperationTimes[];
}

/** `isFaulty` says whether a fault is injected at this moment, or was a moment ago. */
export function createMeter(isFaulty: () => boolean): Meter {
  const times = new Map<string, Times>();
  const newTimes = () => ({
    lately: createAnswerTimes(),
    usual: createAnswerTimes(),
    faulty: createAnswerTimes(),
  });
  return {
    time(operation, ms) {
      const own = times.get(operation) ?? newTimes();
      times.set(operation, own);
      own.lately.add(ms);
      (isFaulty() ? own.faulty : own.usual).add(ms);
    },
    takeLately() {
      const taken = new Map<string, AnswerTimes>();
      for (const [operation, own] of times) {
        taken.set(operation, own.lately);
        own.lately = createAnswerTimes();
      }
      return taken;
    },
    operations: () => [...times].map(([operation, { usual, faulty }]) => ({ operation, usual, faulty })),
  };
}
