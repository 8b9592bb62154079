import type { AssembleEvents, EmittedEvent, StoredEvent } from '../events/event.ts';
import type { EventIds } from '../events/event-id.ts';
import { type OptOutRecord, toInboundRecord } from '../inbound/inbound-record.ts';
import { findInboundTexts } from '../inbound/inbound-store.ts';
import type { MessageStatus } from '../messages/message.ts';
import { toRecordThen } from '../messages/message-record.ts';
import { errorOf } from '../messages/message-row.ts';
import { findByKeys as findMessages } from '../messages/message-store.ts';
import { toTimestamp } from '../platform/clock.ts';
import type { Tx } from '../platform/database/database.ts';
import { toVerificationRecord } from '../verify/verification-record.ts';
import { findByKeys as findVerifications } from '../verify/verification-store.ts';

/** A record, and the reference that its caller gave it. */
interface Subject {
  record: object;
  reference: string | null;
}

/** The record of an event may be deleted on the same day. */
const gone: Subject = { record: {}, reference: null };

export function createAssembleEvents(ids: EventIds): AssembleEvents {
  return async (tx, events) => {
    const subjects = new Map<StoredEvent, Subject>();
    for (const find of [messagesOf, verificationsOf, inboundOf]) {
      for (const [event, subject] of await find(tx, events)) subjects.set(event, subject);
    }
    return events.map((event) => toEmitted(ids, event, subjects.get(event) ?? optOutOf(event)));
  };
}

export function toEmitted(ids: EventIds, event: StoredEvent, { record, reference }: Subject): EmittedEvent {
  const { position, type, timeMs, sequence, subject, api, applicationId } = event;
  return {
    id: ids.idOf(position, timeMs),
    type,
    time: toTimestamp(timeMs),
    sequence,
    subject,
    api,
    application_id: applicationId,
    reference,
    data: record,
  };
}

/** The event holds the whole opt-out. Puts its fields in order, because Postgres does not keep the order in JSON. */
function optOutOf({ data }: StoredEvent): Subject {
  if (data === null) return gone;
  const { number, source, word, created_at } = data as OptOutRecord;
  return { record: { number, source, word, created_at }, reference: null };
}

type Found = [StoredEvent, Subject][];

async function messagesOf(tx: Tx, events: StoredEvent[]): Promise<Found> {
  const told = events.filter(({ subject }) => subject.startsWith('msg_'));
  if (told.length === 0) return [];
  const keys = told.map(({ applicationId, api, subject }) => ({ applicationId, api, id: subject }));
  const messages = await findMessages(tx, keys);
  return told.flatMap((event, index): Found => {
    const message = messages[index];
    if (message === undefined) return [];
    const status = event.type.slice('message.'.length) as MessageStatus;
    const then = { status, errorCode: errorOf(event.errorCode), timeMs: event.timeMs };
    return [[event, { record: toRecordThen(message, then), reference: message.reference }]];
  });
}

async function verificationsOf(tx: Tx, events: StoredEvent[]): Promise<Found> {
  const told = events.filter(({ subject }) => subject.startsWith('ver_'));
  if (told.length === 0) return [];
  const found = await findVerifications(
    tx,
    told.map(({ applicationId, subject }) => ({ applicationId, id: subject })),
  );
  return told.flatMap((event, index): Found => {
    const each = found[index];
    if (each === undefined) return [];
    return [
      [event, { record: toVerificationRecord(each.row, each.text, { all: each.all }), reference: each.row.reference }],
    ];
  });
}

async function inboundOf(tx: Tx, events: StoredEvent[]): Promise<Found> {
  const told = events.filter(({ type }) => type === 'message.received');
  if (told.length === 0) return [];
  const found = await findInboundTexts(
    tx,
    told.map(({ subject }) => subject),
  );
  const texts = new Map(found.map((text) => [text.id, text]));
  return told.flatMap((event): Found => {
    const text = texts.get(event.subject);
    return text === undefined ? [] : [[event, { record: toInboundRecord(text), reference: null }]];
  });
}
