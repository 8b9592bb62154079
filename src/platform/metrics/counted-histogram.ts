/** A histogram whose times were counted elsewhere, in another thread, by the same bounds. */
export function createCountedHistogram(name: string, help: string, label: string, bounds: readonly number[]) {
  const series = new Map<string, { counts: number[]; sum: number }>();

  function linesOf([value, { counts, sum }]: [string, { counts: number[]; sum: number }]): string[] {
    const labels = `${label}="${value}"`;
    let below = 0;
    const buckets = [...bounds, '+Inf'].map((bound, index) => {
      below += counts[index] ?? 0;
      return `${name}_bucket{le="${bound}",${labels}} ${below}`;
    });
    return [...buckets, `${name}_sum{${labels}} ${sum}`, `${name}_count{${labels}} ${below}`];
  }

  return {
    /** Adds counts of times: one for each bound, and one more for slower ones. */
    add(value: string, counts: readonly number[], sum: number): void {
      const before = series.get(value) ?? { counts: [], sum: 0 };
      const added = [...bounds, 0].map((_, index) => (before.counts[index] ?? 0) + (counts[index] ?? 0));
      series.set(value, { counts: added, sum: before.sum + sum });
    },
    /** The Prometheus text format. */
    text: (): string =>
      [`# HELP ${name} ${help}`, `# TYPE ${name} histogram`, ...[...series].flatMap(linesOf), ''].join('\n'),
  };
}
