import type { Database, Statement } from '../platform/database/database.ts';
import { unavailable } from '../platform/errors.ts';
import { firstView, type Look, learn } from './horizon-rule.ts';
import { newestPosition } from './position.ts';
import { isOurs } from './running-transactions.ts';

/**
 * How far events can be read. Transactions commit in another order than they take positions, so behind the newest event an
 * earlier one may still appear; and a crash of Postgres takes back positions whose log was not on disk, so that they are given
 * out again. Up to the horizon no event can appear any more.
 */
export interface Horizon {
  /** Looks anew. The result never goes back. */
  read(): Promise<number>;
  /** The newest position of this moment. Resolves when every event up to it can be read. */
  reachNow(): Promise<number>;
}

/** Waits before it looks again whether earlier writers have ended. None runs longer than a few seconds. */
const betweenLooksMs = 20;
const looksAtMost = 250;

export function createHorizon(database: Database): Horizon {
  let view = firstView;
  // Looks must not overtake each other: a writer that an older one does not know would seem to have ended.
  const look = oneAfterAnother(async () => {
    // A disk that is full stops writers, not readers.
    const made = view.lacksLog
      ? await lookAt(database, writingLookStatement).catch(() => lookAt(database))
      : await lookAt(database);
    view = learn(view, made);
    return made;
  });

  return {
    async read() {
      const { last } = await look();
      // Most writers end within a millisecond or two.
      if (view.safe < last) await look();
      if (view.lacksLog) await look();
      return view.safe;
    },
    async reachNow() {
      let { last } = await look();
      for (let looks = 0; view.safe < last; looks++) {
        if (looks === looksAtMost)
          throw unavailable('The events of this moment cannot be read yet. Try again shortly.');
        if (looks > 0 && !view.lacksLog) await new Promise((resolve) => setTimeout(resolve, betweenLooksMs));
        // A crash of Postgres may have taken positions back that nobody has read.
        last = Math.min(last, (await look()).last);
      }
      return last;
    },
  };
}

/** Runs the act for one caller after another. All that ask while it runs share the next run, which begins after they asked. */
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

async function lookAt(database: Database, statement = lookStatement): Promise<Look> {
  const { rows } = await database.query<LookRow>(statement);
  const [row] = rows;
  if (row === undefined) throw new Error('a look at the event horizon has no row');
  return {
    last: Number(row.last),
    writers: new Set(row.writers),
    loggedTo: Number(row.loggedTo),
    onDiskTo: statement === lookStatement ? Number(row.onDiskTo) : Number.POSITIVE_INFINITY,
    oldestConnection: row.oldestConnection,
  };
}

interface LookRow {
  last: string;
  writers: string[] | null;
  loggedTo: string;
  onDiskTo: string;
  oldestConnection: string;
}

/**
 * `lateral` reads the position before the transactions, and the log's place after it. A transaction has its id before it takes
 * a position (`insertEvents`), and loses it when what it has written can be seen.
 */
const lookText = (also: string) => `select p.last::text, w.writers, w."oldestConnection",
      (pg_current_wal_insert_lsn() - '0/0')::text as "loggedTo",
      (pg_current_wal_flush_lsn() - '0/0')::text as "onDiskTo"${also}
    from (select ${newestPosition} as last offset 0) p cross join lateral (
      select array_agg(a.backend_xid::text) filter (where a.backend_xid is not null and a.pid <> pg_backend_pid()) as writers,
        extract(epoch from min(a.backend_start))::text as "oldestConnection"
      from pg_stat_get_activity(null) a where ${isOurs} and p.last is not null) w`;

const lookStatement: Statement = { name: 'look-at-event-horizon', text: lookText('') };

/** Its commit brings the log up to this moment to disk, so that a reader does not wait until somebody else's does. */
const writingLookStatement: Statement = {
  name: 'look-and-write-the-log',
  text: lookText(`, pg_logical_emit_message(true, 'heliograph', '')`),
};
