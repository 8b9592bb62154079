import { holds, type Row } from './result-row.ts';
import { groupsOf } from './result-tables.ts';

const width = 860;
const labelWidth = 340;
const barWidth = 400;
const lineHeight = 24;

/** A bar for each ratio, a whisker for its spread and a mark at its goal; each group has a scale of its own. */
export function chart(rows: Row[]): string {
  const parts: string[] = [];
  let y = 10;
  for (const [group, all] of groupsOf(rows)) {
    const own = all.filter(({ unit }) => unit === 'ratio');
    if (own.length === 0) continue;
    const top = Math.max(1, ...own.map(({ value }) => value.high), ...own.map(goalOf));
    const x = (value: number) => labelWidth + (value / top) * barWidth;
    parts.push(`<text class="group" x="10" y="${y + 16}">${escaped(group)}</text>`);
    y += lineHeight;
    const one = x(1).toFixed(1);
    parts.push(`<line class="one" x1="${one}" x2="${one}" y1="${y}" y2="${y + own.length * lineHeight}"/>`);
    for (const row of own) {
      parts.push(bar(row, x, y));
      y += lineHeight;
    }
    y += 14;
  }
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${y}" viewBox="0 0 ${width} ${y}" role="img" aria-label="Benchmark results">
<style>${chartColours}</style>
<rect class="paper" width="${width}" height="${y}"/>
${parts.join('\n')}
</svg>
`;
}

function bar(row: Row, x: (value: number) => number, y: number): string {
  const { name, value, goal } = row;
  const middle = y + lineHeight / 2;
  const end = x(value.median);
  const at = (number: number) => x(number).toFixed(1);
  const parts = [
    `<text class="label" x="${labelWidth - 10}" y="${middle + 4}">${escaped(name)}</text>`,
    `<rect class="${holds(row) === false ? 'bar short' : 'bar'}" x="${labelWidth}" y="${y + 4}" width="${(end - labelWidth).toFixed(1)}" height="${lineHeight - 8}"/>`,
    `<line class="spread" x1="${at(value.low)}" x2="${at(value.high)}" y1="${middle}" y2="${middle}"/>`,
    `<text class="value" x="${labelWidth + barWidth + 12}" y="${middle + 4}">${value.median.toFixed(2)}</text>`,
  ];
  if (goal !== undefined) {
    const mark = at(goalOf(row));
    parts.push(`<line class="goal" x1="${mark}" x2="${mark}" y1="${y + 1}" y2="${y + lineHeight - 1}"/>`);
  }
  return parts.join('');
}

function goalOf({ goal }: Row): number {
  return goal === undefined ? 0 : 'atLeast' in goal ? goal.atLeast : goal.below;
}

/** Of every chart, by light and by night. */
export const chartColours = `
text { font: 13px system-ui, sans-serif; fill: #1f2328; }
.paper { fill: #ffffff; } .group { font-weight: 600; } .label { text-anchor: end; }
.bar { fill: #3b82c4; } .short { fill: #c98a2b; } .spread { stroke: #1f2328; stroke-width: 1.5; opacity: .6; }
.goal { stroke: #b3261e; stroke-width: 2; } .one { stroke: #8b949e; stroke-dasharray: 3 3; }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3; } .paper { fill: #0d1117; } .bar { fill: #4f9bdc; } .short { fill: #d9a04a; }
.spread { stroke: #e6edf3; } .goal { stroke: #ff7b72; }
}`;

export function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
