import { findTold } from '../events/event-store.ts';
import { createHorizon } from '../events/horizon.ts';
import type { Clock } from '../platform/clock.ts';
import type { KeyRing } from '../platform/crypto/keys.ts';
import type { Database } from '../platform/database/database.ts';
import { type Listener, openListener } from '../platform/database/listener.ts';
import type { GuardedClient } from '../platform/http-out/client.ts';
import { uuidOf } from '../platform/ids.ts';
import type { Log } from '../platform/log.ts';
import { createWakeableSleep } from '../platform/work/wakeable-sleep.ts';
import type { Attempted } from './attempt.ts';
import type { BacklogOptions } from './backlog.ts';
import { findCourses } from './claim-store.ts';
import { createClaims, type HeldCourse, type TakenUp } from './claims.ts';
import { createDisable } from './disable.ts';
import { type CourseOptions, startCourse } from './lease.ts';
import { type ClaimedCourse, findAskedBack, hasActive, recordProgress, webhookChannel } from './lease-store.ts';
import { queueReplayed } from './replays.ts';
import { openSecrets } from './secret-store.ts';
import type { Holding } from './shares.ts';
import { createCallSlots } from './slots.ts';
import { findTargets } from './store.ts';
import { findWaiting, type Waiting } from './waiting-store.ts';

export interface WebhookWorkerOptions {
  database: Database;
  clock: Clock;
  keys: KeyRing;
  log: Log;
  client: GuardedClient;
  tell: BacklogOptions['tell'];
  /** What this process has room for: webhooks in its hands, and calls under way. */
  room?: { claims: number; calls: number };
  onAttempt?: ((attempted: Attempted) => void) | undefined;
  onWaiting?: ((waiting: Waiting) => void) | undefined;
}

/** Tells webhooks their events. Several nodes may run one: each webhook is in the hands of one of them at a time. */
export interface WebhookWorker {
  start(): Promise<void>;
  stop(): Promise<void>;
  /** There may be new events. */
  wake(): void;
}

const usualRoom = { claims: 300, calls: 512 };
/** How often it looks for calls that take longer than a second. */
const watchEveryMs = 100;
/** The pauses grow while there is nothing to tell. */
const poll = { fromMs: 100, toMs: 1000 };
const shortestPauseMs = 50;
/** Applications whose webhooks wait that each look takes again. */
const mostAgain = 500;
/** Webhooks that each look takes in turn. */
const inTurn = 200;
/** After a long time away, or at a new day, webhooks are found in turn: to read all events since could take too long. */
const mostPassed = 100_000;
/** While no webhook is active. A new one wakes the worker. */
const unusedMs = 2000;
const waitingEveryMs = 15_000;

export function createWebhookWorker(options: WebhookWorkerOptions): WebhookWorker {
  const { database, clock, keys, log, client, tell, onAttempt = () => {}, onWaiting = () => {} } = options;
  const { room = usualRoom } = options;
  const sleep = createWakeableSleep();
  const horizon = createHorizon(database);
  const slots = createCallSlots(clock, room.calls);
  const claims = createClaims(database, room.claims);
  const disable = createDisable({ database, clock, log });
  const held = new Map<string, HeldCourse>();
  let readable = 0;
  /** Up to here it is known which applications have events. */
  let knownTo: number | undefined;
  /** Applications whose webhooks wait for their turn, or were in hand until now: what came meanwhile was left. */
  const waiting = new Set<string>();
  /** The last webhook that was looked at in turn. */
  let turn: string | undefined;
  /** Whether there was an active webhook when it was last asked for one, or a change was told since. */
  let isUsed = true;
  let isHeldUp = false;
  let listener: Listener | undefined;
  let watching: NodeJS.Timeout | undefined;
  let running: Promise<unknown> = Promise.resolve();

  async function askBackChanged(): Promise<void> {
    const courses = [...held.values()].map(({ course }) => course);
    for (const id of await findAskedBack(database, courses)) held.get(id)?.course.askBack();
  }

  /** The next webhooks in turn: so one is found whose events came while no worker looked, or that has rested. */
  async function findOthers(): Promise<string[]> {
    const others = await findCourses(database, turn, inTurn);
    turn = others.length < inTurn ? undefined : others.at(-1);
    return others;
  }

  /** Takes up what has something to tell, in turns. Returns how many webhooks that is. */
  async function takeUp(): Promise<number> {
    readable = await horizon.read();
    const after = knownTo === undefined || readable - knownTo > mostPassed ? readable : knownTo;
    const again = [...waiting].slice(0, mostAgain);
    const told = [...(await findTold(database, { after, upTo: readable })), ...again];
    const others = await findOthers();
    const claimedAtMs = clock.steadyMs();
    const look = await claims.take({ nowMs: clock.nowMs(), horizon: readable, told, others });
    knownTo = readable;
    for (const id of again) waiting.delete(id);
    for (const id of look.isCut ? told : look.left.map(({ listenerId }) => listenerId)) waiting.add(id);
    if (look.isFull) sleep.wake();
    for (const { course } of claims.findCrowders(look.left, [...held.values()], clock.steadyMs())) course.endTurn();
    try {
      if (look.taken.length > 0) await beginAll(look.taken, claimedAtMs);
    } catch (error) {
      for (const id of told) waiting.add(id);
      throw error;
    }
    return look.taken.length;
  }

  async function beginAll(taken: TakenUp[], claimedAtMs: number): Promise<void> {
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

  /** It was paused or deleted, or its account disabled, at this moment. */
  async function giveBack(claimed: ClaimedCourse): Promise<void> {
    await recordProgress(database, { ...claimed, deliveries: [], giveBack: true, nowMs: clock.nowMs() });
  }

  type Given = Pick<CourseOptions, 'claimed' | 'target' | 'secrets' | 'claimedAtMs'>;

  function begin(given: Given, holding: Holding): void {
    const shared = { database, clock, horizon: () => readable };
    const course = startCourse({
      ...given,
      ...shared,
      account: holding.account,
      log,
      client,
      slots,
      tell,
      onAttempt,
      disable,
      onLane(lane) {
        claims.move(holding, lane);
        // There may be room for another.
        sleep.wake();
      },
      queueReplayed: () => queueReplayed({ ...shared, ...given }),
    });
    held.set(course.webhookId, { course, holding, begunAtMs: clock.steadyMs() });
    void course.ended.then(() => {
      claims.free(holding);
      if (held.get(course.webhookId)?.course === course) held.delete(course.webhookId);
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

  /** Returns how many webhooks it took up. */
  async function takeTurn(isQuiet: boolean): Promise<number> {
    try {
      if (isQuiet || !isUsed) isUsed = await hasActive(database);
      const taken = isUsed ? await takeUp() : 0;
      isHeldUp = false;
      return taken;
    } catch (error) {
      if (!isHeldUp && !sleep.stopped)
        log.warn({ reason: (error as Error).message }, 'webhooks cannot be told; will retry');
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
      const courses = [...held.values()].map(({ course }) => course);
      for (const course of courses) course.askBack();
      await Promise.all(courses.map(({ ended }) => ended));
      await listener?.stop();
      await client.close();
    },
    wake() {
      if (isUsed) sleep.wake();
    },
  };
}
