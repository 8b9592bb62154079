import { type EventType, typeCode } from '../events/event.ts';
import { insertEvents } from '../events/event-inserts.ts';
import { apiNames } from '../http/route.ts';
import type { MessageStatus } from './message.ts';
import { statusCode, statusCodes } from './message-row.ts';

/** Statuses that emit an event. */
const emittedAs: Partial<Record<MessageStatus, EventType>> = {
  sent: 'message.sent',
  delivered: 'message.delivered',
  undelivered: 'message.undelivered',
  failed: 'message.failed',
  expired: 'message.expired',
  canceled: 'message.canceled',
  unknown: 'message.unknown',
};

const typeOfStatus = `case status ${Object.entries(emittedAs)
  .map(([status, type]) => `when ${statusCode(status as MessageStatus)} then ${typeCode(type)}`)
  .join(' ')} end`;

/** Columns that a statement which changes messages returns, for `insertEnds` and `reportChanges`. */
export const changedColumns = (of = '') => `${of}id, ${of}application_id as "applicationId", ${of}api, ${of}status,
      ${of}sequence, ${of}updated_at, ${of}error_code, ${of}status_callback`;

/**
 * CTEs that write the events of changed messages (the CTE `rows`, with `changedColumns`), and the calls and receipts of
 * those that report their status. Planning these takes Postgres a third longer, so `anyIsReported` can leave them out.
 */
export function reportChanges(rows: string, suffix = '', anyIsReported = true): string {
  const emitted = `emitted${suffix} as (${insertMessageEvents(rows)})`;
  return anyIsReported ? `${emitted},\n    ${reportStatus(rows, suffix)}` : emitted;
}

/** The calls and receipts alone. */
export function reportStatus(rows: string, suffix = ''): string {
  return `called${suffix} as (${insertStatusCalls(rows)}),
    receipted${suffix} as (${insertReceipts(rows)})`;
}

/**
 * Writes the events of messages whose status has changed. `rows` is a CTE with `changedColumns`. Texts of verifications emit
 * none: their verification does.
 */
function insertMessageEvents(rows: string): string {
  return insertEvents(`(
      select "applicationId" as application_id, id as subject, updated_at as time, sequence, ${typeOfStatus} as type, api,
        error_code
      from ${rows} where api <> ${apiNames.indexOf('verify')})`);
}

const reported: MessageStatus[] = ['sent', 'delivered', 'undelivered', 'failed', 'expired', 'canceled'];

/**
 * Writes a call for each text that has an address to call (`src/twilio`). Callers see `unknown` as sent there, so it is
 * reported only as the first change.
 */
function insertStatusCalls(rows: string): string {
  return `insert into status_call (application_id, message_id, sequence, url, status, error_code, due_at)
    select "applicationId", id, sequence, status_callback, status, error_code, updated_at from ${rows}
    where status_callback is not null and status_callback not like 'smpp:%' and (status in (${statusCodes(reported)})
      or status = ${statusCode('unknown')} and sequence = 1)
    on conflict do nothing`;
}

const ends: MessageStatus[] = ['delivered', 'undelivered', 'failed', 'expired', 'canceled', 'unknown'];
/** The kind of a receipt in the table smpp_delivery. */
const receiptKind = 0;

/**
 * Stores receipts for texts that were sent by SMPP: `smpp:`, which receipts were asked for, the account, and the parts
 * that have ids of their own (`src/smpp-server`). `a` asks for every end, `f` for failures, `s` for success, upper case
 * also for `sent`, and `E` for `sent` alone.
 */
function insertReceipts(rows: string): string {
  const wish = 'substr(status_callback, 6, 1)';
  const [sent, delivered] = [statusCode('sent'), statusCode('delivered')];
  return `insert into smpp_delivery (owner, application_id, kind, subject, part_id, status, error_code, created_at, due_at)
    select substr(status_callback, 8, 36)::uuid, "applicationId", ${receiptKind}, id, p.part::uuid, status, error_code,
      updated_at, updated_at
    from ${rows} left join lateral string_to_table(nullif(substr(status_callback, 45), ''), ',') as p(part) on true
    where status_callback like 'smpp:%' and (
      status = ${sent} and ${wish} = upper(${wish})
      or status in (${statusCodes(ends)}) and ${wish} <> 'E'
        and (lower(${wish}) = 'a' or (lower(${wish}) = 's') = (status = ${delivered})))`;
}

/** SQL that drops the calls of texts that have not been made yet. */
export function deleteStatusCalls(rows: string): string {
  return `delete from status_call s using ${rows} r where s.message_id = r.id`;
}
