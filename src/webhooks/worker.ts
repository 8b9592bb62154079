// Tests: test/parts/webhook-worker.test.ts, test/faults/webhooks.test.ts, test/hostile/slow-webhooks.test.ts
import { findWithEvents } from '../events/event-store.ts';
import { createHorizon } from '../events/horizon.ts';
import type { Clock } from '../platform/clock.ts';
import type { KeyRing } from '../platform/crypto/keys.ts';
import type { Database } from '../platform/database/database.ts';
import { type Listener, openListener } from '../platform/database/listener.ts';
import type { GuardedClient } from '../platform/http-out/client.ts';
import { uuidOf } from '../platform/ids.ts';
import type { Log } from '../platform/log.ts';
import { createWakeableSleep } from '../platform/work/wakeable-sleep.ts';
import { createAnswerKeeper } from './answers.ts';
import type { Attempted } from './attempt.ts';
import type { BacklogOptions } from './backlog.ts';
import { findInTurn } from './claim-store.ts';
import { type Claimed, createClaims, type HeldLease } from './claims.ts';
import { createDisable } from './disable.ts';
import { type LeaseOptions, type LeaseState, startLease } from './lease.ts';
import { type ClaimedLease, findAskedBack, hasActive, recordProgress, webhookChannel } from './lease-store.ts';
import { queueReplayed } from './replays.ts';
import { openSecrets } from './secret-store.ts';
import type { Holding } from './shares.ts';
import { createCallSlots } from './slots.ts';
import type { AttemptSpans } from './spans.ts';
import { findTargets } from './store.ts';
import { findWaiting, type Waiting } from './waiting-store.ts';

export interface WebhookWorkerOptions {
  database: Database;
  clock: Clock;
  keys: KeyRing;
  log: Log;
  client: GuardedClient;
  assemble: BacklogOptions['assemble'];
  findTraces?: BacklogOptions['findTraces'];
  spans?: AttemptSpans | undefined;
  /** Maximum webhooks that this process holds, and maximum concurrent calls. */
  room?: { claims: number; calls: number };
  onAttempt?: ((attempted: Attempted) => void) | undefined;
  /** A lease has entered a state. */
  onLease?: ((state: LeaseState, webhookId: string) => void) | undefined;
  onWaiting?: ((waiting: Waiting) => void) | undefined;
}

/** Delivers events to webhooks. Several nodes may run a worker: one of them at a time holds a webhook. */
export interface WebhookWorker {
  start(): Promise<void>;
  stop(): Promise<void>;
  /** There may be new events. */
  wake(): void;
}

const usualRoom = { claims: 300, calls: 512 };
/** Interval of the check for calls that take longer than a second. */
const watchEveryMs = 100;
/** The pauses between polls grow while there are no events. */
const poll = { fromMs: 100, toMs: 1000 };
const shortestPauseMs = 50;
/** Maximum applications that one poll checks again. */
const mostAgain = 500;
/** Webhooks that each poll checks in turn. */
const inTurn = 200;
/** With more new positions than this, after a long pause or at a new day, webhooks are only checked in turn. */
const mostPassed = 100_000;
/** The pause while no webhook is active. A new webhook wakes the worker. */
const unusedMs = 2000;
const waitingEveryMs = 15_000;

