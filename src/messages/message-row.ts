import { fromUuid, uuidOf } from '../platform/ids.ts';
import {
  apiNames,
  channelNames,
  encodingNames,
  type Message,
  type MessageErrorCode,
  type MessageStatus,
  messageErrorCodes,
  messageStatuses,
  type ShownMessage,
} from './message.ts';

/** A row of `message` as Postgres returns it: ids are uuids, names are numbers. */
export interface MessageRow {
  id: string;
  applicationId: string;
  api: number;
  verificationId: string | null;
  channel: number;
  to: string;
  sender: string;
  body: string | null;
  template: object | null;
  status: number;
  encoding: number;
  segmentCount: number;
  characters: number;
  remaining: number;
  reference: string | null;
  errorCode: number | null;
  correlationId: string;
  createdAtMs: number;
  updatedAtMs: number;
  sentAtMs: number | null;
  deliveredAtMs: number | null;
  expiresAtMs: number;
  carrier: string;
  sendAtMs: number | null;
}

export const messageColumns = `id, application_id as "applicationId", api, verification_id as "verificationId", channel,
  recipient as "to", sender, body, template, status, encoding, segment_count as "segmentCount", characters, remaining,
  reference, error_code as "errorCode", correlation_id as "correlationId", created_at as "createdAtMs",
  updated_at as "updatedAtMs", sent_at as "sentAtMs", delivered_at as "deliveredAtMs", expires_at as "expiresAtMs",
  carrier, send_at as "sendAtMs"`;

/** What the API shows. Lists read the most rows, so they select and convert no other column. */
export const shownColumns = `id, channel, recipient as "to", sender, body, status, encoding,
  segment_count as "segmentCount", characters, remaining, reference, error_code as "errorCode",
  created_at as "createdAtMs", updated_at as "updatedAtMs", sent_at as "sentAtMs", delivered_at as "deliveredAtMs",
  expires_at as "expiresAtMs"`;

export type ShownRow = Pick<MessageRow, keyof ShownMessage>;

export function toShown(row: ShownRow): ShownMessage {
  return {
    id: fromUuid('msg', row.id),
    channel: nameOf(channelNames, row.channel),
    to: row.to,
    sender: row.sender,
    body: row.body,
    status: statusOf(row.status),
    encoding: nameOf(encodingNames, row.encoding),
    segmentCount: row.segmentCount,
    characters: row.characters,
    remaining: row.remaining,
    reference: row.reference,
    errorCode: errorOf(row.errorCode),
    createdAtMs: row.createdAtMs,
    updatedAtMs: row.updatedAtMs,
    sentAtMs: row.sentAtMs,
    deliveredAtMs: row.deliveredAtMs,
    expiresAtMs: row.expiresAtMs,
  };
}

export function toMessage(row: MessageRow): Message {
  return {
    ...row,
    id: fromUuid('msg', row.id),
    applicationId: fromUuid('app', row.applicationId),
    api: nameOf(apiNames, row.api),
    verificationId: row.verificationId === null ? null : fromUuid('ver', row.verificationId),
    channel: nameOf(channelNames, row.channel),
    status: statusOf(row.status),
    encoding: nameOf(encodingNames, row.encoding),
    errorCode: errorOf(row.errorCode),
    correlationId: fromUuid('req', row.correlationId),
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

/** The uuids of some ids as a parameter, with the lowest and the highest: they tell Postgres the partitions to read. */
export function toIdRange(ids: string[]): IdRange {
  return toUuidRange(ids.map(uuidOf));
}

export type IdRange = [uuids: string, lowest: string, highest: string];

/** The same for ids that are uuids already. */
export function toUuidRange(uuids: string[]): IdRange {
  let lowest = uuids[0] ?? '';
  let highest = lowest;
  for (const uuid of uuids) {
    if (uuid < lowest) lowest = uuid;
    if (uuid > highest) highest = uuid;
  }
  return [`{${uuids.join()}}`, lowest, highest];
}

function nameOf<Name extends string>(names: readonly Name[], code: number): Name {
  const name = names[code];
  if (name === undefined) throw new Error(`the store has an unknown number ${code}`);
  return name;
}
