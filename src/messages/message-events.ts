import { type EventType, typeCode } from '../events/event.ts';
import { insertEvents } from '../events/event-inserts.ts';
import { apiNames } from '../http/route.ts';
import type { MessageStatus } from './message.ts';
import { statusCode } from './message-row.ts';

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

/** Columns that a statement which changes messages returns, for `insertEnds` and `insertMessageEvents`. */
export const changedColumns = (of = '') => `${of}id, ${of}application_id as "applicationId", ${of}api, ${of}status,
      ${of}sequence, ${of}updated_at, ${of}error_code`;

/**
 * Writes the events of messages whose status has changed. `rows` is a part of a `with` that has `changedColumns`. Texts
 * of verifications emit none: their verification does.
 */
export function insertMessageEvents(rows: string): string {
  return insertEvents(`(
      select "applicationId" as application_id, id as subject, updated_at as time, sequence, ${typeOfStatus} as type, api,
        error_code
      from ${rows} where api <> ${apiNames.indexOf('verify')})`);
}
