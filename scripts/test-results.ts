// Writes the result of a long run as a document: what was tried, how it went, and what was measured on the way.
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { countOf, figuresOf, type Outcome } from './test-report.ts';

export function writeResults(file: string, outcomes: Outcome[], tookMs: number): void {
  writeFileSync(file, documentOf(outcomes, tookMs));
  console.log(`The results are in ${file}.`);
}

function documentOf(outcomes: Outcome[], tookMs: number): string {
  const failed = outcomes.filter(({ passed }) => !passed).length;
  const rows = outcomes.toSorted((one, other) => (one.job.name < other.job.name ? -1 : 1)).map(rowOf);
  return `# Results of the long tests

\`npm run test:long\` wrote this file. It runs every long proof at its full size; \`npm test\` runs each in short.

- Revision: ${revision()}
- Day: ${new Date().toISOString().slice(0, 10)}
- Machine: ${machine()}
- Result: ${failed === 0 ? 'all passed' : `${failed} of ${outcomes.length} failed`}, in ${Math.round(tookMs / 60_000)} minutes

| File | Result | Tests | Seconds | Measured |
|---|---|---|---|---|
${rows.join('\n')}
`;
}

function rowOf(outcome: Outcome): string {
  const figures = figuresOf(outcome).map((text) => text.replaceAll('|', '\\|'));
  const { job, passed, seconds } = outcome;
  const cells = [job.name, passed ? 'passed' : '**failed**', countOf(outcome, 'tests'), Math.round(seconds)];
  return `| ${cells.join(' | ')} | ${figures.join('<br>')} |`;
}

function revision(): string {
  try {
    return execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim();
  } catch {
    return 'unknown';
  }
}

function machine(): string {
  const [cpu] = cpus();
  const gigabytes = Math.round(totalmem() / 2 ** 30);
  return `${cpus().length} cores (${cpu?.model.trim() ?? 'unknown'}), ${gigabytes} GB, Node ${process.version}`;
}
