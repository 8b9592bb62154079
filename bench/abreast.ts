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
 * What a request of each track costs, in percent of CPU more than one of the first: of its servers and its Postgres. All
 * work at the same time on the same number of requests, so that a neighbour on the machine slows all of them alike.
 */
export async function moreCpu(tracks: readonly Track[]): Promise<number[][]> {
  const { pace } = (tracks[0] as Track).bench;
  await Promise.all(tracks.map(({ bench, side }) => warmUp(bench, side)));
  const found: number[][] = tracks.map(() => []);
  for (let round = 0; round < pace.rounds * 4; round++) {
    const costs = await costsOf(tracks, pace.quick ? 1000 : 3000);
    costs.forEach((cost, index) => {
      found[index]?.push((cost / (costs[0] ?? 1) - 1) * 100);
    });
  }
  return found;
}

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
export function moreCpuRow(group: string, name: string, values: readonly number[], below?: number): Row {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.slice(Math.floor(sorted.length / 4), Math.ceil((sorted.length * 3) / 4));
  return {
    ...{ group, name: `${name}: more CPU`, unit: '%', value: spreadOf(middle) },
    ...(below !== undefined && { goal: { below } }),
  };
}
