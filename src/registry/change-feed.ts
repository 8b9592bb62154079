import type { Clock } from '../platform/clock.ts';
import { toTimestamp } from '../platform/clock.ts';
import type { Database, Tx } from '../platform/database.ts';
import { createFairShare } from '../platform/fair-share.ts';
import { type Listener, openListener } from '../platform/listener.ts';
import type { Log } from '../platform/log.ts';

export interface Change {
  seq: number;
  applicationId: string;
}

/**
 * How "answered" comes to mean "true on every node". A change writes its row in its own transaction; every node follows
 * the rows, forgets what changed and acknowledges; the change is answered when all have. A node that cannot follow stops
 * trusting what it remembers before the change stops waiting for it.
 */
export interface ChangeFeed {
  start(): Promise<void>;
  stop(): Promise<void>;
  /** False when this node may have missed a change: then nothing remembered may be used. */
  isTrusted(): boolean;
  /** Rises with every change applied here. Whoever fills a memory compares it before and after reading the database. */
  readonly generation: number;
  /** Whether nothing has changed since this generation, as far as this node can be trusted to know. */
  isUnchanged(since: number): boolean;
  /** How many nodes followed it when this one last said that it does, itself among them. */
  readonly liveCount: number;
  /** The nodes that follow it now, this one among them. */
  liveNodes(): Promise<{ id: string; seenAtMs: number }[]>;
  /** Runs a change of one application, and resolves when no node can act on the old state any more. */
  change<Result>(applicationId: string, work: (tx: Tx) => Promise<Result>): Promise<Result>;
  /** Resolves when no node can act on a state older than what is committed now. Changes nothing. */
  settled(): Promise<void>;
}

export interface ChangeFeedOptions {
  database: Database;
  clock: Clock;
  log: Log;
  nodeId: string;
  onChange: (change: Change) => void;
  /** More may have changed than the feed still tells. */
  onLost: () => void;
  /** NOTIFY only hurries; a test may do without. */
  listen?: boolean;
}

const pollEveryMs = 200;
const trustedForMs = 1000;
/** Longer than `trustedForMs`: a node that has not acknowledged by then trusts nothing it remembers. */
const settleWithinMs = 1200;
const settleStepMs = 20;
const liveForMs = 5000;
/** Well below the hour that changes are kept: after so long without a poll, missed rows may have been deleted. */
const lostAfterMs = 600_000;
/** Of one query. */
const changesRead = 1000;
const channel = 'heliograph_registry';
/** Changes wait for one another in the database: more of them would only occupy connections. */
const changesAtOnce = { concurrent: 2, perCaller: 1, waitingPerCaller: 200, waitMs: 3000 };

