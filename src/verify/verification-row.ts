import { type Channel, channelNames } from '../messages/channel.ts';
import { readTime, readTimeOrNull } from '../platform/database/connections/times.ts';
import { packed, unpack } from '../platform/database/packed-row.ts';
import { fromUuid } from '../platform/ids.ts';
import {
  type Outcome,
  type Reason,
  type Verification,
  type VerificationStatus,
  verificationStatuses,
} from './verification.ts';

// Postgres stores a name as its index in these lists: append only, never remove or reorder.
export const reasons: readonly Reason[] = [
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
  'spend_limit',
  'suspected_pumping',
  'restored',
  'reported_by_client',
  'channel_not_allowed',
  'risk',
];

export function statusCode(status: VerificationStatus): number {
  return codeIn(verificationStatuses, status);
}

export function reasonOf(code: number): Reason {
  return nameIn(reasons, code);
}

export function reasonCode(reason: Reason | null): number | null {
  return reason === null ? null : codeIn(reasons, reason);
}

export function channelCode(channel: Channel): number {
  return codeIn(channelNames, channel);
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

/** The columns that every statement reads of a verification. A `?` marks a nullable one. */
const packedColumns = [
  'id',
  'application_id',
  'channel',
  'recipient',
  'status',
  'reason?',
  'code_length',
  'ring_version',
  'code_hash?',
  'test_number',
  'attempts',
  'max_attempts',
  'sends',
  'correlation_id',
  'text_ids',
  'resend_available_at?',
  'created_at',
  'updated_at',
  'expires_at',
  'approved_at?',
  'outcome?',
  'payment?',
  'precheck?',
  'inbound?',
];

/** A row as `verificationColumns` selects it. */
export interface VerificationRow {
  packed: string;
  reference: string | null;
}

/** The columns packed for Node, from a table or from a CTE that returns `recordColumns`. */
export const verificationColumns = (table: string) => `${packed(packedColumns, table)} as packed, ${table}.reference`;

/** The same columns unpacked, for a CTE that other parts of its statement read. */
export const recordColumns = (table: string) =>
  [...packedColumns, 'reference'].map((column) => `${table}.${column.replace('?', '')}`).join(', ');

export function toVerification(row: VerificationRow): Verification {
  const cells = unpack(row.packed);
  const cell = (at: number) => cells[at] ?? '';
  return {
    id: fromUuid('ver', cell(0)),
    applicationId: fromUuid('app', cell(1)),
    channel: nameIn(channelNames, Number(cell(2))),
    to: cell(3),
    status: statusOf(Number(cell(4))),
    reason: cell(5) === '' ? null : nameIn(reasons, Number(cell(5))),
    codeLength: Number(cell(6)),
    ringVersion: Number(cell(7)),
    codeHash: cell(8) === '' ? null : cell(8),
    testNumber: cell(9) === 't',
    attempts: Number(cell(10)),
    maxAttempts: Number(cell(11)),
    sends: Number(cell(12)),
    reference: row.reference,
    correlationId: fromUuid('req', cell(13)),
    textIds: toTextIds(cell(14)),
    resendAvailableAtMs: readTimeOrNull(cell(15)),
    createdAtMs: readTime(cell(16)),
    updatedAtMs: readTime(cell(17)),
    expiresAtMs: readTime(cell(18)),
    approvedAtMs: readTimeOrNull(cell(19)),
    outcome: cell(20) === '' ? null : nameOfOutcome(Number(cell(20))),
    payment: cell(21) === '' ? null : cell(21),
    precheck: cell(22) === '' ? null : cell(22),
    inbound: cell(23) === '' ? null : cell(23),
  };
}

function nameOfOutcome(code: number): Outcome {
  return code === statusCode('approved') ? 'approved' : 'failed';
}

/** Reads `{uuid,uuid}`. */
function toTextIds(text: string): string[] {
  return text.length === 2
    ? []
    : text
        .slice(1, -1)
        .split(',')
        .map((id) => fromUuid('msg', id));
}
