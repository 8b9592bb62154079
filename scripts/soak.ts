// npm run soak -- <minutes>: the service under mixed load for as long as you like, with a verdict. docs/performance.md.
import { statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { help, readSoakArguments } from '../bench/soak/arguments.ts';
import { terminalVerdict } from '../bench/soak/report.ts';
import type { Sample } from '../bench/soak/samples.ts';
import { soak } from '../bench/soak/soak.ts';
import { judge, passes } from '../bench/soak/verdict.ts';
import { readable } from '../bench/soak/verdict-line.ts';
import { writeReport } from '../bench/soak/write-report.ts';
import { buildService } from '../test/support/service.ts';

const given = readSoakArguments(process.argv.slice(2));
if (given === 'help' || 'problem' in given) {
  if (given === 'help') console.log(help);
  else console.error(`${given.problem}\n\n${help}`);
  process.exit(given === 'help' ? 0 : 2);
}
const { minutes, rate } = given;

/** A minute leaves about 15 MB of records, and Postgres keeps a gigabyte of log. */
const neededBytes = 1.5e9 + minutes * rate * 25e6;
const { bavail, bsize } = statfsSync(tmpdir());
if (bavail * bsize < neededBytes) {
  const text = `${tmpdir()} has ${readable((bavail * bsize) / 1e9)} GB free; this run needs up to ${readable(neededBytes / 1e9)} GB.`;
  console.error(`${text} Make room, name another place by TMPDIR, or run for fewer minutes.`);
  process.exit(2);
}

const stopping = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    if (stopping.signal.aborted) return;
    console.log('\nEnding early.');
    stopping.abort();
  });
}
const isTerminal = process.stdout.isTTY === true;
let saidMs = 0;

function onSample(sample: Sample, elapsedMs: number, broken: number): void {
  const everyMs = isTerminal ? 0 : 60_000;
  if (elapsedMs - saidMs < everyMs) return;
  saidMs = elapsedMs;
  const megabytes = (bytes: number | undefined) => (bytes === undefined ? '?' : readable(bytes / 1e6));
  const parts = [
    `${(elapsedMs / 60_000).toFixed(1)} of ${minutes} min`,
    `${readable(sample.perSecond)} requests/s`,
    `p99 of texts ${readable(sample.times.text?.p99 ?? 0)} ms`,
    `memory ${megabytes(sample.residentBytes)} MB (heap ${megabytes(sample.heapBytes)})`,
    `${sample.descriptors ?? '?'} descriptors`,
    broken === 0 ? 'no promise broken' : `${broken} PROMISES BROKEN`,
    ...(sample.fault === undefined ? [] : [sample.fault]),
  ];
  process.stdout.write(
    isTerminal
      ? `\r\x1b[2K${parts.join(' · ').slice(0, (process.stdout.columns ?? 120) - 1)}`
      : `${parts.join(' · ')}\n`,
  );
}

await buildService();
const result = await soak({
  minutes,
  rate,
  signal: stopping.signal,
  say: (text) => console.log(`${isTerminal ? '\r\x1b[2K' : ''}${text}`),
  onSample,
});
const lines = judge(result);
console.log(`\n${terminalVerdict(lines)}\n`);
for (const file of writeReport(result, lines)) console.log(`Written: ${file}`);
process.exit(passes(lines) ? 0 : 1);
