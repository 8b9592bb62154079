// The full size of every proof that `npm test` gives in short: all files of these folders, and all that have a long form.
// A run of all of them writes docs/test-results.md.
import { findTestFiles, leadsTo } from './test-files.ts';

const folders = ['test/faults/', 'test/cluster/', 'test/races/', 'test/hostile/'];

process.env.HELIOGRAPH_TEST_LONG = '1';
if (process.argv.length === 2) {
  process.env.HELIOGRAPH_TEST_RESULTS = 'docs/test-results.md';
  process.argv.push(...folders, ...findTestFiles([]).filter((file) => leadsTo(file, 'test/support/effort.ts')));
}
await import('./test.ts');
