import type { Clock } from '../clock.ts';

/** The time by which all steps of one answer must be done, by the steady clock. */
export interface Deadline {
  clock: Clock;
  endsAtMs: number;
  /** Makes the error of a step that is not done in time. */
  tooLate: () => Error;
}

export function deadlineIn(ms: number, clock: Clock, tooLate: () => Error): Deadline {
  return { clock, endsAtMs: clock.steadyMs() + ms, tooLate };
}

/** Resolves with the step, or rejects at the deadline, while the step goes on. Without a deadline it waits for the step. */
export function inTime<Result>(deadline: Deadline | undefined, step: Promise<Result>): Promise<Result> {
  if (deadline === undefined) return step;
  const { clock, endsAtMs, tooLate } = deadline;
  return new Promise((resolve, reject) => {
    let timer: NodeJS.Timeout | undefined;
    function watch(): void {
      const leftMs = endsAtMs - clock.steadyMs();
      if (leftMs <= 0) reject(tooLate());
      else timer = setTimeout(watch, leftMs);
    }
    watch();
    const settle =
      <Value>(settled: (value: Value) => void) =>
      (value: Value) => {
        clearTimeout(timer);
        settled(value);
      };
    step.then(settle(resolve), settle(reject));
  });
}
