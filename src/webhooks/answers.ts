// Tests: test/parts/webhook-answers.test.ts
import { createBoundedMap } from '../platform/bounded-map.ts';
import { type Clock, dayMs } from '../platform/clock.ts';
import type { Database } from '../platform/database/database.ts';
import { type AttemptAnswer, insertAnswers } from './answer-store.ts';

/** How long answers are kept. */
export const answersKeptMs = 7 * dayMs;

/** Keeps answers of endpoints. No delivery waits for it: answers wait in memory and are written together. */
export interface AnswerKeeper {
  keep(answer: AttemptAnswer): void;
  flush(): Promise<void>;
  stop(): Promise<void>;
}

const flushEveryMs = 1000;
/** Answers that wait to be written. More are dropped. */
const mostWaiting = 500;
/** Each webhook may have this many at once, and then one a second: a busy one gets a sample. */
const burst = 100;
const refillMs = 1000;

interface Bucket {
  left: number;
  atMs: number;
}

export function createAnswerKeeper({ database, clock }: { database: Database; clock: Clock }): AnswerKeeper {
  const buckets = createBoundedMap<string, Bucket>(10_000);
  let waiting: AttemptAnswer[] = [];
  let writing: Promise<void> = Promise.resolve();
  const timer = setInterval(() => void flush(), flushEveryMs).unref();

  function mayKeep(webhookId: string): boolean {
    const nowMs = clock.steadyMs();
    const { left, atMs } = buckets.get(webhookId) ?? { left: burst, atMs: nowMs };
    const refilled = Math.min(burst, left + (nowMs - atMs) / refillMs);
    buckets.set(webhookId, { left: refilled >= 1 ? refilled - 1 : refilled, atMs: nowMs });
    return refilled >= 1;
  }

  /** An answer that cannot be written is lost: no delivery depends on it, it only explains one. */
  function flush(): Promise<void> {
    if (waiting.length === 0) return writing;
    const taken = waiting;
    waiting = [];
    writing = writing.then(() => insertAnswers(database, taken)).catch(() => {});
    return writing;
  }

  return {
    keep(answer) {
      if (waiting.length < mostWaiting && mayKeep(answer.webhookId)) waiting.push(answer);
    },
    flush,
    async stop() {
      clearInterval(timer);
      await flush();
    },
  };
}
