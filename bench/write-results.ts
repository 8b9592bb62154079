import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { Row } from './result-row.ts';
import { besideTable, markdownTable } from './result-tables.ts';

export const resultsFolder = fileURLToPath(new URL('results/', import.meta.url));

const document = fileURLToPath(new URL('../docs/performance.md', import.meta.url));
const tableInDocument = /(<!-- written by npm run bench -->\n).*(<!-- end -->)/s;
/** What a fresh machine has: the document shows its last full run. */
const documentedNode = 'v20.';

interface Run {
  measuredAt: string;
  machine: { node: string; cores: number; processor: string };
  shortRounds: boolean;
  rows: Row[];
}

/**
 * Writes the numbers as a table and as JSON. The numbers of another Node stand beside those of the documented one's last run
 * with the same rounds.
 */
export function writeResults(rows: Row[], shortRounds: boolean): void {
  mkdirSync(resultsFolder, { recursive: true });
  const machine = { node: process.version, cores: cpus().length, processor: cpus()[0]?.model ?? '' };
  const run: Run = { measuredAt: new Date().toISOString().slice(0, 10), machine, shortRounds, rows };
  const name = shortRounds ? 'quick' : 'results';
  if (!machine.node.startsWith(documentedNode)) {
    const documented = JSON.parse(readFileSync(`${resultsFolder}${name}.json`, 'utf8')) as Run;
    const columns = [documented, run].map((each) => ({ node: each.machine.node, rows: each.rows }));
    const heads = [documented, run].map(headOf).join('\n');
    write(run, `node-${machine.node.slice(1).split('.')[0]}`, `${heads}\n\n${besideTable(columns)}`);
    return;
  }
  const text = `${headOf(run)}\n\n${markdownTable(rows)}`;
  write(run, name, text);
  if (!shortRounds) writeDocument(text);
}

function headOf({ measuredAt, machine: { cores, processor, node }, shortRounds }: Run): string {
  const rounds = shortRounds ? ' Short rounds, for trying.' : '';
  return `Measured ${measuredAt} on ${cores} cores (${processor}), Node ${node}.${rounds}`;
}

function write(run: Run, name: string, text: string): void {
  writeFileSync(`${resultsFolder}${name}.md`, text);
  writeFileSync(`${resultsFolder}${name}.json`, `${JSON.stringify(run, rounded, 1)}\n`);
  console.log(`Written: bench/results/${name}.md and .json`);
}

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
