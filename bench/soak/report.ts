import { cpus } from 'node:os';
import type { Sample } from './samples.ts';
import { storiesOf } from './size-verdict.ts';
import type { SoakResult } from './soak.ts';
import { medianOf } from './trend.ts';
import { settled } from './verdict.ts';
import { type Line, readable } from './verdict-line.ts';

const mark = (holds: boolean | undefined) => (holds === undefined ? '–' : holds ? 'yes' : 'NO');

/** For the terminal: what failed stands last, where it is seen. */
export function terminalVerdict(lines: Line[]): string {
  const width = Math.max(...lines.map(({ name }) => name.length));
  const ordered = [...lines.filter(({ holds }) => holds !== false), ...lines.filter(({ holds }) => holds === false)];
  const shown = ordered.map(({ name, found, holds }) => `  ${mark(holds).padEnd(4)}${name.padEnd(width + 2)}${found}`);
  const failed = lines.filter(({ holds }) => holds === false).length;
  return `${shown.join('\n')}\n\n${failed === 0 ? 'The run passes.' : `The run FAILS: ${failed} of ${lines.length} lines.`}`;
}

export function headOf({ startedAt, minutes, rate, watched }: SoakResult): string {
  const machine = `${cpus().length} cores (${cpus()[0]?.model ?? 'unknown'}), Node ${process.version}`;
  const judged = settled(watched.samples);
  const middle = (of: (sample: Sample) => number) => medianOf(judged.map(of));
  const cores = (of: (sample: Sample) => number) => middle(of).toFixed(2);
  return (
    `${readable(minutes)} minutes from ${startedAt.toISOString().slice(0, 16)}Z on ${machine}, at rate ${rate}: ` +
    `${readable(middle(({ perSecond }) => perSecond))} requests a second. Of one core the service took ` +
    `${cores(({ cpu }) => cpu.service)}, Postgres ${cores(({ cpu }) => cpu.postgres)} and the load ${cores(({ cpu }) => cpu.load)}; ` +
    `the event loop's p99 was ${readable(middle(({ lagMs }) => lagMs))} ms.`
  );
}

export function markdownReport(result: SoakResult, lines: Line[]): string {
  const { operations, promises, counts, faults, watched } = result;
  const verdict = table(
    ['What', 'Found', 'Holds'],
    lines.map(({ name, found, holds }) => [name, found, mark(holds)]),
  );
  const times = table(
    ['Operation', 'times', 'p50 ms', 'p99 ms', 'slowest ms', 'in faults: times', 'p99 ms'],
    operations.map(({ operation, usual, faulty }) => [
      operation,
      usual.count.toLocaleString('en'),
      ...[usual.at(0.5), usual.at(0.99), usual.slowestMs].map(readable),
      faulty.count.toLocaleString('en'),
      readable(faulty.at(0.99)),
    ]),
  );
  const kept = table(
    ['Promise', 'checks', 'broken'],
    promises.map(({ name, checked, broken }) => [name, checked.toLocaleString('en'), String(broken)]),
  );
  const sizes = table(
    ['Table', 'rows', 'MB', 'of it indexes', 'early', 'late'],
    storiesOf(watched.sizes).map(({ name, kind, rows, bytes, indexBytes, early, late }) => [
      name,
      rows.toLocaleString('en'),
      readable(bytes / 1e6),
      readable(indexBytes / 1e6),
      ...[early, late].map((value) =>
        kind === 'queue' ? `${readable(value / 1e6)} MB` : `${readable(value)} bytes a row`,
      ),
    ]),
  );
  const seen = [...counts].sort().map(([what, count]) => `${count.toLocaleString('en')} ${what}`);
  const injected = [...new Set(faults.map(({ name }) => name))];
  return [
    headOf(result),
    verdict,
    times,
    kept,
    ...(sizes === '' ? [] : [sizes]),
    `Counted: ${seen.join(', ')}.`,
    `${faults.length} faults were injected: ${injected.join(', ')}.`,
    '',
  ].join('\n\n');
}

function table(head: string[], rows: string[][]): string {
  if (rows.length === 0) return '';
  const line = (cells: string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |`;
  return [line(head), `|${head.map((_, index) => (index === 0 ? '---' : '---:')).join('|')}|`, ...rows.map(line)].join(
    '\n',
  );
}
