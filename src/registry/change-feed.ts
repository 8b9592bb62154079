import { type Clock, toTimestamp } from '../platform/clock.ts';
import type { Database, Tx } from '../platform/database/database.ts';
import { type Listener, openListener } from '../platform/database/listener.ts';
import type { Log } from '../platform/log.ts';
import { createFairShare } from '../platform/work/fair-share.ts';
import { patiently } from '../platform/work/patiently.ts';
import { createPoller } from '../platform/work/poller.ts';
import { recordChange } from './change-store.ts';

/** A process that follows the feed. Null where an older version does not write the value. */
export interface SeenNode {
  id: string;
  version: string | null;
  role: string | null;
  startedAtMs: number | null;
  seenAtMs: number;
  /** False if it has not been seen for some seconds. */
  live: boolean;
  /** Whether this is the node that answers the request. */
  own: boolean;
}

/** What a node publishes about itself. */
export interface AboutNode {
  version: string;
  role: string;
  /** Where people reach its portal. */
  publicUrl: string;
}

export interface Change {
  seq: number;
  applicationId: string;
}

/**
 * Makes a confirmed change true on every node. A change writes a row in its own transaction; every node reads the rows,
 * drops what changed and acknowledges; then the change returns. A node that cannot follow stops trusting its cache
 * first.
 */
export interface ChangeFeed {
  start(): Promise<void>;
  stop(): Promise<void>;
  /** False when this node may have missed a change: it must not use its caches. */
  isTrusted(): boolean;
  /** Rises with every change applied here. A cache compares it before and after it reads the database. */
  readonly generation: number;
  /** Whether nothing has changed since this generation and this node is trusted. */
  isUnchanged(since: number): boolean;
  /** Nodes that followed the feed at this node's last acknowledgement, itself included. */
  readonly liveCount: number;
  /** Nodes that follow the feed now, this one included. */
  liveNodes(): Promise<SeenNode[]>;
  /** Also those that were seen in the last minute; the oldest first. */
  recentNodes(): Promise<SeenNode[]>;
  /**
   * Runs a change of one application. Resolves when no node can act on the old state. `also` names another application
   * that the work has changed, which it may only learn in the transaction.
   */
  change<Result>(applicationId: string, work: ChangeWork<Result>): Promise<Result>;
  /** Resolves when no node can act on a state older than the latest commit. Changes nothing. */
  settled(): Promise<void>;
}

export type ChangeWork<Result> = (tx: Tx, also: (applicationId: string) => void) => Promise<Result>;

export interface ChangeFeedOptions {
  database: Database;
  clock: Clock;
  log: Log;
  nodeId: string;
  about?: AboutNode | undefined;
  onChange: (change: Change) => void;
  /** Called when the feed may have lost changes: drop everything. */
  onLost: () => void;
  /** NOTIFY only makes polling faster; tests may turn it off. */
  listen?: boolean;
  /** How often a resting node polls: often enough to stay live. */
  restingPollMs?: number;
}

const pollEveryMs = 200;
/** A node rests when no request has needed its caches for this long. NOTIFY and the next request wake it. */
const restsAfterMs = 10_000;
const trustedForMs = 1000;
/** Longer than `trustedForMs`: a node that has not acknowledged by then no longer trusts its caches. */
const settleWithinMs = 1200;
const settleStepMs = 20;
const liveForMs = 5000;
/** Changes wait for nodes that are live: a node that was seen this long ago is live for as long as it trusts what it reads now. */
const seenForMs = 3000;
/** Well below the hour that changes are kept: after this long without a poll, missed rows may be deleted. */
const lostAfterMs = 600_000;
/** Rows per query. */
const changesRead = 1000;
const channel = 'heliograph_registry';
/** Postgres runs changes one after another, so more at once would only occupy connections. */
const changesAtOnce = { concurrent: 2, perCaller: 1, waitingPerCaller: 200, waitMs: 3000 };

