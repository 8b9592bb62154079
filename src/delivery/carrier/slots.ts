// Tests: test/smpp/bind-slots.test.ts
//
// A carrier counts binds, not nodes: all nodes together hold at most `binds` slots. A slot is a session lock in Postgres,
// on one connection of its own for all carriers of a node, so it ends with the node, however that ends.
//
//   const slots = createBindSlots({ database, clock, log });
//   const want = slots.want({ carrierId: 7, binds: 4, onTaken(slot, wasJustFreed) { … }, onLost(slot) { … } });
//   want.setBinds(2);     // then end the binds of the slots above 2, and `want.release(slot)` each
//   await want.stop();    // after the binds of its slots were ended; gives the slots up
//   await slots.stop();
//
// `onLost` means that the lock is gone already: unbind at once (`supervisor.stop(0)`), because another node may bind.

import type { Clock } from '../../platform/clock.ts';
import { advisoryLocks } from '../../platform/database/advisory-locks.ts';
import type { Database, Session } from '../../platform/database/database.ts';
import type { Log } from '../../platform/log.ts';
import { createPoller } from '../../platform/work/poller.ts';

const { bindSlots: slotKey, wantedBinds: wantKey } = advisoryLocks;
const pollEveryMs = 2000;
/** Nodes that start together share the slots: a node takes more than its share only after this time. */
const moreAfterMs = 4000;
/** The binds of lost slots end within 5 s; only then does this node take slots again. */
const afterLossMs = 6000;
/** The carrier may count the session of a released slot for this long. */
const justFreedMs = 10_000;

export interface SlotWant {
  carrierId: number;
  binds: number;
  /** Maximum number of slots for this node; all by default. */
  atMost?: number;
  /** `wasJustFreed`: a moment ago a slot of this carrier was held, here or on another node. */
  onTaken: (slot: number, wasJustFreed: boolean) => void;
  onLost: (slot: number) => void;
}

export interface WantedSlots {
  /** The numbers of the held slots, from 1. */
  readonly held: ReadonlySet<number>;
  /** How many live nodes want slots of this carrier, this one included. */
  readonly nodes: number;
  /** The carrier allows more or fewer binds from now on. Slots above that are held until they are released. */
  setBinds(binds: number): void;
  /** Gives up one slot, after its bind was ended. */
  release(slot: number): Promise<void>;
  /** Wants no more slots, and releases those that it holds. */
  stop(): Promise<void>;
}

export interface BindSlots {
  want(want: SlotWant): WantedSlots;
  /** Takes the slots that it may have now. Runs by itself every 2 s, and at once when a carrier starts. */
  poll(): Promise<void>;
  stop(): Promise<void>;
}

interface Want extends SlotWant {
  held: Set<number>;
  nodes: number;
  /** When this request for slots was made, or last got a slot. */
  lastMs: number;
  /** It takes no slot before this time. */
  notBeforeMs: number;
  /** Whether the other nodes can see this request. */
  isKnown: boolean;
}

