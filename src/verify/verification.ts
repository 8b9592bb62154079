import type { Channel } from '../messages/channel.ts';
import { minuteMs } from '../platform/clock.ts';

export type VerificationStatus = 'pending' | 'approved' | 'failed' | 'expired' | 'canceled' | 'blocked';

/** Postgres stores a status as its index in this list: append only, never remove or reorder. */
export const verificationStatuses: readonly VerificationStatus[] = [
  'pending',
  'approved',
  'failed',
  'expired',
  'canceled',
  'blocked',
];

/** What a caller can report about a code that it made and checked itself. Each is a status too. */
export const outcomes = ['approved', 'failed'] as const;
export type Outcome = (typeof outcomes)[number];

export type BlockReason =
  | 'country_not_allowed'
  | 'block_list'
  | 'number_type'
  | 'destination_limit'
  | 'prefix_velocity'
  | 'too_many_failures'
  | 'spend_limit'
  | 'suspected_pumping'
  | 'channel_not_allowed'
  | 'risk';

export type Reason =
  | 'incorrect_code'
  | 'max_attempts_reached'
  | 'ttl_elapsed'
  | 'canceled_by_client'
  | 'superseded'
  | 'restored'
  | 'reported_by_client'
  | BlockReason;

export interface Verification {
  id: string;
  applicationId: string;
  /** The channel of its newest send. A proof may name another one: see `assurance/proof-claims.ts`. */
  channel: Channel;
  to: string;
  status: VerificationStatus;
  reason: Reason | null;
  codeLength: number;
  ringVersion: number;
  /** The keyed hash of the caller's code, as Postgres prints bytes; null where the code derives from the id. */
  codeHash: string | null;
  /** The payment that the code confirms, as a cell (`payment.ts`); nearly always none. */
  payment: string | null;
  /** What was checked before its newest text was sent, as a cell (`assurance/precheck.ts`). */
  precheck: string | null;
  /** Set if a text from the person approves it: the number to text and a name (`inbound/request-text.ts`). */
  inbound: string | null;
  testNumber: boolean;
  attempts: number;
  maxAttempts: number;
  sends: number;
  reference: string | null;
  /** The request that started it. */
  correlationId: string;
  /** Its texts, newest last. */
  textIds: string[];
  resendAvailableAtMs: number | null;
  createdAtMs: number;
  updatedAtMs: number;
  expiresAtMs: number;
  approvedAtMs: number | null;
  /** What the caller reported. */
  outcome: Outcome | null;
}

export const mostAttempts = 5;
export const mostSends = 5;
export const longestTtlSeconds = 600;
/** Servers repeat their calls: a caller's code is not sent again within this time. */
export const givenResendMs = minuteMs;
/** A start with a code that was superseded within this time counts as a late repeat of an earlier call. */
export const lateRepeatMs = 10 * minuteMs;
/**
 * Maximum wrong codes per application and number in 24 hours, over all verifications, so that guesses cannot add up.
 */
export const mostFailuresADay = 15;
/** How long after the approval its proof is valid. */
export const proofMs = 10 * minuteMs;

/** A pending verification has expired once its time is over, even if its row does not show it yet. */
export function asOf(verification: Verification, nowMs: number): Verification {
  if (verification.status !== 'pending' || verification.expiresAtMs > nowMs) return verification;
  return { ...verification, status: 'expired', reason: 'ttl_elapsed', updatedAtMs: verification.expiresAtMs };
}

export function attemptsRemaining({ status, attempts, maxAttempts }: Verification): number {
  return status === 'pending' || status === 'approved' ? Math.max(0, maxAttempts - attempts) : 0;
}

/** When a start can send the code again; null if it has ended, its sends are used up or it expires first. */
export function resendAtMs({ status, sends, resendAvailableAtMs, expiresAtMs }: Verification): number | null {
  if (status !== 'pending' || sends >= mostSends || resendAvailableAtMs === null) return null;
  return resendAvailableAtMs < expiresAtMs ? resendAvailableAtMs : null;
}

/** What another start for the same number does while a verification is pending. */
export type Continuation = 'send_again' | 'leave' | 'supersede';

/**
 * `isSameCode`: the start wants the code that was sent, or one of ours with its length. `isNewWay`: it wants a channel that
 * has not had the code yet.
 */
export function continuation(
  pending: Verification,
  wanted: { isSameCode: boolean; isNewWay: boolean },
  nowMs: number,
): Continuation {
  // Two texts with two codes are the most common cause of "wrong code", so the code stays the same while possible.
  if (!wanted.isSameCode) return 'supersede';
  const waited = wanted.isNewWay || pending.resendAvailableAtMs === null || pending.resendAvailableAtMs <= nowMs;
  return waited && pending.sends < mostSends ? 'send_again' : 'leave';
}

/**
 * Tries for a new verification: at most those left for the day, and those left of the verification that it supersedes.
 */
export function triesFor(failuresToday: number, leftOfSuperseded = mostAttempts): number {
  return Math.max(0, Math.min(mostAttempts, mostFailuresADay - failuresToday, leftOfSuperseded));
}
