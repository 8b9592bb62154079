// Runs the test files it is given, in the order it is given them. `node --test` would sort them by name, and a slow file
// that starts last keeps everyone waiting. Started by scripts/test.ts, in a process group of its own.
import { availableParallelism } from 'node:os';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';

/** For a whole file, on a machine that is busy with other things: what takes longer hangs. */
const fileTimeoutMs = 900_000;

const files = process.argv.slice(2);
const tookMs = new Map<string, number>();
const events = run({ files, concurrency: availableParallelism(), timeout: fileTimeoutMs, forceExit: true });
events.on('test:fail', ({ todo }) => {
  if (todo === undefined || todo === false) process.exitCode = 1;
});
for (const outcome of ['test:pass', 'test:fail'] as const) {
  events.on(outcome, ({ file = '', nesting, details }: Outcome) => {
    if (nesting === 0) tookMs.set(file, (tookMs.get(file) ?? 0) + details.duration_ms);
  });
}
events.on('end', () => {
  const slowest = [...tookMs].sort(([, one], [, other]) => other - one).slice(0, 20);
  const lines = slowest.map(([file, ms]) => `  ${(ms / 1000).toFixed(1)} s  ${file.replace(`${process.cwd()}/`, '')}`);
  if (files.length > 20) process.on('exit', () => console.log(`The slowest files:\n${lines.join('\n')}`));
});
events.compose(new spec()).pipe(process.stdout);

interface Outcome {
  file?: string;
  nesting: number;
  details: { duration_ms: number };
}
