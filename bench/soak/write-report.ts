import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { resultsFolder } from '../write-results.ts';
import { headOf, markdownReport } from './report.ts';
import type { SoakResult } from './soak.ts';
import type { Line } from './verdict-line.ts';

const document = fileURLToPath(new URL('../../docs/performance.md', import.meta.url));
const partOfDocument = /(<!-- written by npm run soak -->\n).*?(<!-- end of soak -->)/s;
/** A run of this length is kept; a shorter one is for trying. */
const longMinutes = 60;

/** Writes the summary and the samples; the document shows the last long run. */
export function writeReport(result: SoakResult, lines: Line[]): string[] {
  const isLong = result.minutes >= longMinutes;
  const name = join(resultsFolder, isLong ? 'soak' : 'soak-short');
  mkdirSync(resultsFolder, { recursive: true });
  writeFileSync(`${name}.md`, markdownReport(result, lines));
  const { samples, sizes } = result.watched;
  const { startedAt, minutes, rate, faults } = result;
  writeFileSync(
    `${name}.json`,
    `${JSON.stringify({ startedAt, minutes, rate, lines, faults, samples, sizes }, rounded)}\n`,
  );
  if (isLong) writeDocument(result, lines);
  return ['md', 'json'].map((ending) => `${name}.${ending}`);
}

function writeDocument(result: SoakResult, lines: Line[]): void {
  const rows = lines.map(
    ({ name, found, holds }) => `| ${name} | ${found} | ${holds === false ? 'no' : holds ? 'yes' : '–'} |`,
  );
  const text = [headOf(result), '', '| What | Found | Holds |', '|---|---|---|', ...rows, ''].join('\n');
  const before = readFileSync(document, 'utf8');
  writeFileSync(
    document,
    before.replace(partOfDocument, (_all, start: string, end: string) => `${start}\n${text}${end}`),
  );
}

function rounded(_key: string, value: unknown): unknown {
  return typeof value === 'number' && !Number.isInteger(value) ? Number(value.toPrecision(4)) : value;
}
