import { setMaxListeners } from 'node:events';
import type { Log } from '../platform/log.ts';
import { randomFraction } from '../platform/random.ts';
import type { Delivery, DisabledReason } from './webhook.ts';
import { type Attempted, afterAttempt, attempt } from './webhook-attempt.ts';
import { type BacklogOptions, createBacklog, type Pending } from './webhook-backlog.ts';
import type { WebhookClient } from './webhook-client.ts';
import { type CourseProgress, leaseMs, type Recorded, recordProgress } from './webhook-course-store.ts';
import { afterFailure, afterSuccess, atOnceAfter, atOnceFirst, type Health, isHopeless } from './webhook-pace.ts';
import type { SigningSecret } from './webhook-secret-store.ts';
import type { Slots } from './webhook-slots.ts';

export interface CourseOptions extends BacklogOptions {
  secrets: SigningSecret[];
  client: WebhookClient;
  slots: Slots;
  log: Log;
  /** Before the claim was asked for, by the steady clock. */
  claimedAtMs: number;
  onAttempt: (attempted: Attempted) => void;
  /** Records the progress and disables the webhook, both or none. Returns false if the claim is another's by now. */
  disable: (progress: CourseProgress, reason: DisabledReason) => Promise<boolean>;
}

/** A webhook in the hands of this process, from its claim until it is given back. */
export interface Course {
  readonly webhookId: string;
  readonly claim: number;
  readonly isFailing: boolean;
  readonly ended: Promise<void>;
  /** Begins no attempt any more, and gives the webhook back within about a second. */
  askBack(): void;
}

/** No attempt begins in the last part of a lease that was not renewed. */
const leaseMarginMs = 1000;
const renewEveryMs = 1000;
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
  const calls = new AbortController();
  let health: Health = claimed;
  let atOnce = atOnceFirst(claimed);
  let leasedAtMs = options.claimedAtMs;
  let seenCalls = claimed.calls;
  let underWay = 0;
  let finished: Delivery[] = [];
  let isFilling = false;
  let isRecording = false;
  let isRecordDue = false;
  /** The database did not take what has finished: nothing else is done before it has. */
  let failedRecords = 0;
  let recordTimer: NodeJS.Timeout | undefined;
  let ending: 'asked' | 'lost' | DisabledReason | undefined;
  let isOver = false;
  let end = () => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  setMaxListeners(0, calls.signal);
  const renew = setInterval(() => {
    backlog.look();
    noteRecordDue();
  }, renewEveryMs);

  const mayTryNew = () => health.restsUntilMs === null || health.restsUntilMs <= clock.nowMs();
  const isLeased = () => clock.steadyMs() < leasedAtMs + leaseMs - leaseMarginMs;

  /** Does all that can be done now. Called whenever something has changed. */
  function step(): void {
    if (isOver) return;
    if (ending === undefined && failedRecords === 0) {
      if (isLeased()) beginAttempts();
      else isRecordDue = true;
      if (!isFilling && backlog.wants(mayTryNew())) void fill();
    }
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

  function beginAttempts(): void {
    while (underWay < atOnce && finished.length < 2 * recordAtOnce) {
      const pending = backlog.take(mayTryNew());
      if (pending === undefined) return;
      const isFailing = health.failures > 0;
      if (!slots.take(isFailing, step)) {
        backlog.putBack(pending);
        return;
      }
      underWay++;
      void tryOnce(pending).finally(() => {
        underWay--;
        slots.free(isFailing);
        step();
      });
    }
  }

  async function tryOnce({ delivery, event }: Pending): Promise<void> {
    const attempted = await attempt({ client, clock }, { url: target.url, secrets }, event, calls.signal);
    // It may have arrived or not: the next worker tries it again.
    if (calls.signal.aborted) return;
    const nowMs = clock.nowMs();
    const succeeded = attempted.outcome === 'delivered';
    finished.push(afterAttempt(delivery, attempted, { nowMs, fraction: randomFraction() }));
    health = succeeded ? afterSuccess(health, nowMs) : afterFailure(health, nowMs);
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
    ending ??= reason;
    if (reason === 'lost') {
      ending = 'lost';
      calls.abort();
    } else setTimeout(() => calls.abort(), endWithinMs).unref();
    step();
  }

  queueMicrotask(step);
  return {
    webhookId,
    claim,
    isFailing: claimed.failures > 0,
    ended,
    askBack: () => beginEnd('asked'),
  };
}

function asLost(delivery: Delivery, nowMs: number): Delivery {
  const attempt = { timeMs: nowMs, statusCode: null, milliseconds: 0, error: 'The event is not kept any more.' };
  return { ...delivery, status: 'failed', nextAttemptAtMs: null, attempts: [...delivery.attempts, attempt] };
}
