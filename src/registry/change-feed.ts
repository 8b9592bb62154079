import type { Clock } from '../platform/clock.ts';
import { toTimestamp } from '../platform/clock.ts';
import type { Database, Tx } from '../platform/database.ts';
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
const keptForMs = 3_600_000;
/** Well below `keptForMs`: after so long without a poll the rows missed may have been deleted. */
const lostAfterMs = 600_000;
const channel = 'heliograph_registry';

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
    const { rows } = await database.query<{ seq: number; application_id: string }>(selectChanges, [appliedSeq]);
    if (beganMs - lastGoodPollMs > lostAfterMs) {
      generation++;
      onLost();
    }
    for (const row of rows) apply({ seq: row.seq, applicationId: row.application_id });
    lastGoodPollMs = beganMs;
    if (rows.length > 0 || beganMs - lastSeenMs > liveForMs / 5) {
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
    const { rows } = await database.query<{ others: number }>(upsertNode, [
      nodeId,
      appliedSeq,
      toTimestamp(clock.nowMs()),
      toTimestamp(clock.nowMs() - liveForMs),
    ]);
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
    const { rows } = await database.query(selectBehind, [nodeId, toTimestamp(clock.nowMs() - liveForMs), seq]);
    return rows.length === 0;
  }

  return {
    async start() {
      const { rows } = await database.query<{ seq: number }>(
        'select coalesce(max(seq), 0) as seq from registry_change',
      );
      appliedSeq = rows[0]?.seq ?? 0;
      lastGoodPollMs = clock.steadyMs();
      await acknowledge();
      await database.query(deleteOld, [
        toTimestamp(clock.nowMs() - keptForMs),
        toTimestamp(clock.nowMs() - 10 * liveForMs),
      ]);
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
      const { rows } = await database.query<{ id: string; seenAtMs: number }>(selectLive, [
        toTimestamp(clock.nowMs() - liveForMs),
      ]);
      return rows;
    },

    async change(applicationId, work) {
      const { result, seq } = await database.transaction(async (tx) => {
        const result = await work(tx);
        const { rows } = await tx.query<{ seq: number }>(recordChange, [applicationId, toTimestamp(clock.nowMs())]);
        return { result, seq: rows[0]?.seq ?? 0 };
      });
      // This node forgets at once, whatever becomes of the poll. `appliedSeq` stays: others' changes may lie before.
      generation++;
      onChange({ seq, applicationId });
      await settle(seq);
      return result;
    },
  };
}

const recordChange = { name: 'record-registry-change', text: 'select record_registry_change($1, $2) as seq' };

const selectChanges = {
  name: 'select-registry-changes',
  text: 'select seq, application_id from registry_change where seq > $1 order by seq',
};

const upsertNode = {
  name: 'upsert-node',
  text: `insert into node (id, acknowledged_seq, seen_at) values ($1, $2, $3)
    on conflict (id) do update set acknowledged_seq = $2, seen_at = $3
    returning (select count(*)::integer from node where id <> $1 and seen_at > $4) as others`,
};

const selectBehind = {
  name: 'select-nodes-behind',
  text: 'select id from node where id <> $1 and seen_at > $2 and acknowledged_seq < $3 limit 1',
};

const selectLive = {
  name: 'select-live-nodes',
  text: 'select id, seen_at as "seenAtMs" from node where seen_at > $1 order by id',
};

const deleteOld = {
  name: 'delete-old-changes',
  text: 'with gone as (delete from node where seen_at < $2) delete from registry_change where changed_at < $1',
};
