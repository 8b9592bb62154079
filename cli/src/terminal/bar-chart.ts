import { dim, green, red, type Text } from './text.ts';

export interface Bar {
  good: number;
  bad: number;
}

const eighths = ['', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
const axisWidth = 8;

/** Bars that are a few lines high: successes below, failures marked. `labels` are the labels below its two ends. */
export function drawBars(
  bars: readonly Bar[],
  options: { columns: number; height: number; labels: [string, string] },
): Text[] {
  const { height, labels } = options;
  const shown = merge(bars, Math.max(1, options.columns - axisWidth));
  const top = Math.max(1, ...shown.map(({ good, bad }) => good + bad));
  const rows = Array.from({ length: height }, (_, row) => {
    const floor = height - 1 - row;
    const cells = shown.map(({ good, bad }): Text => {
      const filled = Math.round(Math.min(1, Math.max(0, ((good + bad) / top) * height - floor)) * 8);
      // One request among thousands is still visible.
      const mark = floor === 0 && good + bad > 0 ? (eighths[Math.max(1, filled)] ?? '') : (eighths[filled] ?? '');
      if (mark === '') return ' ';
      return bad > 0 ? red(mark) : green(mark);
    });
    return [dim(`${(row === 0 ? short(top) : '').padStart(axisWidth - 2)} │`), ...cells];
  });
  const room = Math.max(1, shown.length - labels[0].length - labels[1].length);
  return [
    ...rows,
    dim(`${'0'.padStart(axisWidth - 2)} └${'─'.repeat(shown.length)}`),
    dim(`${' '.repeat(axisWidth)}${labels[0]}${' '.repeat(room)}${labels[1]}`),
  ];
}

/** Merges neighbours if there are more bars than columns. */
function merge(bars: readonly Bar[], most: number): Bar[] {
  const each = Math.ceil(bars.length / most);
  const merged: Bar[] = [];
  for (let index = 0; index < bars.length; index += each) {
    const part = bars.slice(index, index + each);
    merged.push({
      good: part.reduce((sum, { good }) => sum + good, 0),
      bad: part.reduce((sum, { bad }) => sum + bad, 0),
    });
  }
  return merged;
}

function short(count: number): string {
  if (count < 10_000) return String(count);
  return count < 10_000_000 ? `${Math.round(count / 1000)}k` : `${Math.round(count / 1_000_000)}M`;
}
