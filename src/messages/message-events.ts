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
 * Two parts of a `with`, for every statement that changes the status of messages: their events, and the calls of texts
 * that report their status. `rows` is a part that has `changedColumns`.
 */
export function reportChanges(rows: string, suffix = ''): string {
  return `emitted${suffix} as (${insertMessageEvents(rows)}),
    called${suffix} as (${insertStatusCalls(rows)})`;
}

/**
 * Writes the events of messages whose status has changed. `rows` is a part of a `with` that has `changedColumns`. Texts
 * of verifications emit none: their verification does.
 */
function insertMessageEvents(rows: string): string {
  return insertEvents(`(
      select "applicationId" as application_id, id as subject, updated_at as time, sequence, ${typeOfStatus} as type, api,
        error_code
      from ${rows} where api <> ${apiNames.indexOf('verify')})`);
}

const reported: MessageStatus[] = ['sent', 'delivered', 'undelivered', 'failed', 'expired', 'canceled'];

/**
 * Notes a call for each text that has an address to call (room `twilio`). There `unknown` reads as sent, so it is
 * reported only if it is the first change.
 */
function insertStatusCalls(rows: string): string {
  return `insert into status_call (application_id, message_id, sequence, url, status, error_code, due_at)
    select "applicationId", id, sequence, status_callback, status, error_code, updated_at from ${rows}
    where status_callback is not null and (status in (${statusCodes(reported)})
      or status = ${statusCode('unknown')} and sequence = 1)
    on conflict do nothing`;
}

/** SQL that drops the calls of texts that have not been made yet. */
export function deleteStatusCalls(rows: string): string {
  return `delete from status_call s using ${rows} r where s.message_id = r.id`;
}
