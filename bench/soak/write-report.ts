import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { resultsFolder } from '../write-results.ts';
import { markdownReport } from './report.ts';
import type { SoakResult } from './soak.ts';
import type { Line } from './verdict-line.ts';

/** A run of this length is kept; a shorter one is for trying. */
const longMinutes = 60;

/** Writes the summary and the samples. */
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
  return ['md', 'json'].map((ending) => `${name}.${ending}`);
}

function rounded(_key: string, value: unknown): unknown {
  return typeof value === 'number' && !Number.isInteger(value) ? Number(value.toPrecision(4)) : value;
}