export function createWebhookWorker(options: WebhookWorkerOptions): WebhookWorker {
  const { database, clock, keys, log, client, assemble, onAttempt = () => {}, onWaiting = () => {} } = options;
  const { room = usualRoom, onLease = () => {} } = options;
  const sleep = createWakeableSleep();
  const horizon = createHorizon(database);
  const slots = createCallSlots(clock, room.calls);
  const claims = createClaims(database, room.claims);
  const disable = createDisable({ database, clock, log });
  const answers = createAnswerKeeper({ database, clock });
  const held = new Map<string, HeldLease>();
  let readable = 0;
  /** The poll has found all applications with events up to here. */
  let knownTo: number | undefined;
  /** Applications whose webhooks wait for their turn, or were held until now and may have new events. */
  const waiting = new Set<string>();
  /** The last webhook that was checked in turn. */
  let turn: string | undefined;
  /** Whether the last check found an active webhook, or a change was notified since. */
  let isUsed = true;
  let isHeldUp = false;
  let listener: Listener | undefined;
  let watching: NodeJS.Timeout | undefined;
  let running: Promise<unknown> = Promise.resolve();

  async function askBackChanged(): Promise<void> {
    const leases = [...held.values()].map(({ lease }) => lease);
    for (const id of await findAskedBack(database, leases)) held.get(id)?.lease.askBack();
  }

  /** The next webhooks in turn: finds those with events from before this worker started, and those that have rested. */
  async function findOthers(): Promise<string[]> {
    const others = await findInTurn(database, turn, inTurn);
    turn = others.length < inTurn ? undefined : others.at(-1);
    return others;
  }

  /** Claims webhooks with undelivered events, in turns. Returns the number. */
  async function claimDue(): Promise<number> {
    readable = await horizon.read();
    const after = knownTo === undefined || readable - knownTo > mostPassed ? readable : knownTo;
    const again = [...waiting].slice(0, mostAgain);
    const withEvents = [...(await findWithEvents(database, { after, upTo: readable })), ...again];
    const others = await findOthers();
    const claimedAtMs = clock.steadyMs();
    const polled = await claims.take({ nowMs: clock.nowMs(), horizon: readable, withEvents, others });
    knownTo = readable;
    for (const id of again) waiting.delete(id);
    for (const id of polled.isCut ? withEvents : polled.left.map(({ listenerId }) => listenerId)) waiting.add(id);
    if (polled.isFull) sleep.wake();
    for (const { lease } of claims.findCrowders(polled.left, [...held.values()], clock.steadyMs())) lease.endTurn();
    try {
      if (polled.taken.length > 0) await beginAll(polled.taken, claimedAtMs);
    } catch (error) {
      for (const id of withEvents) waiting.add(id);
      throw error;
    }
    return polled.taken.length;
  }

  async function beginAll(taken: Claimed[], claimedAtMs: number): Promise<void> {
    const left = new Set(taken);
    try {
      await client.prepare();
      const ids = taken.map(({ claimed }) => claimed.webhookId);
      const targets = new Map((await findTargets(database, ids)).map((target) => [target.id, target]));
      const secrets = await openSecrets(database, keys, ids);
      for (const one of taken) {
        const { claimed } = one;
        const target = targets.get(claimed.webhookId);
        if (target === undefined || sleep.stopped) await giveBack(claimed);
        else {
          left.delete(one);
          begin({ claimed, target, secrets: secrets.get(claimed.webhookId) ?? [], claimedAtMs }, one.holding);
        }
      }
    } finally {
      for (const { holding } of left) claims.free(holding);
    }
  }

  /** For a webhook that was paused or deleted, or whose account was disabled, after the claim. */
  async function giveBack(claimed: ClaimedLease): Promise<void> {
    await recordProgress(database, { ...claimed, deliveries: [], giveBack: true, nowMs: clock.nowMs() });
  }

  type Given = Pick<LeaseOptions, 'claimed' | 'target' | 'secrets' | 'claimedAtMs'>;

  function begin(given: Given, holding: Holding): void {
    const shared = { database, clock, horizon: () => readable };
    const lease = startLease({
      ...given,
      ...shared,
      account: holding.account,
      log,
      client,
      slots,
      assemble,
      findTraces: options.findTraces,
      spans: options.spans,
      onAttempt,
      onAnswer: answers.keep,
      onState: (state) => onLease(state, given.claimed.webhookId),
      disable,
      onLane(lane) {
        claims.move(holding, lane);
        // There may be room for another claim.
        sleep.wake();
      },
      queueReplayed: () => queueReplayed({ ...shared, ...given }),
    });
    held.set(lease.webhookId, { lease, holding, begunAtMs: clock.steadyMs() });
    void lease.ended.then(() => {
      claims.free(holding);
      if (held.get(lease.webhookId)?.lease === lease) held.delete(lease.webhookId);
      waiting.add(uuidOf(given.target.applicationId));
      sleep.wake();
    });
  }

  async function work(): Promise<void> {
    for (let pauseMs = poll.fromMs; !sleep.stopped; ) {
      const seen = sleep.wakes;
      const taken = await takeTurn(pauseMs >= poll.toMs);
      pauseMs = taken > 0 ? poll.fromMs : Math.min(poll.toMs, pauseMs * 2);
      await sleep.ignoringWakes(shortestPauseMs);
      if (sleep.wakes === seen) await sleep.untilWoken(isUsed ? pauseMs : unusedMs);
      if (sleep.wakes !== seen) pauseMs = poll.fromMs;
    }
  }

  /** Returns the number of claimed webhooks. */
  async function takeTurn(isQuiet: boolean): Promise<number> {
    try {
      if (isQuiet || !isUsed) isUsed = await hasActive(database);
      const taken = isUsed ? await claimDue() : 0;
      isHeldUp = false;
      return taken;
    } catch (error) {
      if (!isHeldUp && !sleep.stopped)
        log.warn({ reason: (error as Error).message }, 'webhooks cannot be called; will retry');
      isHeldUp = true;
      return 0;
    }
  }

  async function watchWaiting(): Promise<void> {
    while (!sleep.stopped) {
      if (isUsed) await findWaiting(database).then(onWaiting, () => {});
      else onWaiting({ count: 0, oldestAtMs: null });
      await sleep.ignoringWakes(waitingEveryMs);
    }
  }

  return {
    async start() {
      const onNotified = () => {
        isUsed = true;
        sleep.wake();
        askBackChanged().catch(() => {});
      };
      listener = await openListener({ database, channel: webhookChannel, onNotified });
      isUsed = await hasActive(database).catch(() => true);
      watching = setInterval(slots.watch, watchEveryMs).unref();
      running = Promise.all([work(), watchWaiting()]);
    },
    async stop() {
      sleep.stop();
      await running;
      clearInterval(watching);
      const leases = [...held.values()].map(({ lease }) => lease);
      for (const lease of leases) lease.askBack();
      await Promise.all(leases.map(({ ended }) => ended));
      await answers.stop();
      await listener?.stop();
      await client.close();
    },
    wake() {
      if (isUsed) sleep.wake();
    },
  };
}