export function createChangeFeed(options: ChangeFeedOptions): ChangeFeed {
  const { database, clock, log, nodeId, onChange, onLost, listen = true } = options;
  let appliedSeq = 0;
  let generation = 0;
  let lastGoodPollMs = Number.NEGATIVE_INFINITY;
  let lastSeenMs = Number.NEGATIVE_INFINITY;
  let timer: NodeJS.Timeout | undefined;
  let polling: Promise<void> | undefined;
  let again = false;
  let listener: Listener | undefined;
  let liveCount = 1;
  let stopped = false;
  const turns = createFairShare(changesAtOnce);

  function isTrusted(): boolean {
    return clock.steadyMs() - lastGoodPollMs <= trustedForMs;
  }

  /** Reads what is new. Polls never overlap; one asked for during another runs right after it. */
  function poll(): Promise<void> {
    if (polling !== undefined) {
      again = true;
      return polling.then(() => (again ? poll() : undefined));
    }
    again = false;
    polling = readChanges().finally(() => {
      polling = undefined;
    });
    return polling;
  }

  async function readChanges(): Promise<void> {
    const beganMs = clock.steadyMs();
    let applied = 0;
    for (let more = true; more; ) {
      const { rows } = await database.query<{ seq: number; application_id: string }>(selectChanges, [
        appliedSeq,
        changesRead,
      ]);
      if (beganMs - lastGoodPollMs > lostAfterMs) {
        generation++;
        onLost();
      }
      for (const row of rows) apply({ seq: row.seq, applicationId: row.application_id });
      applied += rows.length;
      more = rows.length === changesRead;
    }
    lastGoodPollMs = beganMs;
    if (applied > 0 || beganMs - lastSeenMs > liveForMs / 5) {
      await acknowledge();
      lastSeenMs = beganMs;
    }
  }

  function apply(change: Change): void {
    generation++;
    appliedSeq = Math.max(appliedSeq, change.seq);
    onChange(change);
  }

  async function acknowledge(): Promise<void> {
    const { rows } = await database.query<{ others: number }>(upsertNode, [nodeId, appliedSeq]);
    liveCount = 1 + (rows[0]?.others ?? 0);
  }

  function schedule(): void {
    if (stopped) return;
    timer = setTimeout(() => {
      // A failed poll needs no answer here: trust lapses by itself, and the next one may succeed.
      poll()
        .catch((error: Error) => log.debug({ reason: error.message }, 'the change feed could not be read'))
        .finally(schedule);
    }, pollEveryMs);
    timer.unref();
  }

  /** Waits until every live node has applied `seq`, or until those that have not no longer trust their memory. */
  async function settle(seq: number): Promise<void> {
    const committedMs = clock.steadyMs();
    await poll().catch(() => {});
    for (let waitedMs = 0; waitedMs < settleWithinMs; waitedMs += settleStepMs) {
      if (await everyNodeHas(seq).catch(() => false)) return;
      // With the database away each question takes its time as well.
      if (clock.steadyMs() - committedMs >= settleWithinMs) return;
      await new Promise((done) => setTimeout(done, settleStepMs));
    }
  }

  async function everyNodeHas(seq: number): Promise<boolean> {
    const { rows } = await database.query(selectBehind, [nodeId, seq]);
    return rows.length === 0;
  }

  async function newestSeq(): Promise<number> {
    const { rows } = await database.query<{ seq: number }>('select coalesce(max(seq), 0) as seq from registry_change');
    return rows[0]?.seq ?? 0;
  }

  return {
    async start() {
      appliedSeq = await newestSeq();
      lastGoodPollMs = clock.steadyMs();
      await acknowledge();
      if (listen) {
        listener = await openListener({ database, channel, onNotified: () => void poll().catch(() => {}) });
      }
      await poll();
      schedule();
    },

    async stop() {
      stopped = true;
      clearTimeout(timer);
      await listener?.stop();
      await polling?.catch(() => {});
      await database.query('delete from node where id = $1', [nodeId]).catch(() => {});
    },

    isTrusted,
    isUnchanged: (since) => since === generation && isTrusted(),

    get generation() {
      return generation;
    },

    get liveCount() {
      return liveCount;
    },

    async liveNodes() {
      const { rows } = await database.query<{ id: string; seenAtMs: number }>(selectLive);
      return rows;
    },

    settled: async () => settle(await newestSeq()),

    async change(applicationId, work) {
      const commit = () =>
        database.transaction(async (tx) => {
          const result = await work(tx);
          const { rows } = await tx.query<{ seq: number }>(recordChange, [applicationId, toTimestamp(clock.nowMs())]);
          return { result, seq: rows[0]?.seq ?? 0 };
        });
      const { result, seq } = await turns.run(applicationId, commit);
      // This node forgets at once, whatever becomes of the poll. `appliedSeq` stays: others' changes may lie before.
      generation++;
      onChange({ seq, applicationId });
      await settle(seq);
      return result;
    },
  };
}

/**
 * By the database's clock, the one that all nodes share: a node whose own clock drifts must not look dead to the others.
 * This is the exception to "SQL gets the time as a parameter".
 */
const isLive = `seen_at > clock_timestamp() - interval '${liveForMs} milliseconds'`;

const recordChange = { name: 'record-registry-change', text: 'select record_registry_change($1, $2) as seq' };

const selectChanges = {
  name: 'select-registry-changes',
  text: 'select seq, application_id from registry_change where seq > $1 order by seq limit $2',
};

const upsertNode = {
  name: 'upsert-node',
  text: `insert into node (id, acknowledged_seq, seen_at) values ($1, $2, clock_timestamp())
    on conflict (id) do update set acknowledged_seq = $2, seen_at = clock_timestamp()
    returning (select count(*)::integer from node where id <> $1 and ${isLive}) as others`,
};

const selectBehind = {
  name: 'select-nodes-behind',
  text: `select id from node where id <> $1 and ${isLive} and acknowledged_seq < $2 limit 1`,
};

const selectLive = {
  name: 'select-live-nodes',
  text: `select id, seen_at as "seenAtMs" from node where ${isLive} order by id limit 1000`,
};
