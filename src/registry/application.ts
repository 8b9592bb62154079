import type { Api } from '../http/route.ts';
import type { PlanName } from '../settings/settings.ts';

export const apis: readonly Api[] = ['sms', 'verify', 'messaging'];
export const planNames: readonly PlanName[] = ['free', 'pro', 'enterprise'];

export type RegistrationStatus = 'approved' | 'pending' | 'rejected';

export interface Application {
  id: string;
  name: string;
  /** The reply to a help word that people text to its number. Null: our default sentence. */
  helpText: string | null;
  /** The profile that its verifications keep; null for the standard. */
  assurance: string | null;
  createdAtMs: number;
  updatedAtMs: number;
}

/** What an operator has allowed to an application. */
export type Allowances = Pick<Application, 'id' | 'name'> & { highPriority: boolean };

/** One application registered for one API. Limits count per registration. */
export interface Registration {
  id: string;
  applicationId: string;
  api: Api;
  plan: PlanName;
  status: RegistrationStatus;
  /** Production: the requested plan, while it waits for an operator and `plan` still applies. */
  requestedPlan: PlanName | null;
  /** Why an operator rejected it, or the last change of plan. Null from the next request on. */
  reason: string | null;
  createdAtMs: number;
  updatedAtMs: number;
}

/** What a request or a decision changes. */
export type RegistrationState = Pick<Registration, 'plan' | 'status' | 'requestedPlan' | 'reason'>;

/** Registers, or changes the plan. The sandbox approves at once; production waits for an operator. */
export function afterPlanRequest(
  existing: Pick<Registration, 'plan' | 'status'> | undefined,
  plan: PlanName,
  environment: 'sandbox' | 'production',
): RegistrationState {
  const reason = null;
  if (environment === 'sandbox') return { plan, status: 'approved', requestedPlan: null, reason };
  if (existing?.status !== 'approved') return { plan, status: 'pending', requestedPlan: null, reason };
  return { plan: existing.plan, status: 'approved', requestedPlan: plan === existing.plan ? null : plan, reason };
}

export function afterApproval(existing: Registration): RegistrationState {
  return { plan: existing.requestedPlan ?? existing.plan, status: 'approved', requestedPlan: null, reason: null };
}

/** Rejecting a plan change keeps the old plan; rejecting a first registration ends it. */
export function afterRejection(existing: Registration, reason: string): RegistrationState {
  const status = existing.requestedPlan === null ? 'rejected' : existing.status;
  return { plan: existing.plan, status, requestedPlan: null, reason };
}

export function isWaiting({ status, requestedPlan }: Pick<Registration, 'status' | 'requestedPlan'>): boolean {
  return status === 'pending' || requestedPlan !== null;
}

/** SMS needs an API key. The other two need a token of the application's client. */
export function credentialFor(api: Api): 'api_key' | 'client' {
  return api === 'sms' ? 'api_key' : 'client';
}

export function scopeFor(api: Exclude<Api, 'sms'>): string {
  return api === 'verify' ? 'openid verify:manage' : 'openid messaging:send';
}