export function createBindSlots({ database, clock, log }: { database: Database; clock: Clock; log: Log }): BindSlots {
  const wants = new Set<Want>();
  /** When a slot of a carrier was last given up here, or seen with another node. */
  const freedMs = new Map<number, number>();
  let session: Session | undefined;
  let polling: Promise<void> = Promise.resolve();
  /** A poll that has not begun: it serves all callers until then. */
  let nextPoll: Promise<void> | undefined;
  let stopped = false;
  const poller = createPoller({ run: poll, pauseMs: pollEveryMs });
  poller.start();

  /** One poll at a time: the session counts locks, so two polls could take a slot twice. */
  function inTurn(work: () => Promise<void>): Promise<void> {
    polling = polling.then(work).catch((error: unknown) => {
      log.warn({ reason: (error as Error).message }, 'the bind slots could not be taken or released');
    });
    return polling;
  }

  function poll(): Promise<void> {
    nextPoll ??= inTurn(async () => {
      nextPoll = undefined;
      if (stopped || wants.size === 0) return;
      const current = await openedSession();
      const able = [...wants].filter(({ notBeforeMs }) => clock.steadyMs() >= notBeforeMs);
      for (const want of able) await makeKnown(current, want);
      const { rows } = await current.query<{ carrierId: number; nodes: number }>(countNodes, [
        [...new Set(able.map(({ carrierId }) => carrierId))],
        wantKey,
      ]);
      const nodesOf = new Map(rows.map(({ carrierId, nodes }) => [carrierId, nodes]));
      for (const want of able) if (wants.has(want)) await takeSlots(current, want, nodesOf.get(want.carrierId) ?? 1);
    });
    return nextPoll;
  }

  async function openedSession(): Promise<Session> {
    if (session !== undefined) return session;
    const opened = await database.openSession((error) => {
      if (session === opened) lose(error);
    });
    await opened.query(keepAlive);
    session = opened;
    return opened;
  }

  function lose(error: Error): void {
    session = undefined;
    log.warn({ reason: error.message }, 'the connection that holds the bind slots was lost');
    for (const want of wants) {
      const lost = [...want.held];
      want.held.clear();
      want.isKnown = false;
      if (lost.length > 0) want.notBeforeMs = clock.steadyMs() + afterLossMs;
      noteFreed(want.carrierId, lost.length);
      for (const slot of lost) want.onLost(slot);
    }
  }

  async function makeKnown(current: Session, want: Want): Promise<void> {
    if (want.isKnown || !wants.has(want)) return;
    await current.query('select pg_advisory_lock_shared($1, $2)', [want.carrierId, wantKey]);
    want.isKnown = true;
  }

  async function takeSlots(current: Session, want: Want, nodes: number): Promise<void> {
    const { carrierId, binds, held } = want;
    want.nodes = Math.max(1, nodes);
    const share = Math.ceil(binds / want.nodes);
    const isPatient = clock.steadyMs() - want.lastMs >= moreAfterMs;
    const mine = Math.min(binds, want.atMost ?? binds);
    const most = Math.min(mine - held.size, held.size < share ? share - held.size : isPatient ? 1 : 0);
    if (most <= 0) return;
    const { rows } = await current.query<{ slot: number }>(takeFree, [carrierId, slotKey, binds, heldHere(want), most]);
    // The want may have been stopped, or the session lost, during the statement.
    if (session !== current || !wants.has(want)) return;
    const wasJustFreed = clock.steadyMs() - (freedMs.get(carrierId) ?? -justFreedMs) < justFreedMs;
    for (const { slot } of rows) {
      held.add(slot);
      want.lastMs = clock.steadyMs();
      want.onTaken(slot, wasJustFreed);
    }
    noteFreed(carrierId, most - rows.length);
  }

  function noteFreed(carrierId: number, slots: number): void {
    if (slots > 0) freedMs.set(carrierId, clock.steadyMs());
  }

  /**
   * A session can take its own lock twice. So slots of an older instance of the carrier, which still drains here, count too.
   */
  function heldHere({ carrierId }: Want): number[] {
    return [...wants].filter((want) => want.carrierId === carrierId).flatMap(({ held }) => [...held]);
  }

  async function giveUp(want: Want): Promise<void> {
    const { carrierId, held, isKnown } = want;
    const slots = [...held];
    noteFreed(carrierId, slots.length);
    held.clear();
    wants.delete(want);
    if (session === undefined) return;
    for (const slot of slots) await session.query(unlock, [carrierId, slotKey + slot]);
    if (isKnown) await session.query('select pg_advisory_unlock_shared($1, $2)', [carrierId, wantKey]);
  }

  async function releaseOne({ carrierId, held }: Want, slot: number): Promise<void> {
    if (!held.delete(slot)) return;
    noteFreed(carrierId, 1);
    await session?.query(unlock, [carrierId, slotKey + slot]);
  }

  return {
    want(wanted) {
      const lastMs = clock.steadyMs();
      const want: Want = { ...wanted, held: new Set(), nodes: 1, lastMs, notBeforeMs: lastMs, isKnown: false };
      wants.add(want);
      void poll();
      return {
        held: want.held,
        get nodes() {
          return want.nodes;
        },
        setBinds(binds) {
          want.binds = binds;
          void poll();
        },
        release: (slot) => inTurn(() => releaseOne(want, slot)),
        stop: () => inTurn(() => giveUp(want)),
      };
    },
    poll,
    async stop() {
      stopped = true;
      await poller.stop();
      await polling;
      const last = session;
      session = undefined;
      await last?.close();
    },
  };
}

/** Postgres notices a lost machine within half a minute, instead of TCP's default two hours. */
const keepAlive = 'set tcp_keepalives_idle = 10; set tcp_keepalives_interval = 5; set tcp_keepalives_count = 3';

const countNodes = `
  select classid::int as "carrierId", count(distinct pid)::int as nodes from pg_locks
  where locktype = 'advisory' and granted and objsubid = 2 and classid::int = any($1::int[]) and objid = $2::int::oid
    and database = (select oid from pg_database where datname = current_database())
  group by classid`;

// CASE, because Postgres may evaluate the sides of AND in any order, and LIMIT stops at the last lock that is wanted.
const takeFree = `
  select slot from generate_series(1, $3::int) as slot
  where case when slot = any($4::int[]) then false else pg_try_advisory_lock($1::int, $2::int + slot) end
  limit $5::int`;

const unlock = 'select pg_advisory_unlock($1::int, $2::int)';
