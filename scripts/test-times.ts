// How long each test file took in a whole run, so that the next run starts the slowest first and makes even parts.
// `npm test -- --record-times` writes the table anew.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { isUnitTest, lengthOf } from './test-files.ts';

const table = fileURLToPath(new URL('test-times.json', import.meta.url));
const known = JSON.parse(readFileSync(table, 'utf8')) as Record<string, number>;
/** Of a file that is not in the table: a long one mostly runs longer, a pure one is quick. */
const bytesPerSecond = { pure: 50_000, others: 2000 };

/** In a whole run, where other files share the cores. */
export function expectedSeconds(files: string[]): number {
  return files.reduce((sum, file) => sum + (known[file] ?? guessedSeconds(file)), 0);
}

function guessedSeconds(file: string): number {
  return lengthOf(file) / (isUnitTest(file) ? bytesPerSecond.pure : bytesPerSecond.others);
}

export function writeTimes(times: { file: string; seconds: number }[]): void {
  const sorted = times.toSorted((one, other) => (one.file < other.file ? -1 : 1));
  const entries = sorted.map(({ file, seconds }) => [file, Math.max(1, Math.round(seconds))]);
  writeFileSync(table, `${JSON.stringify(Object.fromEntries(entries), undefined, 2)}\n`);
  console.log('The times are in scripts/test-times.json.');
}