export function createChangeFeed(options: ChangeFeedOptions): ChangeFeed {
  const { database, clock, log, nodeId, about, onChange, onLost, listen = true, restingPollMs = 2000 } = options;
  const startedAt = toTimestamp(clock.nowMs());
  const { primary } = database;
  let appliedSeq = 0;
  /** The primary's epoch at the last good poll. */
  let appliedEpoch = primary?.epoch;
  let generation = 0;
  let lastGoodPollMs = Number.NEGATIVE_INFINITY;
  let lastSeenMs = Number.NEGATIVE_INFINITY;
  let lastAskedMs = Number.NEGATIVE_INFINITY;
  /** No request has asked lately whether this node's caches can be trusted. */
  const isResting = (nowMs: number) => nowMs - lastAskedMs > restsAfterMs;
  const poller = createPoller({
    run: readChanges,
    pauseMs: () => (isResting(clock.steadyMs()) ? restingPollMs : pollEveryMs),
    // Trust expires by itself, and the next poll may succeed.
    onFailure: ({ message: reason }) => log.debug({ reason }, 'the change feed could not be read'),
  });
  let listener: Listener | undefined;
  let liveCount = 1;
  const turns = createFairShare(changesAtOnce);

  function isTrusted(): boolean {
    const nowMs = clock.steadyMs();
    if (isResting(nowMs)) poller.hurry();
    lastAskedMs = nowMs;
    if (lastAskedMs - lastGoodPollMs > trustedForMs) return false;
    // With several hosts the last poll may have read an old primary.
    return primary === undefined || (appliedEpoch === primary.epoch && primary.current() !== undefined);
  }

  async function readChanges(): Promise<void> {
    const epoch = primary?.epoch;
    // The new primary may lack changes that the old one showed, and give their numbers to others.
    if (epoch !== appliedEpoch) appliedSeq = 0;
    // After a silence, as in a failover, no change waits for this node until the others see it.
    if (clock.steadyMs() - lastSeenMs > seenForMs) await beSeen(clock.steadyMs());
    const beganMs = clock.steadyMs();
    let applied = 0;
    for (let more = true; more; ) {
      const { rows } = await database.query<{ seq: number; application_id: string }>(selectChanges, [
        appliedSeq,
        changesRead,
      ]);
      if (beganMs - lastGoodPollMs > lostAfterMs || epoch !== appliedEpoch) {
        generation++;
        onLost();
      }
      for (const row of rows) apply({ seq: row.seq, applicationId: row.application_id });
      applied += rows.length;
      more = rows.length === changesRead;
    }
    // If the primary changed meanwhile, the next poll begins again.
    if (primary?.epoch === epoch) {
      lastGoodPollMs = beganMs;
      appliedEpoch = epoch;
    }
    if (applied > 0 || beganMs - lastSeenMs > liveForMs / 5) await beSeen(beganMs);
  }

  async function beSeen(nowMs: number): Promise<void> {
    await acknowledge();
    lastSeenMs = nowMs;
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
      about?.version ?? null,
      about?.role ?? null,
      startedAt,
      about?.publicUrl ?? null,
    ]);
    liveCount = 1 + (rows[0]?.others ?? 0);
  }

  /** Waits until every live node has applied `seq`, or until the others no longer trust their caches. */
  async function settle(seq: number): Promise<void> {
    const committedMs = clock.steadyMs();
    await poller.poll().catch(() => {});
    for (let waitedMs = 0; waitedMs < settleWithinMs; waitedMs += settleStepMs) {
      if (await everyNodeHas(seq).catch(() => false)) return;
      // Count the time of the queries as well: they are slow while the database is away.
      if (clock.steadyMs() - committedMs >= settleWithinMs) return;
      await new Promise((done) => setTimeout(done, settleStepMs));
    }
  }

  async function everyNodeHas(seq: number): Promise<boolean> {
    const { rows } = await database.query(selectBehind, [nodeId, seq]);
    return rows.length === 0;
  }

  async function readNodes(): Promise<SeenNode[]> {
    const { rows } = await database.query<SeenNode>(selectNodes, [nodeId]);
    return rows;
  }

  async function newestSeq(): Promise<number> {
    const { rows } = await database.query<{ seq: number }>('select coalesce(max(seq), 0) as seq from registry_change');
    return rows[0]?.seq ?? 0;
  }

  return {
    async start() {
      appliedSeq = await patiently(newestSeq);
      primary?.onSwitch(() => poller.hurry());
      lastGoodPollMs = clock.steadyMs();
      lastAskedMs = lastGoodPollMs;
      await patiently(acknowledge);
      if (listen) {
        listener = await openListener({ database, channel, onNotified: () => void poller.poll().catch(() => {}) });
      }
      await patiently(poller.poll);
      poller.start();
    },

    async stop() {
      await listener?.stop();
      await poller.stop();
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

    liveNodes: async () => (await readNodes()).filter(({ live }) => live),
    recentNodes: readNodes,

    settled: async () => settle(await newestSeq()),

    async change(applicationId, work) {
      const commit = () =>
        database.transaction(async (tx) => {
          const changed = new Set([applicationId]);
          const result = await work(tx, (other) => void changed.add(other));
          const changes: Change[] = [];
          for (const id of changed) changes.push({ seq: await recordChange(tx, id, clock.nowMs()), applicationId: id });
          return { result, changes };
        });
      const { result, changes } = await turns.run(applicationId, commit);
      // This node applies its change at once, even if the poll fails. `appliedSeq` stays: earlier changes of other
      // nodes may be unread.
      generation++;
      for (const change of changes) onChange(change);
      await settle(changes.at(-1)?.seq ?? 0);
      return result;
    },
  };
}

/**
 * Uses the database's clock, which all nodes share: a node whose clock drifts must not look dead to the others. This is
 * the exception to "SQL gets the time as a parameter".
 */
export const isLive = `seen_at > clock_timestamp() - interval '${liveForMs} milliseconds'`;

const selectChanges = {
  name: 'select-registry-changes',
  text: 'select seq, application_id from registry_change where seq > $1 order by seq limit $2',
};

const upsertNode = {
  name: 'upsert-node',
  text: `insert into node (id, acknowledged_seq, seen_at, version, role, started_at, public_url)
    values ($1, $2, clock_timestamp(), $3, $4, $5, $6)
    on conflict (id) do update set acknowledged_seq = $2, seen_at = clock_timestamp()
    returning (select count(*)::integer from node where id <> $1 and ${isLive}) as others`,
};

const selectBehind = {
  name: 'select-nodes-behind',
  text: `select id from node where id <> $1 and ${isLive} and acknowledged_seq < $2 limit 1`,
};

const selectNodes = {
  name: 'select-nodes',
  text: `select id, version, role, started_at as "startedAtMs", seen_at as "seenAtMs", ${isLive} as live, id = $1 as own
    from node where seen_at > clock_timestamp() - interval '1 minute' order by started_at, id limit 1000`,
};
