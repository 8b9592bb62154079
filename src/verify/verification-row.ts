import { fromUuid } from '../platform/ids.ts';
import { type Reason, type Verification, type VerificationStatus, verificationStatuses } from './verification.ts';

// Postgres stores a name as its place in these lists: add at the end, never remove or reorder.
const reasons: readonly Reason[] = [
  'incorrect_code',
  'max_attempts_reached',
  'ttl_elapsed',
  'canceled_by_client',
  'superseded',
  'country_not_allowed',
  'block_list',
  'number_type',
  'destination_limit',
  'prefix_velocity',
  'too_many_failures',
];
const channels = ['sms'];

export function statusCode(status: VerificationStatus): number {
  return codeIn(verificationStatuses, status);
}

export function reasonCode(reason: Reason | null): number | null {
  return reason === null ? null : codeIn(reasons, reason);
}

export function channelCode(channel: string): number {
  return codeIn(channels, channel);
}

export function statusOf(code: number): VerificationStatus {
  return nameIn(verificationStatuses, code);
}

function codeIn(names: readonly string[], name: string): number {
  const code = names.indexOf(name);
  if (code < 0) throw new Error(`${name} has no code in the database`);
  return code;
}

function nameIn<Name extends string>(names: readonly Name[], code: number): Name {
  const name = names[code];
  if (name === undefined) throw new Error(`the database has the unknown code ${code}`);
  return name;
}

/** A row as `verificationColumns` selects it: ids as `uuid`, names as codes. */
export interface VerificationRow extends Omit<Verification, 'status' | 'reason' | 'channel'> {
  status: number;
  reason: number | null;
  channel: number;
}

export const verificationColumns = `id, application_id as "applicationId", channel, recipient as "to", status, reason,
  code_length as "codeLength", ring_version as "ringVersion", test_number as "testNumber", attempts,
  max_attempts as "maxAttempts", sends, reference, correlation_id as "correlationId", text_ids as "textIds",
  resend_available_at as "resendAvailableAtMs", created_at as "createdAtMs", updated_at as "updatedAtMs",
  expires_at as "expiresAtMs", approved_at as "approvedAtMs"`;

export function toVerification(row: VerificationRow): Verification {
  return {
    id: fromUuid('ver', row.id),
    applicationId: fromUuid('app', row.applicationId),
    channel: nameIn(channels, row.channel),
    to: row.to,
    status: statusOf(row.status),
    reason: row.reason === null ? null : nameIn(reasons, row.reason),
    codeLength: row.codeLength,
    ringVersion: row.ringVersion,
    testNumber: row.testNumber,
    attempts: row.attempts,
    maxAttempts: row.maxAttempts,
    sends: row.sends,
    reference: row.reference,
    correlationId: fromUuid('req', row.correlationId),
    textIds: row.textIds.map((id) => fromUuid('msg', id)),
    resendAvailableAtMs: row.resendAvailableAtMs,
    createdAtMs: row.createdAtMs,
    updatedAtMs: row.updatedAtMs,
    expiresAtMs: row.expiresAtMs,
    approvedAtMs: row.approvedAtMs,
  };
}
