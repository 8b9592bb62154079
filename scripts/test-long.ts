// The full size of every proof that `npm test` gives in short: all files of these folders, and all that have a long form.
// A run of all of them writes docs/test-results.md. It runs on this Node, and then on each that HELIOGRAPH_TEST_NODES names.
import { execFileSync, spawnSync } from 'node:child_process';
import { delimiter, dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findTestFiles, leadsTo } from './test-files.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const folders = [
  ...['test/faults/', 'test/cluster/', 'test/races/', 'test/model/'],
  ...['test/hostile/', 'test/deploy/', 'test/package/', 'test/ha/'],
];
const named = process.argv.slice(2);
const parts =
  named.length > 0
    ? named
    : [...folders, ...findTestFiles([]).filter((file) => leadsTo(file, 'test/support/effort.ts'))];
const others = (process.env.HELIOGRAPH_TEST_NODES ?? '').split(delimiter).filter((program) => program !== '');

const runs = [process.execPath, ...others].map((program) => ({ version: versionOf(program), passed: runOn(program) }));
for (const { version, passed } of runs) console.log(`Node ${version}: ${passed ? 'passed' : 'FAILED'}`);
if (others.length === 0) console.log('No other Node was tried: HELIOGRAPH_TEST_NODES names none.');
process.exit(runs.every(({ passed }) => passed) ? 0 : 1);

/** Like `24.22.0`. */
function versionOf(program: string): string {
  return execFileSync(program, ['-p', 'process.versions.node'], { encoding: 'utf8' }).trim();
}

/** Tests that start `node` or `npm` find this program first. */
function runOn(program: string): boolean {
  const suffix = program === process.execPath ? '' : `-node-${versionOf(program).split('.')[0]}`;
  const { status } = spawnSync(program, ['--import', 'tsx', 'scripts/test.ts', ...parts], {
    cwd: root,
    stdio: 'inherit',
    env: {
      ...process.env,
      PATH: `${dirname(program)}${delimiter}${process.env.PATH}`,
      HELIOGRAPH_TEST_LONG: '1',
      ...(named.length === 0 && { HELIOGRAPH_TEST_RESULTS: `docs/test-results${suffix}.md` }),
    },
  });
  return status === 0;
}
