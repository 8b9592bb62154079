// Tests: test/contract/fallback.test.ts, test/races/fallback.test.ts
import type { Clock } from '../../platform/clock.ts';
import type { Batch } from '../../platform/database/batch.ts';
import type { Database } from '../../platform/database/database.ts';
import { ApiError } from '../../platform/errors.ts';
import type { Log } from '../../platform/log.ts';
import { createPoller } from '../../platform/work/poller.ts';
import type { Woken } from '../../platform/work/wake-list.ts';
import type { StartRequest } from '../start/decision.ts';
import type { StartAnswer, StartItem } from '../start/item.ts';
import { prepareText } from '../texts/prepared-text.ts';
import { findDue, type WaitingPlan } from './store.ts';

export interface FallbackWorkerOptions {
  database: Database;
  clock: Clock;
  log: Log;
  /** Decides and commits a step as it does a start, so that locks, spend and guard are the same. */
  starts: Batch<StartItem, StartAnswer | ApiError>;
  /** Adds what the operator's risk check says of a send; it never fails for the check. */
  withRisk: (request: StartRequest) => Promise<StartRequest>;
  /** These carriers may have something to send. */
  wake: (carriers: Woken) => void;
  /** False while this node's clock is wrong. */
  mayRun?: (() => boolean) | undefined;
}

const pauseMs = { waiting: 500, idle: 1000 };

/** Takes the steps that are due. Several nodes may run a worker: the rows decide which of them takes a step. */
export function createFallbackWorker(options: FallbackWorkerOptions) {
  const { database, clock, log, starts, withRisk, wake, mayRun = () => true } = options;
  let isWaiting = false;

  async function poll(): Promise<void> {
    if (!mayRun()) return;
    const { due, waiting } = await findDue(database, clock.nowMs());
    isWaiting = waiting;
    await Promise.all(due.map(take));
  }

  async function take(plan: WaitingPlan): Promise<void> {
    const request = toRequest(plan);
    if (request === undefined) return;
    // The row stays due meanwhile: an approval ends it, and after a crash the next poll finds it again.
    const answer = await starts.submit({ request: await withRisk(request), key: undefined, keep: () => undefined });
    // Another worker has taken the step, or the verification has ended.
    if (answer instanceof ApiError) return;
    wake(answer.carriers);
  }

  const poller = createPoller({
    run: poll,
    pauseMs: () => (isWaiting ? pauseMs.waiting : pauseMs.idle),
    onFailure: ({ message: reason }) => log.debug({ reason }, 'steps of verifications were not taken; will retry'),
  });

  return {
    poll,
    start: () => poller.start(0),
    async stop(): Promise<void> {
      await poller.stop();
      await starts.drain();
    },
  };
}

function toRequest(waiting: WaitingPlan): StartRequest | undefined {
  const { verificationId, applicationId, to, correlationId, codeLength, index, awaited, plan, hasFailed } = waiting;
  const step = plan.steps[index];
  if (step === undefined) return undefined;
  const { channel, template, sender, mayUseChannel } = step;
  return {
    ...{ applicationId, to, channel, mayUseChannel, codeLength, correlationId, sender },
    reference: null,
    payment: null,
    profile: plan.profile ?? null,
    ttlSeconds: 0,
    text: prepareText(template),
    app: template.app,
    segmentsPerDay: plan.segmentsPerDay,
    holds: [],
    clients: [],
    step: { verificationId, index, awaited, because: hasFailed ? 'failed' : 'not_approved', plan },
  };
}
