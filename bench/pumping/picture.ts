import { type AttackResult, goals } from './goals.ts';

/** Of every chart, by light and by night. */
const chartColours = `
text { font: 13px system-ui, sans-serif; fill: #1f2328; }
.paper { fill: #ffffff; } .group { font-weight: 600; } .label { text-anchor: end; }
.bar { fill: #3b82c4; } .short { fill: #c98a2b; } .spread { stroke: #1f2328; stroke-width: 1.5; opacity: .6; }
.goal { stroke: #b3261e; stroke-width: 2; } .one { stroke: #8b949e; stroke-dasharray: 3 3; }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3; } .paper { fill: #0d1117; } .bar { fill: #4f9bdc; } .short { fill: #d9a04a; }
.spread { stroke: #e6edf3; } .goal { stroke: #ff7b72; }
}`;

const width = 860;
const labelWidth = 300;
const barWidth = 220;
const gap = 60;
const lineHeight = 24;
const top = 44;
/** New users are few: their bars have a scale of their own. */
const mostRefused = 0.1;

/** For each attack the share that was stopped, and of the new users that were refused, each with its goal. */
export function picture(results: readonly AttackResult[]): string {
  const height = top + results.length * lineHeight + 14;
  const left = labelWidth;
  const right = labelWidth + barWidth + gap;
  const rows = results.map((result, place) => row(result, top + place * lineHeight, left, right));
  const goalAt = (x: number) => `<line class="goal" x1="${x}" x2="${x}" y1="${top - 4}" y2="${height - 10}"/>`;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="Attacks of the pumping laboratory: what was stopped, and which new users were refused">
<style>${chartColours}</style>
<rect class="paper" width="${width}" height="${height}"/>
<text class="group" x="${left}" y="20">Stopped after 500 texts</text>
<text class="group" x="${right}" y="20">New users refused</text>
${rows.join('\n')}
${goalAt(left + goals.stopped * barWidth)}
${goalAt(right + (goals.newRefused / mostRefused) * barWidth)}
</svg>
`;
}

function row({ attack, tenant, stopped, newRefused }: AttackResult, y: number, left: number, right: number): string {
  const middle = y + lineHeight / 2 + 4;
  const bar = (x: number, share: number, isGood: boolean) =>
    `<rect class="${isGood ? 'bar' : 'bar short'}" x="${x}" y="${y + 4}" width="${(Math.min(1, share) * barWidth).toFixed(1)}" height="${lineHeight - 8}"/>`;
  const value = (x: number, share: number) =>
    `<text class="value" x="${x + barWidth + 8}" y="${middle}">${(100 * share).toFixed(1)}</text>`;
  return [
    `<text class="label" x="${left - 10}" y="${middle}">${escaped(`${attack.name}, ${tenant.name}`)}</text>`,
    bar(left, stopped, stopped >= goals.stopped),
    value(left, stopped),
    bar(right, newRefused / mostRefused, newRefused < goals.newRefused),
    value(right, newRefused),
  ].join('');
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
