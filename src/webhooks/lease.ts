// Tests: test/parts/webhook-worker.test.ts, test/races/webhooks.test.ts
import { setMaxListeners } from 'node:events';
import { randomFraction } from '../platform/crypto/random.ts';
import type { GuardedClient } from '../platform/http-out/client.ts';
import type { Log } from '../platform/log.ts';
import type { AttemptAnswer } from './answer-store.ts';
import { type Attempted, afterAttempt, attempt } from './attempt.ts';
import { type BacklogOptions, createBacklog, type Ended, type Pending } from './backlog.ts';
import { type LeaseProgress, leaseMs, type Recorded, recordProgress } from './lease-store.ts';
import {
  afterFailure,
  afterSuccess,
  atOnceAfter,
  atOnceFirst,
  type Health,
  isHopeless,
  type Lane,
  laneOf,
  latencyAfter,
} from './pace.ts';
import type { SigningSecret } from './secret-store.ts';
import type { CallLine, CallSlots } from './slots.ts';
import type { AttemptSpans } from './spans.ts';
import type { Disabling } from './store.ts';
import type { Delivery, DisabledReason } from './webhook.ts';

export type LeaseState = 'calling' | 'stalled' | 'yielding' | 'returning' | DisabledReason | 'lost' | 'ended';
type LeaseEvent = 'unrecorded' | 'recorded' | 'turnOver' | 'askedBack' | DisabledReason | 'overtaken' | 'done';
type Transitions = Partial<Record<LeaseEvent, LeaseState>>;

const untilEnded: Transitions = { overtaken: 'lost', done: 'ended' };
const untilEnding: Transitions = { askedBack: 'returning', gone: 'gone', no_success: 'no_success', ...untilEnded };

/** The states of a lease, and where each event leads. A state ignores events that it does not list. */
export const leaseStates: Record<LeaseState, Transitions> = {
  /** Begins calls, records their deliveries and renews the lease. */
  calling: { unrecorded: 'stalled', turnOver: 'yielding', ...untilEnding },
  /** The database did not take the last deliveries: the lease begins no call until it has. */
  stalled: { recorded: 'calling', turnOver: 'yielding', ...untilEnding },
  /** Its turn is over: calls under way run to their end. */
  yielding: untilEnding,
  /** The webhook was changed, or the worker stops: calls under way get a moment to end. */
  returning: untilEnded,
  /** The endpoint answered 410: the last record disables the webhook. */
  gone: untilEnded,
  /** The endpoint has failed for days: the last record disables the webhook. */
  no_success: untilEnded,
  /** Another worker has the claim: calls under way are aborted, and nothing more is recorded. */
  lost: { done: 'ended' },
  ended: {},
};

export interface LeaseOptions extends BacklogOptions {
  secrets: SigningSecret[];
  client: GuardedClient;
  slots: CallSlots;
  log: Log;
  /** Undefined unless events are traced. */
  spans?: AttemptSpans | undefined;
  /** The account of the webhook. */
  account: string;
  /** By the steady clock, just before the claim. */
  claimedAtMs: number;
  onAttempt: (attempted: Attempted) => void;
  /** The endpoint answered the attempt of this event. */
  onAnswer: (answer: AttemptAnswer) => void;
  onState: (state: LeaseState) => void;
  /** The endpoint has proved quick or slow. */
  onLane: (lane: Lane) => void;
  /** Records the progress and disables the webhook in one transaction. Returns false if another worker has the claim. */
  disable: (progress: LeaseProgress, disabling: Disabling) => Promise<boolean>;
}

/** A webhook that this worker holds, from its claim until it is given back. */
export interface Lease {
  readonly webhookId: string;
  readonly claim: number;
  readonly ended: Promise<void>;
  /** True once it will begin no more calls. */
  readonly isEnding: boolean;
  /** Begins no more calls, and gives the webhook back within about a second. */
  askBack(): void;
  /** Begins no more calls, and gives the webhook back when those under way have ended. */
  endTurn(): void;
}

/** Maximum calls and time of one turn. Then the webhook is given back, even if it has more events. */
export const turn = { calls: 1000, ms: 15_000 };

