// Tests: test/model/events/model.test.ts, test/faults/event-positions.test.ts
import type { Database, Statement } from '../platform/database/database.ts';
import { unavailable } from '../platform/errors.ts';
import { firstView, learn, type Poll } from './horizon-rule.ts';
import { newestPosition } from './position.ts';
import { isOurs } from './running-transactions.ts';

/**
 * How far events can be read. Transactions commit in another order than they take positions, and a crash of Postgres
 * frees positions whose log was not on disk. Up to the horizon no more events can appear.
 */
export interface Horizon {
  /** Polls. The result never decreases. */
  read(): Promise<number>;
  /** The newest position now. Resolves when every event up to it can be read. */
  reachNow(): Promise<number>;
}

/** The pause between polls that wait for earlier writers to end. No writer runs longer than a few seconds. */
const betweenPollsMs = 20;
const maxPolls = 250;

export function createHorizon(database: Database): Horizon {
  let view = firstView;
  // Polls must not overtake each other: a writer that an older poll does not know would seem to have ended.
  const poll = oneAfterAnother(async () => {
    // A full disk stops writers, not readers.
    const made = view.lacksLog
      ? await runPoll(database, writingPollStatement).catch(() => runPoll(database))
      : await runPoll(database);
    view = learn(view, made);
    return made;
  });

  /** A primary that fails may have given out positions that its standby has not seen: wait until it has. */
  let confirmedTo = 0;
  async function confirmed(position: number): Promise<number> {
    if (database.primary !== undefined && position > confirmedTo) {
      await database.primary.confirm();
      confirmedTo = position;
    }
    return position;
  }

  return {
    async read() {
      const { last } = await poll();
      // Most writers end within a millisecond or two.
      if (view.safe < last) await poll();
      if (view.lacksLog) await poll();
      return confirmed(view.safe);
    },
    async reachNow() {
      let { last } = await poll();
      for (let polls = 0; view.safe < last; polls++) {
        if (polls === maxPolls) throw unavailable('The newest events cannot be read yet. Try again shortly.');
        if (polls > 0 && !view.lacksLog) await new Promise((resolve) => setTimeout(resolve, betweenPollsMs));
        // A crash of Postgres may have freed positions that no reader has seen.
        last = Math.min(last, (await poll()).last);
      }
      return confirmed(last);
    },
  };
}

/** Runs the act once at a time. Callers that arrive while it runs share the next run. */
function oneAfterAnother<Result>(act: () => Promise<Result>): () => Promise<Result> {
  let running: Promise<unknown> = Promise.resolve();
  let next: Promise<Result> | undefined;
  return () => {
    next ??= running.then(() => {
      next = undefined;
      const begun = act();
      running = begun.catch(() => {});
      return begun;
    });
    return next;
  };
}

async function runPoll(database: Database, statement = pollStatement): Promise<Poll> {
  const { rows } = await database.query<PollRow>(statement);
  const [row] = rows;
  if (row === undefined) throw new Error('the poll of the event horizon returned no row');
  return {
    last: Number(row.last),
    writers: new Set(row.writers),
    loggedTo: Number(row.loggedTo),
    onDiskTo: statement === pollStatement ? Number(row.onDiskTo) : Number.POSITIVE_INFINITY,
    oldestConnection: row.oldestConnection,
  };
}

interface PollRow {
  last: string;
  writers: string[] | null;
  loggedTo: string;
  onDiskTo: string;
  oldestConnection: string;
}

/**
 * `lateral` reads the position before the transactions, and the log offset after it. A transaction gets its id before
 * it takes a position (`insertEvents`), and loses it when its writes are visible.
 */
const pollText = (also: string) => `select p.last::text, w.writers, w."oldestConnection",
      (pg_current_wal_insert_lsn() - '0/0')::text as "loggedTo",
      (pg_current_wal_flush_lsn() - '0/0')::text as "onDiskTo"${also}
    from (select ${newestPosition} as last offset 0) p cross join lateral (
      select array_agg(a.backend_xid::text) filter (where a.backend_xid is not null and a.pid <> pg_backend_pid()) as writers,
        extract(epoch from min(a.backend_start))::text as "oldestConnection"
      from pg_stat_get_activity(null) a where ${isOurs} and p.last is not null) w`;

const pollStatement: Statement = { name: 'poll-event-horizon', text: pollText('') };

/** Its commit flushes the log to disk, so that a reader does not wait for the commit of another writer. */
const writingPollStatement: Statement = {
  name: 'poll-and-write-log',
  text: pollText(`, pg_logical_emit_message(true, 'heliograph', '')`),
};
