export interface PollerOptions {
  run: () => unknown;
  /** Read after each run. */
  pauseMs: number | (() => number);
  /** For a failed run that no call of `poll` waits for. The next run follows as usual. */
  onFailure?: (error: Error) => void;
}

/** Repeats a piece of work, with a pause after each run. Runs never overlap. The timer keeps no process alive. */
export function createPoller({ run, pauseMs, onFailure = () => {} }: PollerOptions) {
  let isStarted = false;
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;
  let next: Promise<void> | undefined;

  function poll(): Promise<void> {
    if (running === undefined) {
      clearTimeout(timer);
      running = runOnce();
      return running;
    }
    next ??= running
      .catch(() => {})
      .then(() => {
        next = undefined;
        return poll();
      });
    return next;
  }

  async function runOnce(): Promise<void> {
    // Let the caller store the promise first: `run` may ask for another run.
    await undefined;
    try {
      await run();
    } finally {
      running = undefined;
      schedule();
    }
  }

  function schedule(firstAfterMs?: number): void {
    if (!isStarted) return;
    const afterMs = firstAfterMs ?? (typeof pauseMs === 'number' ? pauseMs : pauseMs());
    clearTimeout(timer);
    timer = setTimeout(() => poll().catch(onFailure), afterMs).unref();
  }

  return {
    /** The first run follows after this time, or a pause. */
    start(firstAfterMs?: number): void {
      if (isStarted) return;
      isStarted = true;
      if (running === undefined) schedule(firstAfterMs);
    },
    /** Runs now, or once more after the run under way. Settles like a run that began after this call. */
    poll,
    /** Ends the pause. Does nothing during a run, or before the start. */
    hurry(): void {
      if (isStarted && running === undefined) poll().catch(onFailure);
    },
    /** Stops repeating, and waits for the runs that have been asked for. */
    async stop(): Promise<void> {
      isStarted = false;
      clearTimeout(timer);
      await (next ?? running)?.catch(() => {});
    },
  };
}
