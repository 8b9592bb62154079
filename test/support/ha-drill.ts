import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import type { Member } from '../../scripts/ha/patroni.ts';
import { eventually } from './eventually.ts';
import { tellFigure } from './figures.ts';
import type { HaWorld } from './ha-world.ts';

/** One fault, in ms from it. */
interface Measured {
  /** Until a program that knows the servers has committed a write, with its standby, at the new primary. */
  patroniMs: number;
  /** Until a text was answered again. */
  writesMs: number;
  /** Until the last request that was answered 503, late or not at all. */
  calmMs: number;
}

export interface Drill {
  measure(breakIt: () => Promise<unknown>, isOver: (primary: Member) => boolean): Promise<void>;
  /** Reports the figures, and compares them with the promise. */
  end(what: string): void;
}

/** A write is answered at most this long after Patroni's own time. */
const promisedMs = 3000;
/** Later than this an answer is late. */
const lateMs = 2000;
const watchedForMs = 8000;

export function createDrill({ postgres, nodes, load }: HaWorld): Drill {
  const { entries } = load.history;
  const done: Measured[] = [];

  /** When a write first commits at a member that `isOver` takes. */
  async function untilWritable(isOver: (primary: Member) => boolean): Promise<number> {
    const write = (member: Member) =>
      postgres.inDatabase(member, 'postgres', (admin) =>
        admin.query("select pg_logical_emit_message(true, 'drill', '')"),
      );
    return eventually(
      'a member takes writes',
      async () => {
        const tried = postgres.members.filter(isOver).map((member) => write(member).then(() => performance.now()));
        return Promise.any(tried).catch(() => undefined);
      },
      { withinMs: 180_000, everyMs: 100 },
    );
  }

  function answeredSends(): number[] {
    return entries
      .filter(({ operation, status }) => operation === 'send' && status === 201)
      .map(({ startedMs, tookMs }) => startedMs + tookMs);
  }

  /** When the longest time without an answered text ended. */
  function endOfGap(sinceMs: number): number {
    const times = answeredSends().filter((atMs) => atMs > sinceMs - 1000);
    const gaps = times.map((atMs, place) => ({ atMs, gapMs: atMs - (times[place - 1] ?? atMs) }));
    return gaps.toSorted((one, other) => other.gapMs - one.gapMs)[0]?.atMs ?? assert.fail('no text was answered');
  }

  /** What callers and nodes saw last. */
  function explain(error: Error): never {
    const last = entries
      .slice(-30)
      .map(({ operation, status, tookMs }) => `${operation} ${status} ${Math.round(tookMs)}`);
    const said = nodes.map((node) => node.output().slice(-6000));
    throw new Error([error.message, last.join(', '), ...said].join('\n'));
  }

  return {
    async measure(breakIt, isOver) {
      await postgres.whole();
      const brokenMs = performance.now();
      await breakIt();
      const writableMs = await untilWritable(isOver);
      const isAnswered = () => answeredSends().some((atMs) => atMs > writableMs);
      await eventually('texts are accepted again', isAnswered, { withinMs: 60_000, everyMs: 50 }).catch(explain);
      await pause(watchedForMs);
      const troubled = entries.filter(
        (entry) => entry.startedMs > brokenMs && (entry.outcome === 'unknown' || entry.tookMs > lateMs),
      );
      const calmMs = Math.max(0, ...troubled.map(({ startedMs }) => startedMs - brokenMs));
      const measured = { patroniMs: writableMs - brokenMs, writesMs: endOfGap(brokenMs) - brokenMs, calmMs };
      done.push(measured);
      process.stderr.write(
        `${done.length}: ${JSON.stringify(measured, (_, value) => (typeof value === 'number' ? Math.round(value) : value))}\n`,
      );
    },
    end(what) {
      const beyond = done.map(({ patroniMs, writesMs }) => Math.max(0, writesMs - patroniMs));
      tellFigure(
        `${what}: ${done.length}; ms from the fault until Patroni's new primary took a write ${spread(done.map(({ patroniMs }) => patroniMs))}, ` +
          `then until a text was answered ${spread(beyond)}; last 503 or late answer ${spread(done.map(({ calmMs }) => calmMs))}`,
      );
      assert.ok(
        p95(beyond) < promisedMs,
        `writes were answered ${Math.round(p95(beyond))} ms after Patroni's own time`,
      );
    },
  };
}

function p95(values: number[]): number {
  return values.toSorted((one, other) => one - other)[Math.ceil(values.length * 0.95) - 1] ?? 0;
}

function spread(values: number[]): string {
  const sorted = values.toSorted((one, other) => one - other).map(Math.round);
  return `${sorted[Math.floor(sorted.length / 2)]} (p95 ${Math.round(p95(values))}, at most ${sorted.at(-1)})`;
}

/** `HELIOGRAPH_DRILLS` may ask for fewer than the full number. */
export function turnsOf(full: number): number[] {
  const asked = Number(process.env.HELIOGRAPH_DRILLS ?? full);
  return Array.from({ length: Math.min(asked, full) }, (_, turn) => turn);
}
