import type { Lane } from '../../messages/message.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Database } from '../../platform/database/database.ts';
import type { Log } from '../../platform/log.ts';
import { alignedPause } from '../../platform/work/aligned-pause.ts';
import { createWakeableSleep } from '../../platform/work/wakeable-sleep.ts';
import type { TextSpans } from '../attempts/text-spans.ts';
import type { Capacity, Carrier, InboundSource, InboundText } from '../carrier/carrier.ts';
import { createCarrierHealth } from '../carrier/health.ts';
import { type CarrierReads, createCarrierReads } from '../queue/carrier-reads.ts';
import { createClaims, newToken } from '../queue/claim-store.ts';
import { releaseClaims } from '../queue/release-store.ts';
import { queueDue } from '../queue/schedule-store.ts';
import type { Receipts } from '../receipts/receipts.ts';
import { createClaimTurns } from './claim-turns.ts';
import { createQueuePolls } from './polls.ts';
import { createWorkerStates, isRecovering, mayClaim, type ShownWorkerState } from './state.ts';
import { createSubmission, type DeliveryCount, type SubmissionOptions } from './submission.ts';
import { createUnseenClaims } from './unseen-claims.ts';

export interface DeliveryWorkerOptions {
  database: Database;
  clock: Clock;
  log: Log;
  carrier: Carrier;
  receipts: Pick<Receipts, 'apply'>;
  /** Shared by the workers of a node. */
  reads?: CarrierReads;
  /** Keeps what phones sent to this carrier's numbers. */
  receiveInbound?: (source: InboundSource, texts: InboundText[]) => Promise<unknown>;
  /** Returns a message's text. A verification's text is rendered here and never stored. */
  renderText: SubmissionOptions['renderText'];
  wayOf?: SubmissionOptions['wayOf'];
  findPending: SubmissionOptions['findPending'];
  findUnwanted?: SubmissionOptions['findUnwanted'];
  nextCarrier: SubmissionOptions['nextCarrier'];
  outcomes?: SubmissionOptions['outcomes'];
  isDown?: SubmissionOptions['isDown'];
  onMoved?: SubmissionOptions['onMoved'];
  opensAtMs?: SubmissionOptions['opensAtMs'];
  /** False while this node's clock is wrong: it would send scheduled texts early, or expire others. */
  isClockRight?: (() => boolean) | undefined;
  /** True when this is the only node on the database. */
  alone: boolean;
  atMostOnce: boolean;
  onCount: (name: DeliveryCount, by: number) => void;
  /** The worker has claimed this many texts. */
  onClaimed?: (texts: number) => void;
  onAnswers?: SubmissionOptions['onAnswers'];
  onEnds?: SubmissionOptions['onEnds'];
  /** Undefined unless texts are traced. */
  spans?: TextSpans | undefined;
}

/** Works off one carrier's queue. Each carrier has its own worker, so a slow one does not delay the others. */
export interface DeliveryWorker {
  /** The key of its carrier. */
  key: string;
  /** `state.ts` has the states, and the events that lead from one to the next. */
  readonly state: ShownWorkerState;
  start(): void;
  stop(): Promise<void>;
  /** A message may be due. */
  wake(): void;
  /** Works until no message is due. For tests, which set the clock instead of waiting. */
  runUntilIdle(): Promise<void>;
}

/**
 * Polls find texts that no `wake` announced. The pauses between them grow while they find nothing. Two batches are in
 * flight: one waits for the carrier while the other is claimed. At rest only one of them polls often.
 */
const poll = { fromMs: 200, toMs: [2000, 10_000] };
/** How often a worker polls the schedule. */
const pollScheduleEveryMs = { working: 1000, resting: 2000 };
const releaseEveryMs = 5000;
const mostDue = 1000;
/** With two batches in flight it bounds memory. */
const mostClaimed = 1000;

