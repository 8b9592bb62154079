import type { Api } from '../http/route.ts';
import type { PlanName } from '../platform/config.ts';

export const apis: readonly Api[] = ['sms', 'verify', 'messaging'];
export const planNames: readonly PlanName[] = ['free', 'pro', 'enterprise'];

export type RegistrationStatus = 'approved' | 'pending' | 'rejected';

export interface Application {
  id: string;
  name: string;
  createdAtMs: number;
  updatedAtMs: number;
}

/** One application registered against one API. Limits are counted per registration. */
export interface Registration {
  id: string;
  applicationId: string;
  api: Api;
  plan: PlanName;
  status: RegistrationStatus;
  /** Production: asked for, and waiting for an operator, while `plan` still holds. */
  requestedPlan: PlanName | null;
  createdAtMs: number;
  updatedAtMs: number;
}

/** What registering does to what is there: the sandbox approves at once, production asks an operator. */
export function registered(
  existing: Pick<Registration, 'plan' | 'status'> | undefined,
  plan: PlanName,
  environment: 'sandbox' | 'production',
): Pick<Registration, 'plan' | 'status' | 'requestedPlan'> {
  if (environment === 'sandbox') return { plan, status: 'approved', requestedPlan: null };
  if (existing?.status !== 'approved') return { plan, status: 'pending', requestedPlan: null };
  return { plan: existing.plan, status: 'approved', requestedPlan: plan === existing.plan ? null : plan };
}

export function approved(existing: Registration): Pick<Registration, 'plan' | 'status' | 'requestedPlan'> {
  return { plan: existing.requestedPlan ?? existing.plan, status: 'approved', requestedPlan: null };
}

/** Turning down a change of plan leaves the old plan as it was; turning down a first registration ends it. */
export function rejected(existing: Registration): Pick<Registration, 'plan' | 'status' | 'requestedPlan'> {
  const status = existing.requestedPlan === null ? 'rejected' : existing.status;
  return { plan: existing.plan, status, requestedPlan: null };
}

export function isWaiting({ status, requestedPlan }: Pick<Registration, 'status' | 'requestedPlan'>): boolean {
  return status === 'pending' || requestedPlan !== null;
}

/** SMS is opened by an API key, the other two by a token of the application's one client. */
export function credentialFor(api: Api): 'api_key' | 'client' {
  return api === 'sms' ? 'api_key' : 'client';
}

export function scopeFor(api: Exclude<Api, 'sms'>): string {
  return api === 'verify' ? 'openid verify:manage' : 'openid messaging:send';
}
