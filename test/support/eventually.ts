/** Polls until the result is neither undefined nor false, and returns it: often at first, then twenty times a second. */
export async function eventually<Value>(
  what: string,
  poll: () => Promise<Value | undefined | false> | Value | undefined | false,
  { withinMs = 60_000, everyMs = 10 } = {},
): Promise<Value> {
  const endMs = performance.now() + withinMs;
  for (let pauseMs = everyMs; ; pauseMs = nextPauseMs(pauseMs)) {
    const found = await poll();
    if (found !== undefined && found !== false) return found;
    if (performance.now() > endMs) throw new Error(`not within ${withinMs} ms: ${what}`);
    await new Promise((done) => setTimeout(done, pauseMs));
  }
}

/** Each poll costs CPU, most of all on a busy machine, where a wait is long. */
function nextPauseMs(pauseMs: number): number {
  return Math.min(pauseMs * 1.25, Math.max(pauseMs, 50));
}
