import { type MessageStatus, messageStatuses } from '../messages/message.ts';
import { statusCode } from '../messages/message-row.ts';
import { toTimestamp } from '../platform/clock.ts';
import { lockSeeds } from '../platform/database/advisory-locks.ts';
import type { Tx } from '../platform/database/database.ts';
import { fromUuid, uuidOf } from '../platform/ids.ts';

/** A part of a long text, as it waits for the others. */
export interface StoredPart {
  id: string;
  applicationId: string;
  accountId: string;
  textHash: Buffer;
  number: number;
  total: number;
  digest: Buffer;
  /** Null once its text is joined or given up. */
  body: PartBody | null;
  createdAtMs: number;
  /** The message of its text, once the text is whole. While `body` is set, that message may not be written yet. */
  messageId: string | null;
}

/** A part, and its status if its text is not sent. */
export interface FoundPart extends StoredPart {
  /** Null while it may be sent, and for parts that older nodes gave up. */
  endedAtMs: number | null;
  endedAs: PartEnd | null;
}

/** Its text did not come together, or the peer canceled it. */
export type PartEnd = Extract<MessageStatus, 'undelivered' | 'canceled'>;

/** The submit_sm of a part, which is read again when the text is whole. */
export interface PartBody {
  to: string;
  from: string;
  coding: string;
  /** In base64. */
  octets: string;
  validitySeconds: number;
  sendAtMs: number | null;
  wish: string;
  priority: string;
  reference: string | null;
}

interface PartRow extends Omit<StoredPart, 'id' | 'applicationId' | 'accountId' | 'messageId'> {
  id: string;
  applicationId: string;
  accountId: string;
  messageId: string | null;
}

const columns = `id, application_id as "applicationId", account_id as "accountId", text_hash as "textHash", number, total,
  digest, body, created_at as "createdAtMs", message_id as "messageId"`;

/** Locks the texts until the transaction ends: two nodes may get parts of one text at the same time. */
export async function lockTexts(tx: Tx, hashes: Buffer[]): Promise<void> {
  await tx.query(
    `select pg_advisory_xact_lock(key) from (
       select distinct hashtextextended(name, $2) as key from unnest($1::text[]) as t(name) order by 1) k`,
    [hashes.map((hash) => hash.toString('base64')), lockSeeds.smppTexts],
  );
}

/**
 * The parts of these texts since `sinceMs`, and since the earlier `unwrittenSinceMs` those of whole texts whose message may
 * not be written yet.
 */
export async function findLately(
  tx: Tx,
  hashes: Buffer[],
  sinceMs: number,
  unwrittenSinceMs: number,
): Promise<StoredPart[]> {
  const { rows } = await tx.query<PartRow>(
    {
      name: 'find-smpp-parts',
      text: `select ${columns} from smpp_part where text_hash = any($1) and created_at >= $3
          and (created_at >= $2 or body is not null and message_id is not null)
        order by created_at limit 10000`,
    },
    [hashes, toTimestamp(sinceMs), toTimestamp(unwrittenSinceMs)],
  );
  return rows.map(toPart);
}

/** How many parts of each account wait, up to a bound. */
export async function countWaiting(tx: Tx, accountIds: string[], most: number): Promise<Map<string, number>> {
  const { rows } = await tx.query<{ id: string; waiting: number }>(
    {
      name: 'count-waiting-smpp-parts',
      text: `select a.id, (select count(*)::integer from (
          select from smpp_part p where p.account_id = a.id and p.body is not null limit $2) w) as waiting
        from unnest($1::uuid[]) as a(id)`,
    },
    [accountIds.map(uuidOf), most],
  );
  return new Map(rows.map(({ id, waiting }) => [fromUuid('smp', id), waiting]));
}

export async function insertParts(tx: Tx, parts: StoredPart[]): Promise<void> {
  await tx.query(
    `insert into smpp_part (id, application_id, account_id, text_hash, number, total, digest, body, created_at)
     select * from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::bytea[], $5::smallint[], $6::smallint[], $7::bytea[],
       $8::jsonb[], $9::timestamptz[])`,
    [
      parts.map(({ id }) => uuidOf(id)),
      parts.map(({ applicationId }) => uuidOf(applicationId)),
      parts.map(({ accountId }) => uuidOf(accountId)),
      parts.map(({ textHash }) => textHash),
      parts.map(({ number }) => number),
      parts.map(({ total }) => total),
      parts.map(({ digest }) => digest),
      parts.map(({ body }) => JSON.stringify(body)),
      parts.map(({ createdAtMs }) => toTimestamp(createdAtMs)),
    ],
  );
}

