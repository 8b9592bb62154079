// Tests: test/contract/fallback.test.ts, test/races/fallback.test.ts
import type { SendingRights } from '../../http/sending-rights.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Batch } from '../../platform/database/batch.ts';
import type { Database } from '../../platform/database/database.ts';
import { ApiError } from '../../platform/errors.ts';
import type { Log } from '../../platform/log.ts';
import { createPoller } from '../../platform/work/poller.ts';
import type { Woken } from '../../platform/work/wake-list.ts';
import { codeSender } from '../code-sender.ts';
import { mayUse } from '../start/channel-rights.ts';
import type { StartRequest } from '../start/decision.ts';
import type { StartAnswer, StartItem } from '../start/item.ts';
import { templateFor } from '../texts/country-template.ts';
import { prepareText } from '../texts/prepared-text.ts';
import { endPlans, findDue, type WaitingPlan } from './store.ts';

export interface FallbackWorkerOptions {
  database: Database;
  clock: Clock;
  log: Log;
  /** Decides and commits a step like a start, with the same locks, daily limit and guard. */
  starts: Batch<StartItem, StartAnswer | ApiError>;
  /** Adds the answer of the operator's risk check; never rejects because the check failed. */
  withRisk: (request: StartRequest) => Promise<StartRequest>;
  /** What an application may send now; undefined if it is not registered for the API, or its account is disabled. */
  findRights: (applicationId: string) => Promise<SendingRights | undefined>;
  /** Wakes the carriers that may have something to send. */
  wake: (carriers: Woken) => void;
  /** False while this node's clock is wrong. */
  mayRun?: (() => boolean) | undefined;
}

const pauseMs = { waiting: 500, idle: 1000 };

/** Takes the steps that are due. Workers of several nodes may find the same step: a row lock decides which one takes it. */
export function createFallbackWorker(options: FallbackWorkerOptions) {
  const { database, clock, log, starts, withRisk, findRights, wake, mayRun = () => true } = options;
  let isWaiting = false;

  async function poll(): Promise<void> {
    if (!mayRun()) return;
    const { due, waiting } = await findDue(database, clock.nowMs());
    isWaiting = waiting;
    const rightsOf = new Map<string, Promise<SendingRights | undefined>>();
    for (const { applicationId } of due)
      if (!rightsOf.has(applicationId)) rightsOf.set(applicationId, findRights(applicationId));
    await Promise.all(due.map(async (plan) => take(plan, await rightsOf.get(plan.applicationId))));
  }

  async function take(plan: WaitingPlan, rights: SendingRights | undefined): Promise<void> {
    if (rights === undefined) return endPlans(database, [plan.verificationId]);
    const request = toRequest(plan, rights);
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
    onFailure: ({ message: reason }) =>
      log.debug({ reason }, 'fallback steps of verifications could not be taken; will retry'),
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

/**
 * Makes the request of a step: the text is the start's; rights, daily limit, sender and country template are the present
 * ones.
 */
function toRequest(waiting: WaitingPlan, rights: SendingRights): StartRequest | undefined {
  const { verificationId, applicationId, to, correlationId, codeLength, index, awaited, plan, hasFailed } = waiting;
  const step = plan.steps[index];
  if (step === undefined) return undefined;
  const { channel } = step;
  const { own: _, ...template } = step.template;
  const text = prepareText({ ...template, ...(channel === 'sms' && templateFor(rights, to)) });
  return {
    ...{ applicationId, to, channel, codeLength, correlationId, text },
    mayUseChannel: mayUse(rights, channel, to),
    sender: codeSender(rights, to, text.sender, channel),
    reference: null,
    payment: null,
    profile: plan.profile ?? null,
    ttlSeconds: 0,
    app: template.app,
    segmentsPerDay: rights.segmentsPerDay,
    holds: rights.holds,
    clients: [],
    step: { verificationId, index, awaited, because: hasFailed ? 'failed' : 'not_approved', plan },
  };
}
