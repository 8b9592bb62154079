// Tests: test/races/fallback.test.ts, test/contract/fallback.test.ts
import type { Tx } from '../../platform/database/database.ts';
import { ApiError } from '../../platform/errors.ts';
import {
  type CountedStart,
  earlierRefusal,
  furtherRefusal,
  type PendingStart,
  type StartDecision,
  type StartDecisionOptions,
  type StartRequest,
  sendAgain,
} from '../start/decision.ts';
import { mostSends, type Verification } from '../verification.ts';
import type { SkipReason } from './plan.ts';
import { endPlans, lockSteps, type PlanChange, putPlans } from './store.ts';

type Decided = StartDecision | ApiError;

/** Locks the verifications of fallback steps. Returns the ids of those whose step no other worker has taken. */
export function lockDueSteps(tx: Tx, requests: readonly StartRequest[]): Promise<ReadonlySet<string>> {
  const steps = requests.flatMap(({ step }) => step ?? []);
  return steps.length === 0 ? Promise.resolve(none) : lockSteps(tx, steps);
}

const none: ReadonlySet<string> = new Set();

/**
 * Decides a fallback step by the rules of a start by the step's channel. `waiting` is what `lockDueSteps` has returned. Returns
 * an error if the verification has ended, or if another worker has taken the step.
 */
export function decideStep(
  options: StartDecisionOptions,
  request: StartRequest,
  open: PendingStart | undefined,
  waiting: ReadonlySet<string>,
  counts: CountedStart | undefined,
): Decided {
  const id = request.step?.verificationId ?? '';
  if (open === undefined || open.verification.id !== id || !waiting.has(id))
    return new ApiError('INCOMPATIBLE_STATE', 'This fallback step is no longer due.');
  if (open.verification.sends >= mostSends) return skipStep(open.verification, 'too_many_sends');
  const refusal = furtherRefusal(options, request, open.verification, counts) ?? earlierRefusal(request);
  if (refusal !== null) return skipStep(open.verification, refusal);
  const decided = sendAgain(options, request, open);
  if (!(decided instanceof ApiError)) return decided;
  return skipStep(open.verification, decided.code === 'UNROUTABLE_DESTINATION' ? 'unroutable' : 'no_carrier');
}

/** A step that sends nothing. The one after it follows at once, but not where the risk check blocks the number. */
export function skipStep(verification: Verification, skipped: SkipReason): StartDecision {
  return { verification, superseded: undefined, message: undefined, clients: [], sealedCode: null, skipped };
}

/**
 * Writes the plans of new starts, ends plans that a start without a fallback replaces, and records steps that were taken.
 */
export async function writePlans(
  tx: Tx,
  requests: readonly StartRequest[],
  decisions: readonly Decided[],
  continues: (decision: StartDecision) => boolean,
  nowMs: number,
): Promise<void> {
  const changes: PlanChange[] = [];
  const ended: string[] = [];
  requests.forEach((request, index) => {
    const decision = decisions[index];
    if (decision === undefined || decision instanceof ApiError) return;
    if (request.step !== undefined) changes.push(afterStep(request, decision, nowMs));
    else if (decision.message === undefined) return;
    else if (request.fallback !== undefined) changes.push(newPlan(request, decision, nowMs));
    else if (continues(decision)) ended.push(decision.verification.id);
  });
  await putPlans(tx, changes);
  await endPlans(tx, ended);
}

function newPlan({ fallback, profile }: StartRequest, decision: StartDecision, nowMs: number): PlanChange {
  const steps = fallback ?? [];
  return {
    verificationId: decision.verification.id,
    awaited: decision.message?.id ?? null,
    dueAtMs: sentAtMs(decision, nowMs) + (steps[0]?.afterSeconds ?? 0) * 1000,
    index: 0,
    plan: { steps, profile },
    taken: undefined,
  };
}

function afterStep({ step, risk }: StartRequest, decision: StartDecision, nowMs: number): PlanChange {
  const { message, skipped } = decision;
  if (step === undefined) throw new Error('the request is a step');
  const { verificationId, index, because, plan } = step;
  const own = plan.steps[index];
  const isBlocked = skipped === 'risk';
  const next = isBlocked ? undefined : plan.steps[index + 1];
  const waitMs = skipped === undefined ? (next?.afterSeconds ?? 0) * 1000 : 0;
  return {
    verificationId,
    awaited: message?.id ?? null,
    dueAtMs: next === undefined ? null : sentAtMs(decision, nowMs) + waitMs,
    index: index + 1,
    plan: undefined,
    taken: own && {
      atMs: nowMs,
      channel: own.channel,
      because,
      afterSeconds: own.afterSeconds,
      ...(skipped !== undefined && { skipped }),
      ...(isBlocked && risk !== undefined && { risk }),
    },
  };
}

/** The wait for the next step begins when the text is created, which is after `nowMs` was read. */
function sentAtMs({ message }: StartDecision, nowMs: number): number {
  return message?.createdAtMs ?? nowMs;
}
