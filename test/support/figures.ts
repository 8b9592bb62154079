/** Reports what a test has measured, as `t.diagnostic` does: a long run writes it into docs/test-results.md. */
export function tellFigure(text: string): void {
  process.stderr.write(`ℹ ${text}\n`);
}
