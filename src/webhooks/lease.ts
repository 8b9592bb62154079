import { setMaxListeners } from 'node:events';
import { randomFraction } from '../platform/crypto/random.ts';
import type { GuardedClient } from '../platform/http-out/client.ts';
import type { Log } from '../platform/log.ts';
import { type Attempted, afterAttempt, attempt } from './attempt.ts';
import { type BacklogOptions, createBacklog, type Pending } from './backlog.ts';
import { type CourseProgress, leaseMs, type Recorded, recordProgress } from './lease-store.ts';
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
import type { Delivery, DisabledReason } from './webhook.ts';

export interface CourseOptions extends BacklogOptions {
  secrets: SigningSecret[];
  client: GuardedClient;
  slots: CallSlots;
  log: Log;
  /** The account of the webhook. */
  account: string;
  /** Before the claim was asked for, by the steady clock. */
  claimedAtMs: number;
  onAttempt: (attempted: Attempted) => void;
  /** The endpoint has shown itself as quick or slow. */
  onLane: (lane: Lane) => void;
  /** Records the progress and disables the webhook, both or none. Returns false if the claim is another's by now. */
  disable: (progress: CourseProgress, reason: DisabledReason) => Promise<boolean>;
}

/** A webhook in the hands of this process, from its claim until it is given back. */
export interface Course {
  readonly webhookId: string;
  readonly claim: number;
  readonly ended: Promise<void>;
  /** True once it makes no new calls. */
  readonly isEnding: boolean;
  /** Makes no new calls, and gives the webhook back within about a second. */
  askBack(): void;
  /** Makes no new calls, and gives the webhook back when those under way have ended. */
  endTurn(): void;
}

/** A webhook is given back after so many calls or so long, even if it has more to tell. */
export const turn = { calls: 1000, ms: 15_000 };

/** No attempt begins in the last part of a lease that was not renewed. */
const leaseMarginMs = 1000;
const lookEveryMs = 1000;
/** A course that has nothing to record renews its lease when it is so old. */
const renewAfterMs = 1900;
/** Calls under way have so long to end when the webhook is asked back. */
const endWithinMs = 800;
/** Finished deliveries are recorded together, so late. */
const recordAfterMs = 25;
const recordAtOnce = 200;
const retryFillMs = 1000;
/** One a second, while the database is away. */
const recordTries = 60;

