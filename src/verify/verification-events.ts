import { type EventType, typeCode } from '../events/event.ts';
import { insertEvents } from '../events/event-inserts.ts';
import { apiNames } from '../http/route.ts';

import type { VerificationStatus } from './verification.ts';
import { statusCode } from './verification-row.ts';

/** Every status except `pending` ends a verification, so a verification has one event. */
const eventTypes: Record<Exclude<VerificationStatus, 'pending'>, EventType> = {
  approved: 'verification.approved',
  failed: 'verification.failed',
  expired: 'verification.expired',
  canceled: 'verification.canceled',
  blocked: 'verification.blocked',
};

const typeOfStatus = `case status ${Object.entries(eventTypes)
  .map(([status, type]) => `when ${statusCode(status as VerificationStatus)} then ${typeCode(type)}`)
  .join(' ')} end`;

/**
 * Writes the events of verifications that have ended. `rows` is a part of a `with`, or a named query, with the columns id,
 * application_id, status and updated_at; those that are pending have no event.
 */
export function insertVerificationEvents(rows: string): string {
  return insertEvents(`(
      select application_id, id as subject, updated_at as time, 1 as sequence, ${typeOfStatus} as type,
        ${apiNames.indexOf('verify')} as api, null::smallint as error_code
      from ${rows})`);
}
