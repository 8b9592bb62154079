import { apiNames } from '../http/route.ts';
import { readTime, readTimeOrNull } from '../platform/database/connections/times.ts';
import { packed, unpack } from '../platform/database/packed-row.ts';
import { fromUuid, uuidOf } from '../platform/ids.ts';
import { channelNames } from './channel.ts';
import {
  encodingNames,
  laneNames,
  type Message,
  type MessageErrorCode,
  type MessageStatus,
  messageErrorCodes,
  messageStatuses,
  type ShownMessage,
} from './message.ts';

/** A row as `messageColumns` selects it. Strings of the caller are columns of their own, the rest is packed. */
export interface MessageRow extends ShownRow {
  /** The columns of a message that the API does not show. */
  unshown: string;
  template: object | null;
  carrier: string;
  sentAs: string | null;
}

export interface ShownRow {
  shown: string;
  sender: string;
  body: string | null;
  reference: string | null;
}

/** The columns that the API shows. Lists read the most rows, so they select and convert no others. */
export const shownColumns = `${packed([
  'id',
  'channel',
  'recipient',
  'status',
  'encoding',
  'segment_count',
  'characters',
  'remaining',
  'error_code?',
  'created_at',
  'updated_at',
  'sent_at?',
  'delivered_at?',
  'expires_at',
  'possible_duplicates',
])} as shown, sender, body, reference`;

export const messageColumns = `${shownColumns}, ${packed([
  'application_id',
  'api',
  'verification_id?',
  'correlation_id',
  'lane',
  'send_at?',
  'deferred_until?',
])} as unshown, template, carrier, sent_as as "sentAs"`;

export function toShown(row: ShownRow): ShownMessage {
  const cells = unpack(row.shown);
  const cell = (at: number) => cells[at] ?? '';
  return {
    id: fromUuid('msg', cell(0)),
    channel: nameOf(channelNames, Number(cell(1))),
    to: cell(2),
    sender: row.sender,
    body: row.body,
    status: statusOf(Number(cell(3))),
    encoding: nameOf(encodingNames, Number(cell(4))),
    segmentCount: Number(cell(5)),
    characters: Number(cell(6)),
    remaining: Number(cell(7)),
    reference: row.reference,
    errorCode: cell(8) === '' ? null : errorOf(Number(cell(8))),
    createdAtMs: readTime(cell(9)),
    updatedAtMs: readTime(cell(10)),
    sentAtMs: readTimeOrNull(cell(11)),
    deliveredAtMs: readTimeOrNull(cell(12)),
    expiresAtMs: readTime(cell(13)),
    possibleDuplicates: Number(cell(14)),
  };
}

export function toMessage(row: MessageRow): Message {
  const cells = unpack(row.unshown);
  const [applicationId = '', api, verificationId = '', correlationId = '', lane, sendAt = '', deferred = ''] = cells;
  return {
    ...toShown(row),
    applicationId: fromUuid('app', applicationId),
    api: nameOf(apiNames, Number(api)),
    verificationId: verificationId === '' ? null : fromUuid('ver', verificationId),
    template: row.template,
    correlationId: fromUuid('req', correlationId),
    carrier: row.carrier,
    lane: nameOf(laneNames, Number(lane)),
    sendAtMs: readTimeOrNull(sendAt),
    deferredUntilMs: readTimeOrNull(deferred),
    sentAs: row.sentAs,
  };
}

export function statusOf(code: number): MessageStatus {
  return nameOf(messageStatuses, code);
}

export function statusCode(status: MessageStatus): number {
  return messageStatuses.indexOf(status);
}

/** The numbers of several statuses, as a list in SQL. */
export function statusCodes(statuses: readonly MessageStatus[]): string {
  return statuses.map(statusCode).join(', ');
}

export function errorOf(code: number | null): MessageErrorCode | null {
  return code === null ? null : nameOf(messageErrorCodes, code);
}

export function errorCodeOf(error: MessageErrorCode | null): number | null {
  return error === null ? null : messageErrorCodes.indexOf(error);
}

/** The uuids of some ids as a parameter, with the lowest and the highest, by which Postgres chooses the partitions. */
export function toIdRange(ids: string[]): IdRange {
  return toUuidRange(ids.map(uuidOf));
}

export type IdRange = [uuids: string, lowest: string, highest: string];

/** Like `toIdRange`, for ids that are uuids already. */
export function toUuidRange(uuids: string[]): IdRange {
  let lowest = uuids[0] ?? '';
  let highest = lowest;
  for (const uuid of uuids) {
    if (uuid < lowest) lowest = uuid;
    if (uuid > highest) highest = uuid;
  }
  return [`{${uuids.join()}}`, lowest, highest];
}

export function nameOf<Name extends string>(names: readonly Name[], code: number): Name {
  const name = names[code];
  if (name === undefined) throw new Error(`the store has an unknown number ${code}`);
  return name;
}