/** No attempt begins in the last second of a lease. */
const leaseMarginMs = 1000;
const pollEveryMs = 1000;
/** Age at which a lease is renewed if there is nothing to record. */
const renewAfterMs = 1900;
/** Maximum time for calls under way once the webhook is asked back. */
const endWithinMs = 800;
/** Finished deliveries wait this long, so that one statement records many. */
const recordAfterMs = 25;
const recordAtOnce = 200;
const retryFillMs = 1000;
/** Once a second while the database is down. */
const recordTries = 60;

export function startLease(options: LeaseOptions): Lease {
  const { database, clock, log, claimed, target, secrets, client, slots } = options;
  const { webhookId, claim } = claimed;
  const backlog = createBacklog(options);
  const begunAtMs = clock.steadyMs();
  const calls = new AbortController();
  let state: LeaseState = 'calling';
  let health: Health = claimed;
  let atOnce = atOnceFirst(claimed);
  let leasedAtMs = options.claimedAtMs;
  let seenCalls = claimed.calls;
  let underWay = 0;
  let begun = 0;
  let finished: Delivery[] = [];
  let isFilling = false;
  let isRecording = false;
  let isRecordDue = false;
  let failedRecords = 0;
  let recordTimer: NodeJS.Timeout | undefined;
  let end = () => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  setMaxListeners(0, calls.signal);
  const renew = setInterval(() => {
    backlog.poll();
    if (finished.length > 0 || failedRecords > 0 || clock.steadyMs() - leasedAtMs >= renewAfterMs) noteRecordDue();
    else step();
  }, pollEveryMs);

  const mayTryNew = () => health.restsUntilMs === null || health.restsUntilMs <= clock.nowMs();
  const isEnding = () => state !== 'calling' && state !== 'stalled';
  const isLeased = () => clock.steadyMs() < leasedAtMs + leaseMs - leaseMarginMs;

  const line: CallLine = {
    account: options.account,
    endpoint: webhookId,
    get lane() {
      return laneOf(health);
    },
    begin: beginAttempt,
    noteAge(ageMs) {
      noteHealth({ ...health, latencyMs: Math.max(Math.round(ageMs), health.latencyMs ?? 0) });
    },
  };

  function hasCall(): boolean {
    if (state !== 'calling' || !isLeased()) return false;
    return underWay < atOnce && finished.length < 2 * recordAtOnce && backlog.hasMore(mayTryNew());
  }

  /** Does everything that is possible now. Runs after every change. */
  function step(): void {
    if (state === 'ended') return;
    if (begun >= turn.calls || clock.steadyMs() - begunAtMs >= turn.ms) enterAfter('turnOver');
    if (state === 'calling') {
      if (!isLeased()) isRecordDue = true;
      if (!isFilling && backlog.wants(mayTryNew())) void fill();
    }
    if (hasCall()) slots.join(line);
    else slots.leave(line);
    if (isRecording) return;
    const isIdle = underWay === 0 && !isFilling;
    const isLast = isIdle && (isEnding() || !backlog.hasMore(mayTryNew()));
    if (isLast && state === 'lost') finish();
    else if (isLast ? failedRecords === 0 || isRecordDue : isRecordDue && state !== 'lost') void record(isLast);
    else if (finished.length > 0) recordTimer ??= setTimeout(noteRecordDue, recordAfterMs);
  }

  function noteRecordDue(): void {
    isRecordDue = true;
    step();
  }

  function beginAttempt(free: () => void): boolean {
    const pending = hasCall() ? backlog.take(mayTryNew()) : undefined;
    if (pending === undefined) {
      free();
      return false;
    }
    underWay++;
    begun++;
    void tryOnce(pending).finally(() => {
      underWay--;
      free();
      step();
    });
    return hasCall();
  }

  function noteHealth(now: Health): void {
    const lane = laneOf(health);
    health = now;
    if (laneOf(now) !== lane) options.onLane(laneOf(now));
  }

  async function tryOnce({ delivery, event, trace }: Pending): Promise<void> {
    const span = options.spans?.begin(trace, { event, webhookId, attempt: delivery.attemptCount + 1 });
    const to = { url: target.url, secrets, traceparent: span?.traceparent };
    const attempted = await attempt({ client, clock }, to, event, calls.signal);
    span?.end(attempted);
    // The event may have arrived: the next worker sends it again.
    if (calls.signal.aborted) return;
    const nowMs = clock.nowMs();
    const succeeded = attempted.outcome === 'delivered';
    finished.push(afterAttempt(delivery, attempted, { nowMs, fraction: randomFraction() }));
    const measured = { ...health, latencyMs: latencyAfter(health.latencyMs, attempted.milliseconds) };
    noteHealth(succeeded ? afterSuccess(measured, nowMs) : afterFailure(measured, nowMs));
    atOnce = atOnceAfter(atOnce, succeeded);
    options.onAttempt(attempted);
    const { received, timeMs } = attempted;
    if (received !== undefined) options.onAnswer({ ...received, webhookId, position: delivery.position, timeMs });
    if (attempted.outcome === 'gone') note('gone');
    else if (isHopeless(health, nowMs)) note('no_success');
  }

  async function fill(): Promise<void> {
    isFilling = true;
    try {
      const ended = await backlog.fill(mayTryNew());
      finished.push(...ended.map((each) => asFailed(each, clock.nowMs())));
    } catch (error) {
      log.warn({ webhook: webhookId, reason: (error as Error).message }, 'events of a webhook could not be read');
      // The next claim would most likely fail in the same way, so it has to wait.
      await new Promise((done) => setTimeout(done, retryFillMs));
      note('askedBack');
    }
    isFilling = false;
    step();
  }

  function progress(giveBack: boolean): LeaseProgress {
    const deliveries = finished;
    finished = [];
    for (const { position } of deliveries) backlog.settle(position);
    const position = backlog.settledTo();
    return { ...health, webhookId, claim, position, deliveries, calls: seenCalls, giveBack, nowMs: clock.nowMs() };
  }

  /** Records finished deliveries, and renews the lease or gives it back. */
  async function record(isLast: boolean): Promise<void> {
    isRecording = true;
    isRecordDue = false;
    clearTimeout(recordTimer);
    recordTimer = undefined;
    const sentAtMs = clock.steadyMs();
    const given = progress(isLast);
    try {
      if (isLast && state === 'gone') await options.disable(given, { reason: 'gone', url: target.url });
      else if (isLast && state === 'no_success') await options.disable(given, { reason: 'no_success' });
      else noteRecorded(await recordProgress(database, given), sentAtMs);
      failedRecords = 0;
      enterAfter('recorded');
      for (const { position } of given.deliveries) backlog.confirm(position);
      if (isLast) finish();
    } catch (error) {
      // The next renewal retries. If another worker has the claim by then, it sends these events again.
      finished.unshift(...given.deliveries);
      failedRecords++;
      enterAfter('unrecorded');
      if (failedRecords === 1)
        log.warn(
          { webhook: webhookId, reason: (error as Error).message },
          'deliveries could not be recorded; will retry',
        );
      if (failedRecords > recordTries) finish();
    }
    isRecording = false;
    step();
  }

  function finish(): void {
    enterAfter('done');
    slots.leave(line);
    clearInterval(renew);
    clearTimeout(recordTimer);
    end();
  }

  function noteRecorded(recorded: Recorded | undefined, sentAtMs: number): void {
    if (recorded === undefined) {
      note('overtaken');
      return;
    }
    leasedAtMs = sentAtMs;
    if (recorded.askedBack) note('askedBack');
    if (recorded.calls !== seenCalls) backlog.poll();
    seenCalls = recorded.calls;
  }

  function note(event: LeaseEvent): void {
    enterAfter(event);
    step();
  }

  function enterAfter(event: LeaseEvent): void {
    const next = leaseStates[state][event];
    if (next === undefined) return;
    state = next;
    options.onState(next);
    if (next === 'lost') calls.abort();
    if (['returning', 'gone', 'no_success'].includes(next)) setTimeout(() => calls.abort(), endWithinMs).unref();
  }

  options.onState(state);
  queueMicrotask(step);
  return {
    webhookId,
    claim,
    ended,
    get isEnding() {
      return isEnding();
    },
    askBack: () => note('askedBack'),
    endTurn: () => note('turnOver'),
  };
}

function asFailed({ delivery, reason }: Ended, nowMs: number): Delivery {
  const attempt = { timeMs: nowMs, statusCode: null, milliseconds: 0, error: reason };
  return { ...delivery, status: 'failed', nextAttemptAtMs: null, attempts: [...delivery.attempts, attempt] };
}
