import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { Row } from './result-row.ts';
import { markdownTable } from './result-tables.ts';

export const resultsFolder = fileURLToPath(new URL('results/', import.meta.url));

const document = fileURLToPath(new URL('../docs/performance.md', import.meta.url));
const tableInDocument = /(<!-- written by npm run bench -->\n).*(<!-- end -->)/s;

/** Writes the numbers as a table and as JSON. */
export function writeResults(rows: Row[], name: string): void {
  mkdirSync(resultsFolder, { recursive: true });
  const machine = { node: process.version, cores: cpus().length, processor: cpus()[0]?.model ?? '' };
  const measuredAt = new Date().toISOString().slice(0, 10);
  const shortRounds = name !== 'results';
  const where = `${machine.cores} cores (${machine.processor}), Node ${machine.node}`;
  const head = `Measured ${measuredAt} on ${where}.${shortRounds ? ' Short rounds, for trying.' : ''}`;
  writeFileSync(`${resultsFolder}${name}.md`, `${head}\n\n${markdownTable(rows)}`);
  writeFileSync(
    `${resultsFolder}${name}.json`,
    `${JSON.stringify({ measuredAt, machine, shortRounds, rows }, rounded, 1)}\n`,
  );
  if (!shortRounds) writeDocument(`${head}\n\n${markdownTable(rows)}`);
  console.log(`Written: bench/results/${name}.md and .json`);
}

/** The document shows the last full run. */
function writeDocument(table: string): void {
  const text = readFileSync(document, 'utf8');
  writeFileSync(
    document,
    text.replace(tableInDocument, (_all, start: string, end: string) => `${start}\n${table}${end}`),
  );
}

function rounded(_key: string, value: unknown): unknown {
  return typeof value === 'number' ? Number(value.toPrecision(4)) : value;
}