/** Stores the id of the message that the parts become, before that message is written. */
export async function nameMessage(tx: Tx, joined: { partIds: string[]; messageId: string }[]): Promise<void> {
  await tx.query(
    `update smpp_part p set message_id = j.message_id from unnest($1::uuid[], $2::uuid[]) as j(part_id, message_id)
     where p.id = j.part_id`,
    [
      joined.flatMap(({ partIds }) => partIds.map(uuidOf)),
      joined.flatMap(({ partIds, messageId }) => partIds.map(() => uuidOf(messageId))),
    ],
  );
}

/** Deletes the bodies of parts that are joined. */
export async function closeParts(tx: Tx, ids: string[]): Promise<void> {
  await tx.query('update smpp_part set body = null where id = any($1::uuid[])', [ids.map(uuidOf)]);
}

/** Ends parts that no message contains. */
export async function endParts(tx: Tx, ids: string[], as: PartEnd, nowMs: number): Promise<void> {
  await tx.query(
    `update smpp_part set body = null, message_id = null, ended_at = $2, end_status = $3 where id = any($1::uuid[])`,
    [ids.map(uuidOf), toTimestamp(nowMs), statusCode(as)],
  );
}

/**
 * The parts that wait with this one. Parts from before `sinceMs` are never joined with later ones: they belong to another
 * text.
 */
export async function takeWaiting(
  tx: Tx,
  { accountId, textHash, createdAtMs }: StoredPart,
  sinceMs: number,
): Promise<StoredPart[]> {
  const { rows } = await tx.query<PartRow>(
    `select ${columns} from smpp_part
     where account_id = $1 and text_hash = $2 and body is not null and message_id is null and (created_at >= $3) = $4
     order by created_at for update`,
    [uuidOf(accountId), textHash, toTimestamp(sinceMs), createdAtMs >= sinceMs],
  );
  return rows.map(toPart);
}

export async function deletePart(tx: Tx, id: string): Promise<void> {
  await tx.query('delete from smpp_part where id = $1', [uuidOf(id)]);
}

/** Open parts from before a time, without those that another transaction has locked. */
export async function takeOldParts(tx: Tx, beforeMs: number, most: number): Promise<StoredPart[]> {
  const { rows } = await tx.query<PartRow>(
    `select ${columns} from smpp_part where body is not null and created_at < $1
     order by created_at limit $2 for update skip locked`,
    [toTimestamp(beforeMs), most],
  );
  return rows.map(toPart);
}

export async function findPart(tx: Tx, applicationId: string, id: string): Promise<FoundPart | undefined> {
  const { rows } = await tx.query<PartRow & { endedAtMs: number | null; endStatus: number | null }>(
    `select ${columns}, ended_at as "endedAtMs", end_status as "endStatus" from smpp_part
     where id = $1 and application_id = $2`,
    [uuidOf(id), uuidOf(applicationId)],
  );
  const [row] = rows;
  if (row === undefined) return undefined;
  const { endedAtMs, endStatus, ...part } = row;
  const endedAs = endStatus === null ? null : (messageStatuses[endStatus] as PartEnd);
  return { ...toPart(part), endedAtMs, endedAs };
}

/** Deletes a batch of the parts from before a time. */
export async function deleteOldParts(tx: Tx, beforeMs: number, most: number): Promise<number> {
  const { count } = await tx.query(
    `delete from smpp_part where ctid = any(array(
       select ctid from smpp_part where created_at < $1 and body is null order by created_at limit $2))`,
    [toTimestamp(beforeMs), most],
  );
  return count;
}

function toPart({ id, applicationId, accountId, messageId, ...row }: PartRow): StoredPart {
  return {
    ...row,
    id: fromUuid('prt', id),
    applicationId: fromUuid('app', applicationId),
    accountId: fromUuid('smp', accountId),
    messageId: messageId === null ? null : fromUuid('msg', messageId),
  };
}
