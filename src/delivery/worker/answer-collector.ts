import type { Clock } from '../../platform/clock.ts';
import type { Carrier, OutgoingText, Progress, SubmitResult } from '../carrier/carrier.ts';

/**
 * A text's index in its submit, the carrier's answer (undefined if it gave none), how long that took after the write
 * (undefined if it was not written), and when it came (steady time).
 */
export type Answered = [
  index: number,
  answer: SubmitResult | undefined,
  tookMs: number | undefined,
  answeredAtMs: number,
];

/** Collects the answers to one submit as they come. */
export interface AnswerCollector {
  /**
   * Waits until the carrier has answered all texts, but no longer than `ms`. Returns the answers that no earlier call
   * returned. `done` is true when there will be no more.
   */
  collect(ms: number): Promise<{ answers: Answered[]; done: boolean }>;
  /** When a text was written that the carrier has not answered (steady time); undefined while it waits on our side. */
  writtenMs(index: number): number | undefined;
}

export interface AnswerCollectorOptions {
  clock: Clock;
  carrier: Carrier;
  texts: OutgoingText[];
  /** Gets an answer for a text that was returned as in doubt. */
  onLate: (index: number, answer: SubmitResult) => void;
  /** The carrier has throttled a submit of a text, which it gets again without another claim. */
  onThrottled?: (index: number, reported: string | undefined) => void;
  /** The carrier gave up, or took too long. */
  onFailure: (error: Error) => void;
}

export function submitAndCollect({
  clock,
  carrier,
  texts,
  onLate,
  onThrottled,
  onFailure,
}: AnswerCollectorOptions): AnswerCollector {
  const answers: (SubmitResult | undefined)[] = Array.from({ length: texts.length });
  const writtenMs: (number | undefined)[] = [];
  const tookMs: (number | undefined)[] = [];
  const answeredAtMs: number[] = [];
  const isReturned: boolean[] = texts.map(() => false);
  let unanswered = texts.length;
  let done = false;
  let wake = () => {};

  function close(): void {
    done = true;
    clearTimeout(timer);
    wake();
  }

  function fail(error: Error): void {
    if (done) return;
    onFailure(error);
    close();
  }

  function answer(index: number, result: SubmitResult): void {
    if (!(index in answers)) return;
    const before = answers[index];
    const isFirst = before === undefined || before.outcome === 'in_doubt';
    if (!isFirst) return;
    if (isReturned[index]) {
      answers[index] = result;
      onLate(index, result);
      return;
    }
    answers[index] = result;
    const nowMs = clock.steadyMs();
    answeredAtMs[index] = nowMs;
    tookMs[index] = sinceWriteMs(index, nowMs);
    if (before === undefined) unanswered--;
    if (unanswered === 0) close();
  }

  /** Leaves out the time for which the text waited on our side. */
  function sinceWriteMs(index: number, nowMs: number): number | undefined {
    const fromMs = writtenMs[index];
    return fromMs === undefined ? undefined : nowMs - fromMs;
  }

  function progress(index: number, state: Parameters<Progress>[1], reported?: string): void {
    if (state === 'throttled') onThrottled?.(index, reported);
    else writtenMs[index] = state === 'written' ? clock.steadyMs() : undefined;
  }

  function takeNew(): Answered[] {
    const taken: Answered[] = [];
    const nowMs = clock.steadyMs();
    for (const [index, answer] of answers.entries()) {
      if (isReturned[index] || (answer === undefined && !done)) continue;
      isReturned[index] = true;
      const took = answer === undefined ? sinceWriteMs(index, nowMs) : tookMs[index];
      taken.push([index, answer, took, answeredAtMs[index] ?? nowMs]);
    }
    return taken;
  }

  const timer = setTimeout(
    () => fail(new Error(`no answer in ${carrier.submitTimeoutMs} ms`)),
    carrier.submitTimeoutMs,
  );
  // Async, so that a synchronous throw becomes a rejection too.
  const submitting = (async () => carrier.submit(texts, answer, progress))();
  submitting.then(close, fail);

  return {
    writtenMs: (index) => writtenMs[index],
    async collect(ms) {
      if (!done) {
        await new Promise<void>((resolve) => {
          const patience = setTimeout(resolve, ms);
          wake = () => {
            clearTimeout(patience);
            resolve();
          };
        });
      }
      return { answers: takeNew(), done };
    },
  };
}
