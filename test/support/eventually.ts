/** Looks again and again, for a while, until the condition holds: often at first, then twenty times a second. */
export async function eventually(
  what: string,
  holds: () => boolean | Promise<boolean>,
  { withinMs = 60_000, everyMs = 10 } = {},
): Promise<void> {
  const untilMs = performance.now() + withinMs;
  for (let pauseMs = everyMs; !(await holds()); pauseMs = nextPauseMs(pauseMs)) {
    if (performance.now() > untilMs) throw new Error(`not within ${withinMs} ms: ${what}`);
    await new Promise((done) => setTimeout(done, pauseMs));
  }
}

/** To look costs CPU, most of all on a busy machine, where a wait is long. */
export function nextPauseMs(pauseMs: number): number {
  return Math.min(pauseMs * 1.25, Math.max(pauseMs, 50));
}
