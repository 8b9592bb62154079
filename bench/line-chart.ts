import { chartColours, escaped } from './chart.ts';

/** Lines over time with one scale. */
export interface Panel {
  title: string;
  unit: string;
  lines: { name: string; points: { atMs: number; value: number }[] }[];
  /** Drawn across, as a limit. */
  limit?: number;
}

export interface Shade {
  fromMs: number;
  toMs: number;
}

const width = 860;
const left = 84;
const right = 180;
const panelHeight = 150;
const gap = 46;
const top = 14;
const colours = ['a', 'b', 'c', 'd', 'e', 'f'];
/** More points than pixels are of no use: of each column the highest is drawn. */
const columns = 300;

/** Panels below one another that share the time; shaded is what went wrong on purpose. */
export function lineChart(label: string, panels: Panel[], shades: Shade[]): string {
  const times = panels.flatMap(({ lines }) => lines.flatMap(({ points }) => points.map(({ atMs }) => atMs)));
  const fromMs = Math.min(...times);
  const toMs = Math.max(...times, fromMs + 1);
  const x = (atMs: number) => left + ((atMs - fromMs) / (toMs - fromMs)) * (width - left - right);
  const height = top + panels.length * (panelHeight + gap);
  const parts = panels.map((panel, index) =>
    drawPanel(panel, top + index * (panelHeight + gap), x, shades, fromMs, toMs),
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="${escaped(label)}">
<style>${style}</style>
<rect class="paper" width="${width}" height="${height}"/>
${parts.join('\n')}
</svg>
`;
}

type Scale = (value: number) => number;

function drawPanel(panel: Panel, y: number, x: Scale, shades: Shade[], fromMs: number, toMs: number): string {
  const { title, unit, lines, limit } = panel;
  const highest = Math.max(1, limit ?? 0, ...lines.flatMap(({ points }) => points.map(({ value }) => value)));
  const most = niceAbove(highest);
  const base = y + 20 + panelHeight - 20;
  const at: Scale = (value) => base - (value / most) * (panelHeight - 20);
  const parts = [`<text class="group" x="${left}" y="${y + 10}">${escaped(title)}</text>`];
  for (const { fromMs: begin, toMs: end } of shades) {
    const [one, other] = [x(Math.max(fromMs, begin)), x(Math.min(toMs, end))];
    if (other > one) parts.push(rect('fault', one, at(most), other - one, base - at(most)));
  }
  for (const part of [0, 0.5, 1]) {
    const line = at(most * part);
    parts.push(
      `<line class="grid" x1="${left}" x2="${width - right}" y1="${line.toFixed(1)}" y2="${line.toFixed(1)}"/>`,
    );
    parts.push(
      `<text class="tick" x="${left - 8}" y="${(line + 4).toFixed(1)}">${numberOf(most * part)} ${unit}</text>`,
    );
  }
  if (limit !== undefined)
    parts.push(`<line class="goal" x1="${left}" x2="${width - right}" y1="${at(limit)}" y2="${at(limit)}"/>`);
  for (const [index, { name, points }] of lines.entries()) {
    const colour = colours[index % colours.length] ?? 'a';
    parts.push(`<path class="line ${colour}" d="${pathOf(thinned(points), x, at)}"/>`);
    const place = y + 30 + index * 18;
    parts.push(
      `<line class="line ${colour}" x1="${width - right + 12}" x2="${width - right + 30}" y1="${place - 4}" y2="${place - 4}"/>`,
    );
    parts.push(`<text class="name" x="${width - right + 36}" y="${place}">${escaped(name)}</text>`);
  }
  const minutes = (toMs - fromMs) / 60_000;
  for (const part of [0, 0.25, 0.5, 0.75, 1]) {
    const place = x(fromMs + part * (toMs - fromMs));
    const minute = minutes < 8 ? (minutes * part).toFixed(1) : (minutes * part).toFixed(0);
    parts.push(`<text class="time" x="${place.toFixed(1)}" y="${base + 16}">${minute} min</text>`);
  }
  return parts.join('');
}

function rect(name: string, x: number, y: number, wide: number, high: number): string {
  return `<rect class="${name}" x="${x.toFixed(1)}" y="${y.toFixed(1)}" width="${wide.toFixed(1)}" height="${high.toFixed(1)}"/>`;
}

function thinned(points: Panel['lines'][number]['points']): Panel['lines'][number]['points'] {
  const size = Math.ceil(points.length / columns);
  if (size <= 1) return points;
  return Array.from({ length: Math.ceil(points.length / size) }, (_, index) => {
    const own = points.slice(index * size, (index + 1) * size);
    return { atMs: own[0]?.atMs ?? 0, value: Math.max(...own.map(({ value }) => value)) };
  });
}

function pathOf(points: { atMs: number; value: number }[], x: Scale, y: Scale): string {
  const steps = points.map(({ atMs, value }) => `${x(atMs).toFixed(1)} ${y(value).toFixed(1)}`);
  return steps.length === 0 ? '' : `M${steps.join('L')}`;
}

/** The next of 1, 2, 2.5, 5 and 10 with as many noughts as it takes. */
function niceAbove(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  return power * ([1, 2, 2.5, 5, 10].find((step) => step * power >= value) ?? 10);
}

function numberOf(value: number): string {
  return value.toLocaleString('en', { maximumFractionDigits: 1 });
}

const style = `${chartColours}
.tick { text-anchor: end; font-size: 11px; } .time { text-anchor: middle; font-size: 11px; } .name { font-size: 12px; }
.grid { stroke: #8b949e; opacity: .35; } .line { fill: none; stroke-width: 1.5; } .fault { fill: #c98a2b; opacity: .16; }
.a { stroke: #2f6fb0; } .b { stroke: #b3541e; } .c { stroke: #2e8b57; } .d { stroke: #8250a8; } .e { stroke: #9a7b00; } .f { stroke: #6e7781; }
@media (prefers-color-scheme: dark) {
.a { stroke: #6cb0f0; } .b { stroke: #f0935a; } .c { stroke: #5fce8f; } .d { stroke: #c79bf0; } .e { stroke: #e3c44b; } .f { stroke: #a0a8b0; }
}`;