export function createDeliveryWorker(options: DeliveryWorkerOptions): DeliveryWorker {
  const { database, clock, log, carrier, receipts, alone, receiveInbound = keepNothing } = options;
  const { isClockRight = () => true, reads = createCarrierReads(database) } = options;
  // The carrier's settings may change while it works.
  const isAtMostOnce = () => (carrier.onDoubt === undefined ? options.atMostOnce : !carrier.onDoubt.resend);
  const sleep = createWakeableSleep();
  const health = createCarrierHealth();
  const claimNext = createClaims(database);
  const unseen = createUnseenClaims(database, clock);
  const turns = createClaimTurns(clock);
  const polls = createQueuePolls(sleep);
  const submission = createSubmission({ ...options, health, sleep, isAtMostOnce });
  // The only node takes over the claims of the process that ran before it.
  const states = createWorkerStates(alone ? 'recovering' : 'working');
  let running: Promise<unknown> = Promise.resolve();

  /** Room that claims under way have reserved, until the carrier has their texts. */
  const reserved = { first: 0, bulk: 0 };

  function limits(): Capacity {
    const free = carrier.capacity();
    const limit = (lane: Lane) => Math.max(0, Math.min(mostClaimed, health.limit(free[lane] - reserved[lane])));
    return { first: limit('first'), bulk: limit('bulk') };
  }

  function reserve({ first, bulk }: Capacity, sign: 1 | -1): void {
    reserved.first += sign * first;
    reserved.bulk += sign * bulk;
  }

  /** Waits for its turn to claim. A text that comes after a quiet time has no wait. */
  async function takeTurn(): Promise<void> {
    const waitMs = turns.take();
    if (waitMs > 0) await sleep.ignoringWakes(waitMs);
  }

  /**
   * The time; undefined while the clock is wrong. Callers read it anew after each wait, because the clock may step
   * meanwhile.
   */
  function rightNowMs(): number | undefined {
    const nowMs = clock.nowMs();
    return isClockRight() ? nowMs : undefined;
  }

  /** Submits nothing: if it fails, the texts go back to the queue unchanged. */
  async function take(most: Capacity, leaseMs: number) {
    const nowMs = rightNowMs();
    if (nowMs === undefined) return undefined;
    const token = newToken();
    const sinceMs = clock.steadyMs();
    try {
      const claim = await claimNext({ carrier: carrier.key, token, nowMs, leaseMs, limits: most });
      if (claim === undefined) return undefined;
      options.spans?.noteClaim(carrier.key, claim, sinceMs);
      const over = await submission.findOver(claim);
      if (!sleep.stopped) return { claim, over };
      // `stop` returns the claim to the queue.
      unseen.add(token);
      return undefined;
    } catch (error) {
      unseen.add(token);
      throw error;
    }
  }

  /** Claims, submits and records one batch. Returns how many texts it took. */
  async function workOnce(isWoken = true): Promise<number> {
    const most = limits();
    const endPoll = polls.begin(most.first > 0 && most.bulk > 0);
    try {
      return await workWithin(most, endPoll, isWoken);
    } finally {
      endPoll();
    }
  }

  async function workWithin(most: Capacity, endPoll: () => void, isWoken: boolean): Promise<number> {
    if (most.first <= 0 && most.bulk <= 0) return 0;
    if (unseen.size > 0) await unseen.giveBack();
    else if (!isWoken && !(await reads.hasQueued(carrier.key))) {
      turns.noteEmpty();
      return 0;
    }
    const { submitTimeoutMs } = carrier;
    // A submit starts in the first half of its lease and ends within it, so an expired lease means the worker is gone.
    const beginBeforeMs = clock.steadyMs() + submitTimeoutMs;
    reserve(most, 1);
    const taken = await take(most, 2 * submitTimeoutMs).finally(() => reserve(most, -1));
    if (taken === undefined) {
      turns.noteEmpty();
      return 0;
    }
    const { claim, over } = taken;
    options.onClaimed?.(claim.texts.length);
    // The carrier has the texts before anything else runs, and counts them in its capacity.
    const submitted = submission.run(claim, over, beginBeforeMs);
    polls.wake();
    endPoll();
    await submitted;
    return claim.texts.length;
  }

  /** Requeues claims of dead workers. When the only node starts, that is every claim. */
  async function release(): Promise<void> {
    // Requeue a claim whose answer was lost before its lease ends: otherwise its texts would count as in doubt.
    if (unseen.size > 0) await unseen.giveBack().then(polls.wake);
    const all = isRecovering(states.current);
    const doubtAfterMs = carrier.onDoubt?.afterMs;
    const atMostOnce = isAtMostOnce();
    const nowMs = rightNowMs();
    if (nowMs === undefined) return;
    if (all || (await reads.hasOverdueClaim(carrier.key)))
      await releaseClaims(database, { carrier: carrier.key, nowMs, atMostOnce, doubtAfterMs, all });
    // From now on texts may be claimed.
    if (all) polls.wake();
    states.note('released');
  }

  /** Queues due texts. Returns the time of the next one. */
  async function queueAllDue(): Promise<number | undefined> {
    for (;;) {
      const dueMs = await reads.nextDueMs(carrier.key);
      const nowMs = rightNowMs();
      if (dueMs === undefined || nowMs === undefined || dueMs > nowMs) return dueMs;
      const queued = await queueDue(database, { carrier: carrier.key, nowMs, limit: mostDue });
      if (queued === 0) return undefined;
      polls.wake();
    }
  }

  async function deliver(longestPauseMs: number): Promise<void> {
    for (let idleMs = poll.fromMs, isWoken = true; !sleep.stopped; ) {
      await takeTurn();
      const isWanted = (await polls.isWanted()) || !isWoken;
      if (sleep.stopped) return;
      const isOpen = mayClaim(shownState());
      if (!isOpen) polls.begin(false)();
      const taken: number = isOpen && isWanted ? await workOnce(isWoken).then(noteClaim, noteFailure) : 0;
      const waitMs = health.waitMs();
      // Polls again soon after a failed poll, and after one that found texts without a wake: more of these may come.
      if (isWoken ? states.current === 'failing' || !isOpen : taken > 0) idleMs = poll.fromMs;
      else if (!isWoken) idleMs = Math.min(longestPauseMs, idleMs * 2);
      if (waitMs > 0) await sleep.ignoringWakes(waitMs);
      const pauseMs = idleMs === longestPauseMs ? alignedPause(clock, idleMs) : idleMs;
      isWoken = waitMs === 0 && (await polls.next(taken, pauseMs));
    }
  }

  /** Moves texts from the schedule to the queue when they are due, and claims of dead workers to the schedule. */
  async function watchSchedule(): Promise<void> {
    let releaseAtMs = 0;
    while (!sleep.stopped) {
      let waitMs = schedulePauseMs();
      states.notePoll();
      try {
        // This worker's own lease may run out while its results wait for the database; the claim is not abandoned.
        if (!submission.held && isClockRight() && (clock.steadyMs() >= releaseAtMs || isRecovering(states.current))) {
          await release();
          releaseAtMs = clock.steadyMs() + releaseEveryMs;
        }
        const dueMs = isClockRight() ? await queueAllDue() : undefined;
        if (dueMs !== undefined) waitMs = Math.min(waitMs, Math.max(10, dueMs - clock.nowMs()));
      } catch (error) {
        noteFailure(error as Error);
        waitMs = poll.fromMs;
      }
      await sleep.ignoringWakes(waitMs);
    }
  }

  function schedulePauseMs(): number {
    return alignedPause(clock, pollScheduleEveryMs[states.current === 'resting' ? 'resting' : 'working']);
  }

  function shownState(): ShownWorkerState {
    if (states.current === 'stopped' || isRecovering(states.current)) return states.current;
    if (!isClockRight()) return 'clock_wrong';
    return submission.held ? 'results_waiting' : states.current;
  }

  function noteClaim(count: number): number {
    states.note(count > 0 ? 'claimed' : 'empty');
    return count;
  }

  /** Logs an outage once, however long it lasts. */
  function noteFailure(error: Error): number {
    if (states.note('failed')) log.warn({ carrier: carrier.key, reason: error.message }, 'delivery failed; will retry');
    return 0;
  }

  return {
    key: carrier.key,
    get state() {
      return shownState();
    },
    start() {
      if (sleep.stopped) return;
      carrier.start(
        (reported) => receipts.apply(carrier, reported),
        polls.wake,
        async (texts) => void (await receiveInbound(carrier, texts)),
      );
      running = Promise.all([watchSchedule(), ...poll.toMs.map(deliver)]);
    },
    async stop() {
      sleep.stop();
      states.note('stopped');
      await running;
      await carrier.stop();
      await submission.finished();
      // Otherwise another worker would wait for the lease, and treat the texts as in doubt.
      if (unseen.size > 0) await unseen.giveBack().catch(noteFailure);
    },
    wake: polls.wake,
    async runUntilIdle() {
      await release();
      for (;;) {
        await queueAllDue();
        const taken = await workOnce();
        await submission.finished();
        if (taken === 0) return;
      }
    },
  };
}

/** For tests of carriers that get no texts from phones. */
function keepNothing(): Promise<void> {
  return Promise.reject(new Error('nothing keeps texts from phones here'));
}