export function startCourse(options: CourseOptions): Course {
  const { database, clock, log, claimed, target, secrets, client, slots } = options;
  const { webhookId, claim } = claimed;
  const backlog = createBacklog(options);
  const begunAtMs = clock.steadyMs();
  const calls = new AbortController();
  let health: Health = claimed;
  let atOnce = atOnceFirst(claimed);
  let leasedAtMs = options.claimedAtMs;
  let seenCalls = claimed.calls;
  let lane = laneOf(claimed);
  let underWay = 0;
  let begun = 0;
  let finished: Delivery[] = [];
  let isFilling = false;
  let isRecording = false;
  let isRecordDue = false;
  /** The database did not take what has finished: nothing else is done before it has. */
  let failedRecords = 0;
  let recordTimer: NodeJS.Timeout | undefined;
  let ending: 'turn' | 'asked' | 'lost' | DisabledReason | undefined;
  let isOver = false;
  let end = () => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  setMaxListeners(0, calls.signal);
  const renew = setInterval(() => {
    backlog.look();
    if (finished.length > 0 || failedRecords > 0 || clock.steadyMs() - leasedAtMs >= renewAfterMs) noteRecordDue();
    else step();
  }, lookEveryMs);

  const mayTryNew = () => health.restsUntilMs === null || health.restsUntilMs <= clock.nowMs();
  const isLeased = () => clock.steadyMs() < leasedAtMs + leaseMs - leaseMarginMs;

  const line: CallLine = {
    account: options.account,
    endpoint: webhookId,
    get lane() {
      return lane;
    },
    begin: beginAttempt,
    noteAge(ageMs) {
      noteHealth({ ...health, latencyMs: Math.max(Math.round(ageMs), health.latencyMs ?? 0) });
    },
  };

  function hasCall(): boolean {
    if (isOver || ending !== undefined || failedRecords > 0 || !isLeased()) return false;
    return underWay < atOnce && finished.length < 2 * recordAtOnce && backlog.hasMore(mayTryNew());
  }

  /** Does all that can be done now. Called whenever something has changed. */
  function step(): void {
    if (isOver) return;
    if (begun >= turn.calls || clock.steadyMs() - begunAtMs >= turn.ms) ending ??= 'turn';
    if (ending === undefined && failedRecords === 0) {
      if (!isLeased()) isRecordDue = true;
      if (!isFilling && backlog.wants(mayTryNew())) void fill();
    }
    if (hasCall()) slots.join(line);
    else slots.leave(line);
    if (isRecording) return;
    const isIdle = underWay === 0 && !isFilling;
    const isLast = isIdle && (ending !== undefined || !backlog.hasMore(mayTryNew()));
    if (isLast && ending === 'lost') finish();
    else if (isLast ? failedRecords === 0 || isRecordDue : isRecordDue && ending !== 'lost') void record(isLast);
    else if (finished.length > 0) recordTimer ??= setTimeout(noteRecordDue, recordAfterMs);
  }

  function noteRecordDue(): void {
    isRecordDue = true;
    step();
  }

  /** In its turn. */
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
    health = now;
    if (laneOf(health) === lane) return;
    lane = laneOf(health);
    options.onLane(lane);
  }

  async function tryOnce({ delivery, event }: Pending): Promise<void> {
    const attempted = await attempt({ client, clock }, { url: target.url, secrets }, event, calls.signal);
    // It may have arrived or not: the next worker tries it again.
    if (calls.signal.aborted) return;
    const nowMs = clock.nowMs();
    const succeeded = attempted.outcome === 'delivered';
    finished.push(afterAttempt(delivery, attempted, { nowMs, fraction: randomFraction() }));
    const measured = { ...health, latencyMs: latencyAfter(health.latencyMs, attempted.milliseconds) };
    noteHealth(succeeded ? afterSuccess(measured, nowMs) : afterFailure(measured, nowMs));
    atOnce = atOnceAfter(atOnce, succeeded);
    options.onAttempt(attempted);
    if (attempted.outcome === 'gone') beginEnd('gone');
    else if (isHopeless(health, nowMs)) beginEnd('no_success');
  }

  async function fill(): Promise<void> {
    isFilling = true;
    try {
      const lost = await backlog.fill(mayTryNew());
      finished.push(...lost.map((delivery) => asLost(delivery, clock.nowMs())));
    } catch (error) {
      log.warn({ webhook: webhookId, reason: (error as Error).message }, 'events of a webhook could not be read');
      // Not at once: the next claim would most likely fail in the same way.
      await new Promise((done) => setTimeout(done, retryFillMs));
      beginEnd('asked');
    }
    isFilling = false;
    step();
  }

  function progress(giveBack: boolean): CourseProgress {
    const deliveries = finished;
    finished = [];
    for (const { position } of deliveries) backlog.settle(position);
    const position = backlog.settledTo();
    return { ...health, webhookId, claim, position, deliveries, calls: seenCalls, giveBack, nowMs: clock.nowMs() };
  }

  /** Records what has finished, and renews the lease or gives it back. */
  async function record(isLast: boolean): Promise<void> {
    isRecording = true;
    isRecordDue = false;
    clearTimeout(recordTimer);
    recordTimer = undefined;
    const sentAtMs = clock.steadyMs();
    const given = progress(isLast);
    try {
      if (isLast && (ending === 'gone' || ending === 'no_success')) await options.disable(given, ending);
      else noteRecorded(await recordProgress(database, given), sentAtMs);
      failedRecords = 0;
      for (const { position } of given.deliveries) backlog.confirm(position);
      if (isLast) finish();
    } catch (error) {
      // The next renewal tries again. If another worker has the claim by then, it tells these events again.
      finished.unshift(...given.deliveries);
      failedRecords++;
      if (failedRecords === 1)
        log.warn(
          { webhook: webhookId, reason: (error as Error).message },
          'deliveries of a webhook were not recorded yet',
        );
      if (failedRecords > recordTries) finish();
    }
    isRecording = false;
    step();
  }

  function finish(): void {
    isOver = true;
    slots.leave(line);
    clearInterval(renew);
    clearTimeout(recordTimer);
    end();
  }

  function noteRecorded(recorded: Recorded | undefined, sentAtMs: number): void {
    if (recorded === undefined) {
      beginEnd('lost');
      return;
    }
    leasedAtMs = sentAtMs;
    if (recorded.askedBack) beginEnd('asked');
    if (recorded.calls !== seenCalls) backlog.look();
    seenCalls = recorded.calls;
  }

  function beginEnd(reason: Exclude<typeof ending, undefined>): void {
    if (ending === undefined || ending === 'turn' || reason === 'lost') ending = reason;
    if (reason === 'lost') calls.abort();
    else if (reason !== 'turn') setTimeout(() => calls.abort(), endWithinMs).unref();
    step();
  }

  queueMicrotask(step);
  return {
    webhookId,
    claim,
    ended,
    get isEnding() {
      return ending !== undefined;
    },
    askBack: () => beginEnd('asked'),
    endTurn: () => beginEnd('turn'),
  };
}

function asLost(delivery: Delivery, nowMs: number): Delivery {
  const attempt = { timeMs: nowMs, statusCode: null, milliseconds: 0, error: 'The event is not kept any more.' };
  return { ...delivery, status: 'failed', nextAttemptAtMs: null, attempts: [...delivery.attempts, attempt] };
}
