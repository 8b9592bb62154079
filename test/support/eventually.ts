/** Looks again and again, for a while, until the condition holds. */
export async function eventually(
  what: string,
  holds: () => boolean | Promise<boolean>,
  { withinMs = 60_000, everyMs = 10 } = {},
): Promise<void> {
  const untilMs = performance.now() + withinMs;
  while (!(await holds())) {
    if (performance.now() > untilMs) throw new Error(`not within ${withinMs} ms: ${what}`);
    await new Promise((done) => setTimeout(done, everyMs));
  }
}
