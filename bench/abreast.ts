import type { Bench } from './bench.ts';
import type { Row } from './result-row.ts';
import { jobOf, requireStatus, type Side, spreadOf, warmUp } from './rounds.ts';

/** One of those that work at the same time, with a load and a Postgres of its own. */
export interface Track {
  bench: Bench;
  side: Side;
}

const roundWithinMs = 60_000;
/** Receipts, events and spans are written within this time of the last text. */
const afterwardsMs = 1300;

/**
 * How many percent of CPU a request of the subject costs more than one of the baseline, by round: of its servers and its
 * Postgres. Both work at the same time on the same number of requests, so that a neighbour on the machine slows them alike.
 * A difference of a few percent needs more rounds: `times` as many.
 */
export async function moreCpu(sides: { baseline: Track; subject: Track }, times = 1): Promise<number[]> {
  const { pace } = sides.baseline.bench;
  const tracks = [sides.baseline, sides.subject];
  await Promise.all(tracks.map(({ bench, side }) => warmUp(bench, side)));
  const found: number[] = [];
  for (let round = 0; round < pace.rounds * 4 * times; round++) {
    const [baseline = 1, subject = 1] = await costsOf(tracks, pace.quick ? 1000 : 3000);
    found.push((subject / baseline - 1) * 100);
  }
  return found;
}

/** The same as throughput that is lost. */
export const lessThroughput = (moreCpu: readonly number[]) => moreCpu.map((more) => 100 - 100 / (1 + more / 100));

/** Microseconds for a request of each track. */
async function costsOf(tracks: readonly Track[], count: number): Promise<number[]> {
  const lists = await Promise.all(tracks.map(({ side }) => side.requests()));
  let before: Promise<number[]> | undefined;
  let opened = 0;
  let begin = () => {};
  const allOpen = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const onOpen = async () => {
    opened += 1;
    if (opened === tracks.length) begin();
    await allOpen;
    before ??= usedBy(tracks);
    await before;
  };
  const worked = await Promise.all(
    tracks.map(async ({ bench, side }, index) => {
      const all = lists[index] ?? [];
      const requests = Array.from({ length: count }, (_, at) => all[at % all.length] ?? '');
      const outcome = await bench.load.run({ ...jobOf(side), requests, once: true, ms: roundWithinMs }, onOpen);
      requireStatus(outcome.statuses, side.status);
      return outcome.worked;
    }),
  );
  await Promise.all(tracks.map(({ side }) => side.leftBehind?.()));
  if (tracks.some(({ side }) => side.leftBehind !== undefined))
    await new Promise((done) => setTimeout(done, afterwardsMs));
  const [first, last] = [await before, await usedBy(tracks)];
  return last.map((used, index) => (used - (first?.[index] ?? 0)) / (worked[index] ?? 1));
}

/** Microseconds so far. */
function usedBy(tracks: readonly Track[]): Promise<number[]> {
  return Promise.all(
    tracks.map(async ({ bench, side }) => {
      const used = await Promise.all(side.servers.map((server) => server.cpuMicroseconds()));
      return used.reduce((sum, one) => sum + one, bench.postgresMicroseconds());
    }),
  );
}

/** The middle half of the rounds is what is shown beside the median. */
export function percentRow(group: string, name: string, values: readonly number[], below?: number): Row {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.slice(Math.floor(sorted.length / 4), Math.ceil((sorted.length * 3) / 4));
  return {
    ...{ group, name, unit: '%', value: spreadOf(middle) },
    ...(below !== undefined && { goal: { below } }),
  };
}
