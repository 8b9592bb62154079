import type { Clock } from '../../platform/clock.ts';
import type { Carrier, OutgoingText, SubmitResult } from '../carrier/carrier.ts';

/**
 * A text's place in its submit, the carrier's answer (undefined if it gave none), and how long that took after the write;
 * undefined if it was not written.
 */
export type Answered = [place: number, answer: SubmitResult | undefined, tookMs: number | undefined];

/** Collects the answers to one submit as they come. */
export interface AnswerCollector {
  /**
   * Waits until the carrier has answered all texts, but no longer than `ms`. Returns the answers that no earlier call
   * returned. `done` is true when there will be no more.
   */
  collect(ms: number): Promise<{ answers: Answered[]; done: boolean }>;
  /** When a text was written that the carrier has not answered (steady time); undefined while it waits on our side. */
  writtenMs(place: number): number | undefined;
}

export interface AnswerCollectorOptions {
  clock: Clock;
  carrier: Carrier;
  texts: OutgoingText[];
  /** Gets an answer for a text that was returned as in doubt. */
  onLate: (place: number, answer: SubmitResult) => void;
  /** The carrier gave up, or took too long. */
  onFailure: (error: Error) => void;
}

export function submitAndCollect({
  clock,
  carrier,
  texts,
  onLate,
  onFailure,
}: AnswerCollectorOptions): AnswerCollector {
  const answers: (SubmitResult | undefined)[] = Array.from({ length: texts.length });
  const writtenMs: (number | undefined)[] = [];
  const tookMs: (number | undefined)[] = [];
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

  function answer(place: number, result: SubmitResult): void {
    if (!(place in answers)) return;
    const before = answers[place];
    const isFirst = before === undefined || before.outcome === 'in_doubt';
    if (!isFirst) return;
    if (isReturned[place]) {
      answers[place] = result;
      onLate(place, result);
      return;
    }
    answers[place] = result;
    tookMs[place] = sinceWriteMs(place);
    if (before === undefined) unanswered--;
    if (unanswered === 0) close();
  }

  /** Time on our side is not the carrier's. */
  function sinceWriteMs(place: number): number | undefined {
    const fromMs = writtenMs[place];
    return fromMs === undefined ? undefined : clock.steadyMs() - fromMs;
  }

  function progress(place: number, state: 'written' | 'waits'): void {
    writtenMs[place] = state === 'written' ? clock.steadyMs() : undefined;
  }

  function takeNew(): Answered[] {
    const taken: Answered[] = [];
    for (const [place, answer] of answers.entries()) {
      if (isReturned[place] || (answer === undefined && !done)) continue;
      isReturned[place] = true;
      taken.push([place, answer, answer === undefined ? sinceWriteMs(place) : tookMs[place]]);
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
    writtenMs: (place) => writtenMs[place],
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
