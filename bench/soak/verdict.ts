import type { Promised } from './ledger.ts';
import type { OperationTimes } from './meter.ts';
import type { Sample, Watched } from './samples.ts';
import { judgeSizes } from './size-verdict.ts';
import { type Point, type Reading, trendOf } from './trend.ts';
import { type Line, leastJudgedMs, readable } from './verdict-line.ts';

export interface Findings {
  watched: Watched;
  promises: Promised[];
  operations: OperationTimes[];
  /** Requests that could not be sent because thousands of others had no answer. */
  left: number;
  /** Why the service ended during the run, if it did. */
  ended: string | undefined;
}

export const slowestP99Ms = 250;
/** Fewer times than this have no 99th percentile. */
const fewTimes = 100;
const minuteMs = 60_000;
/** Caches fill and pools grow in the first quarter, which is not judged. */
const warmUpShare = 0.25;

/** Connections are opened when they are first needed, which takes a few minutes too. */
const leastCountedMs = 5 * minuteMs;

/** Without these the run has seen nothing, and may not pass. */
const needed = [
  'an accepted text is stored, once',
  'an accepted text ends',
  'a right code counts once',
  'a revoked token is refused at once',
  'the feed has every event',
  'the stream has every event',
  'the webhook has every event',
];

export function judge(findings: Findings): Line[] {
  const { watched, promises, operations, left, ended } = findings;
  return [
    ...judgePromises(promises),
    { name: 'The service ran through', found: ended ?? 'yes', holds: ended === undefined },
    {
      name: 'The load could be sent',
      found: left === 0 ? 'all of it' : `${left} requests were left out`,
      holds: left === 0,
    },
    ...operations.flatMap(judgeTimes),
    ...judgeTrends(watched.samples),
    ...judgeSizes(settled(watched.sizes)),
  ];
}

export function passes(lines: Line[]): boolean {
  return lines.every(({ holds }) => holds !== false);
}

function judgePromises(promises: Promised[]): Line[] {
  const broken = promises.filter((each) => each.broken > 0);
  const unseen = needed.filter((name) => !promises.some((each) => each.name === name && each.checked > 0));
  const checks = promises.reduce((sum, each) => sum + each.checked, 0);
  const name = 'Every promise was kept';
  if (broken.length === 0 && unseen.length === 0)
    return [{ name, found: `${promises.length} promises, checked ${checks.toLocaleString('en')} times`, holds: true }];
  return [
    ...broken.map(({ name, checked, broken, first }) => ({
      name: sentence(name),
      found: `broken ${broken} times of ${checked.toLocaleString('en')}; the first: ${first ?? 'not noted'}`,
      holds: false,
    })),
    ...unseen.map((name) => ({ name: sentence(name), found: 'never seen in this run', holds: false })),
  ];
}

/** How long a code takes to a phone depends on carriers: it is reported, not judged. */
export const unjudged = 'code on the phone';

function judgeTimes({ operation, usual }: OperationTimes): Line[] {
  if (operation === unjudged || usual.count < fewTimes) return [];
  const p99 = usual.at(0.99);
  const found = `${readable(p99)} ms (median ${readable(usual.at(0.5))}, slowest ${readable(usual.slowestMs)})`;
  return [{ name: `p99 of ${operation}`, found, holds: p99 < slowestP99Ms }];
}

interface Watch {
  name: string;
  unit: 'MB' | '';
  reading: Reading;
  of(sample: Sample): number | undefined;
  /** Growth up to the larger of the two is no leak. */
  allowed: { amount: number; share: number };
  /** What counts single things settles at once. */
  isCount?: boolean;
}

const megabyte = 1e6;
const watches: Watch[] = [
  {
    name: 'Heap of the service after collections',
    unit: 'MB',
    reading: 'low',
    of: ({ heapBytes }) => heapBytes / megabyte,
    allowed: { amount: 8, share: 0.1 },
  },
  {
    name: 'Memory of the service',
    unit: 'MB',
    reading: 'middle',
    of: ({ residentBytes }) => residentBytes && residentBytes / megabyte,
    allowed: { amount: 20, share: 0.08 },
  },
  {
    name: 'Memory of Postgres, without shared buffers',
    unit: 'MB',
    reading: 'middle',
    of: ({ postgresBytes }) => postgresBytes && postgresBytes / megabyte,
    allowed: { amount: 20, share: 0.15 },
  },
  {
    name: 'Descriptors of the service',
    unit: '',
    reading: 'middle',
    of: ({ descriptors }) => descriptors,
    allowed: { amount: 6, share: 0.05 },
    isCount: true,
  },
  {
    name: 'Processes of Postgres',
    unit: '',
    reading: 'middle',
    of: ({ postgresProcesses }) => postgresProcesses,
    allowed: { amount: 4, share: 0.05 },
    isCount: true,
  },
];

function judgeTrends(samples: Sample[]): Line[] {
  const judged = settled(samples);
  return watches.flatMap(({ name, unit, reading, of, allowed, isCount = false }) => {
    const points = judged.flatMap((sample): Point[] => {
      const value = of(sample);
      return value === undefined || Number.isNaN(value) ? [] : [{ atMs: sample.atMs, value }];
    });
    if (points.length === 0) return [];
    return [judgeTrend(name, points, { unit, reading, allowed, leastMs: isCount ? leastCountedMs : leastJudgedMs })];
  });
}

export interface TrendRule {
  unit: string;
  reading: Reading;
  allowed: { amount: number; share: number };
  leastMs: number;
}

/** It grows if it surely rises, and by more than what is allowed. */
export function judgeTrend(name: string, points: Point[], { unit, reading, allowed, leastMs }: TrendRule): Line {
  const { level, grown, perHour, isRising } = trendOf(points, reading);
  const most = Math.max(allowed.amount, allowed.share * level);
  const isJudged = spanMs(points) >= leastMs;
  const grows = isRising && grown > most;
  const what = withUnit(readable(level), unit);
  const slope = `${perHour < 0 ? '−' : '+'}${withUnit(readable(Math.abs(perHour)), unit)}/h`;
  if (grows && isJudged) return { name, found: `grows ${slope.slice(1)}, from about ${what}`, holds: false };
  if (!isJudged) return { name, found: `${what}; too short a run to judge a leak`, holds: undefined };
  return { name, found: `flat at ${what} (${slope}, ${readable(most)} may come and go)`, holds: true };
}

/** What comes behind the warm-up. */
export function settled<Each extends { atMs: number }>(all: Each[]): Each[] {
  const fromMs = (all[0]?.atMs ?? 0) + warmUpShare * spanMs(all);
  return all.filter(({ atMs }) => atMs >= fromMs);
}

function spanMs(all: { atMs: number }[]): number {
  return (all.at(-1)?.atMs ?? 0) - (all[0]?.atMs ?? 0);
}

function withUnit(value: string, unit: string): string {
  return unit === '' ? value : `${value} ${unit}`;
}

function sentence(name: string): string {
  return (name[0] ?? '').toUpperCase() + name.slice(1);
}
