import { typeCode } from '../events/event.ts';
import { insertEvents } from '../events/event-inserts.ts';
import type { PageRequest } from '../http/list-page.ts';
import { type Api, apiNames } from '../http/route.ts';
import { encodingNames } from '../messages/message.ts';
import { nameOf } from '../messages/message-row.ts';
import { toTimestamp } from '../platform/clock.ts';
import type { Tx } from '../platform/database/database.ts';
import { fromUuid, uuidFloor, uuidOf } from '../platform/ids.ts';
import type { Inbound } from './inbound.ts';

interface InboundRow extends Omit<Inbound, 'api' | 'encoding'> {
  api: number | null;
  encoding: number;
}

const columns = `id, application_id as "applicationId", api, carrier, sender as "from", recipient as "to", body, encoding,
  segment_count as "segmentCount", characters, remaining, keyword, partial, possible_opt_out as "possibleOptOut",
  received_at as "receivedAtMs"`;

/** Returns the hashes that are new, or were seen too long ago. Each is remembered until `expiresAtMs`. */
export async function noteSeen(
  tx: Tx,
  seen: { hash: Buffer; expiresAtMs: number }[],
  nowMs: number,
): Promise<Set<string>> {
  const { rows } = await tx.query<{ hash: Buffer }>(seenStatement, [
    seen.map(({ hash }) => hash),
    seen.map(({ expiresAtMs }) => toTimestamp(expiresAtMs)),
    toTimestamp(nowMs),
  ]);
  return new Set(rows.map(({ hash }) => hash.toString('base64')));
}

/** In the same order on all nodes, so that two of them do not deadlock. */
const seenStatement = {
  name: 'note-seen-inbound-texts',
  text: `insert into inbound_seen as seen (hash, expires_at)
    select * from unnest($1::bytea[], $2::timestamptz[]) as n(hash, expires_at) order by hash
    on conflict (hash) do update set expires_at = excluded.expires_at where seen.expires_at <= $3
    returning hash`,
};

/** Inserts texts, and their events where an application holds the number and listens. */
export async function insertInbound(tx: Tx, texts: Inbound[]): Promise<void> {
  if (texts.length === 0) return;
  const rows = texts.map((text) => ({
    id: uuidOf(text.id),
    application_id: text.applicationId && uuidOf(text.applicationId),
    api: text.api && apiNames.indexOf(text.api),
    carrier: text.carrier,
    sender: text.from,
    recipient: text.to,
    body: text.body,
    encoding: encodingNames.indexOf(text.encoding),
    segment_count: text.segmentCount,
    characters: text.characters,
    remaining: text.remaining,
    keyword: text.keyword,
    partial: text.partial,
    possible_opt_out: text.possibleOptOut,
    received_at: toTimestamp(text.receivedAtMs),
  }));
  await tx.query(insertStatement, [JSON.stringify(rows)]);
}

/** The kind of a text from a phone in the table smpp_delivery. */
const deliveryKind = 1;

const insertStatement = {
  name: 'insert-inbound-texts',
  text: `with inserted as (
      insert into inbound_text select * from jsonb_populate_recordset(null::inbound_text, $1::jsonb)
      returning id, application_id, api, received_at),
    -- For programs that are bound by SMPP (room smpp-server), whichever account of the application they have.
    delivered as (
      insert into smpp_delivery (owner, application_id, kind, subject, created_at, due_at)
      select application_id, application_id, ${deliveryKind}, id, received_at, received_at from inserted i
      where api = ${apiNames.indexOf('sms')}
        and exists (select from smpp_account a where a.application_uuid = i.application_id))
    ${insertEvents(`(
      select application_id, id as subject, received_at as time, 1 as sequence, ${typeCode('message.received')} as type, api,
        null::smallint as error_code
      from inserted where application_id is not null)`)}`,
};

export interface InboundFilter {
  /** Null: texts of no application. */
  applicationId: string | null;
  api?: Api;
  from?: string | undefined;
  to?: string | undefined;
}

/** Newest first. */
export async function listInbound(tx: Tx, filter: InboundFilter, { limit, after }: PageRequest): Promise<Inbound[]> {
  const { applicationId, api, from, to } = filter;
  // Postgres rejects NUL in a parameter, and no row contains one.
  if (from?.includes('\0') || to?.includes('\0')) return [];
  const values: unknown[] = [limit];
  const bind = (value: unknown) => `$${values.push(value)}`;
  const conditions = [
    applicationId === null ? 'application_id is null' : `application_id = ${bind(uuidOf(applicationId))}`,
  ];
  if (api !== undefined) conditions.push(`api = ${bind(apiNames.indexOf(api))}`);
  if (from !== undefined) conditions.push(`sender = ${bind(from)}`);
  if (to !== undefined) conditions.push(`recipient = ${bind(to)}`);
  if (after !== undefined) conditions.push(`id < ${bind(uuidOf(after))}`);
  const { rows } = await tx.query<InboundRow>(
    `select ${columns} from inbound_text where ${conditions.join(' and ')} order by id desc limit $1`,
    values,
  );
  return rows.map(toInbound);
}

export async function findInbound(tx: Tx, id: string): Promise<Inbound | undefined> {
  const { rows } = await tx.query<InboundRow>(`select ${columns} from inbound_text where id = $1`, [uuidOf(id)]);
  return rows.map(toInbound)[0];
}

export async function findInboundTexts(tx: Tx, ids: string[]): Promise<Inbound[]> {
  const { rows } = await tx.query<InboundRow>(`select ${columns} from inbound_text where id = any($1::uuid[])`, [
    ids.map(uuidOf),
  ]);
  return rows.map(toInbound);
}

/** At most `most` texts of a phone to a number, since `sinceMs` and before the text `before`. */
export async function findLately(
  tx: Tx,
  { from, to, sinceMs, before, most }: { from: string; to: string; sinceMs: number; before: string; most: number },
): Promise<Pick<Inbound, 'id' | 'body' | 'receivedAtMs'>[]> {
  const { rows } = await tx.query<{ id: string; body: string | null; receivedAtMs: number }>(latelyStatement, [
    from,
    to,
    uuidFloor(sinceMs),
    uuidOf(before),
    most,
  ]);
  return rows.map((row) => ({ ...row, id: fromUuid('inb', row.id) }));
}

const latelyStatement = {
  name: 'find-late-inbound-texts',
  text: `select id, body, received_at as "receivedAtMs" from inbound_text
    where sender = $1 and recipient = $2 and id >= $3 and id < $4 order by id desc limit $5`,
};

function toInbound({ id, applicationId, api, encoding, ...row }: InboundRow): Inbound {
  return {
    ...row,
    id: fromUuid('inb', id),
    applicationId: applicationId && fromUuid('app', applicationId),
    api: api === null ? null : (nameOf(apiNames, api) as Inbound['api']),
    encoding: nameOf(encodingNames, encoding),
  };
}
