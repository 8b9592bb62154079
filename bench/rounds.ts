import type { Bench } from './bench.ts';
import type { Server } from './server-process.ts';

/** One of the two that are compared. */
export interface Side {
  servers: Server[];
  /** Made anew for every round, before it is measured. */
  requests(): string[] | Promise<string[]>;
  status: string;
  connections?: number;
  /** How many texts a request holds, if not one: then all figures are for a text. */
  textsPerRequest?: number;
  /** No request may be sent twice: a number that is new, a code that is still open. */
  once?: boolean;
  /** How many of the round's texts are left behind, which do not count. Resolves when they are gone. */
  leftBehind?(): Promise<number>;
  /** How many texts have arrived at the SMSC, in all. Then the round lasts until all of its texts are there. */
  arrived?(): Promise<number>;
}

/** What stands between two sides: the median of the rounds, and the lowest and highest. */
export interface Spread {
  median: number;
  low: number;
  high: number;
}

export interface Comparison {
  /** Requests a second of the subject against the baseline's. */
  ratio: Spread;
  /** The same by the CPU time of a request in the server's process, which neighbours on the machine change least. */
  byCpu: Spread;
  subject: Speed;
  baseline: Speed;
}

export interface Speed {
  answered: number;
  perSecond: number;
  cpuMicroseconds: number;
  /** Of Postgres, for one request. */
  postgresMicroseconds: number;
  /** How much of one core the load took meanwhile. */
  loadBusy: number;
}

export const usualConnections = 64;
const arriveWithinMs = 60_000;

/** Alternating rounds, and the other side first in every second one: what drifts on the machine meets both alike. */
export async function compare(
  bench: Bench,
  { baseline, subject }: { baseline: Side; subject: Side },
): Promise<Comparison> {
  const { rounds, roundMs } = bench.pace;
  for (const side of [baseline, subject]) await warmUp(bench, side);
  const found: { subject: Speed; baseline: Speed }[] = [];
  for (let round = 0; round < rounds; round++) {
    const read = (side: Side) => measure(bench, side, roundMs);
    if (round % 2 === 0) {
      const first = await read(baseline);
      found.push({ baseline: first, subject: await read(subject) });
    } else {
      const first = await read(subject);
      found.push({ subject: first, baseline: await read(baseline) });
    }
  }
  return {
    ratio: spreadOf(found.map(({ subject, baseline }) => subject.perSecond / baseline.perSecond)),
    byCpu: spreadOf(found.map(({ subject, baseline }) => baseline.cpuMicroseconds / subject.cpuMicroseconds)),
    subject: middleOf(found.map(({ subject }) => subject)),
    baseline: middleOf(found.map(({ baseline }) => baseline)),
  };
}

/** Until the path is compiled. Responses are checked only when they are measured. */
export async function warmUp(bench: Bench, side: Side): Promise<void> {
  const { roundMs, warmUp } = bench.pace;
  let answered = 0;
  for (let round = 0; round < warmUp.rounds && answered < warmUp.requests; round++) {
    const requests = await side.requests();
    answered += (await bench.load.run({ ...jobOf(side), requests, ms: roundMs })).answered;
    await side.leftBehind?.();
  }
}

export async function measure(bench: Bench, side: Side, ms: number): Promise<Speed> {
  const requests = await side.requests();
  const before = { ms: 0, cpu: 0, postgres: 0, arrived: (await side.arrived?.()) ?? 0 };
  const outcome = await bench.load.run({ ...jobOf(side), requests, ms }, async () => {
    before.cpu = await cpuOf(side.servers);
    before.postgres = bench.postgresMicroseconds();
    before.ms = performance.now();
  });
  const { answered, worked, statuses, perSecond, busy } = outcome;
  requireStatus(statuses, side.status);
  const { textsPerRequest = 1 } = side;
  const texts = worked * textsPerRequest;
  await untilArrived(side, before.arrived + texts);
  const untilArrivedMs = performance.now() - before.ms;
  const cpu = (await cpuOf(side.servers)) - before.cpu;
  const postgres = bench.postgresMicroseconds() - before.postgres;
  const left = (await side.leftBehind?.()) ?? 0;
  const perSecondInTime = perSecond * textsPerRequest * (1 - left / texts);
  return {
    answered,
    perSecond: side.arrived === undefined ? perSecondInTime : (texts * 1000) / untilArrivedMs,
    cpuMicroseconds: cpu / texts,
    postgresMicroseconds: postgres / texts,
    loadBusy: busy,
  };
}

async function untilArrived({ arrived }: Side, count: number): Promise<void> {
  if (arrived === undefined) return;
  const untilMs = performance.now() + arriveWithinMs;
  while ((await arrived()) < count) {
    if (performance.now() > untilMs) throw new Error(`some texts did not arrive within ${arriveWithinMs / 1000} s`);
    await new Promise((done) => setTimeout(done, 10));
  }
}

/** What a side asks of the load, but for the requests and the time. */
export function jobOf({ servers, connections = usualConnections, once = false }: Side) {
  return { ports: servers.map(({ port }) => port), connections, once };
}

/** A few others may be among them, such as what a limit of 60 a minute admits. */
export function requireStatus(statuses: Record<string, number>, wanted: string): void {
  const all = Object.values(statuses).reduce((sum, count) => sum + count, 0);
  if (all === 0) throw new Error('nothing was answered in a whole round');
  if ((statuses[wanted] ?? 0) < all * 0.95) {
    throw new Error(`wanted ${wanted}, got ${JSON.stringify(statuses)}`);
  }
}

async function cpuOf(servers: Server[]): Promise<number> {
  const used = await Promise.all(servers.map((server) => server.cpuMicroseconds()));
  return used.reduce((sum, one) => sum + one, 0);
}

export function median(values: number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1] ?? 0;
}

export function spreadOf(values: number[]): Spread {
  return { median: median(values), low: Math.min(...values), high: Math.max(...values) };
}

function middleOf(speeds: Speed[]): Speed {
  const middle = (of: (speed: Speed) => number) => median(speeds.map(of));
  return {
    answered: middle(({ answered }) => answered),
    perSecond: middle(({ perSecond }) => perSecond),
    cpuMicroseconds: middle(({ cpuMicroseconds }) => cpuMicroseconds),
    postgresMicroseconds: middle(({ postgresMicroseconds }) => postgresMicroseconds),
    loadBusy: middle(({ loadBusy }) => loadBusy),
  };
}
