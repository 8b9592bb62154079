import { errorCodeOf, errorOf, statusOf } from '../../messages/message-row.ts';
import { toTimestamp } from '../../platform/clock.ts';
import type { Tx } from '../../platform/database/database.ts';
import { uuidFloor } from '../../platform/ids.ts';
import { pieceRows } from '../../platform/work/maintenance.ts';
import { type AttemptOutcome, attemptOutcomes, type TextAttempt } from './attempt.ts';

/** The CTE that stores attempts, or nothing if there are none; adds its parameter to `values`. */
export function attemptInserts(attempts: (TextAttempt | undefined)[], values: unknown[], condition: string): string[] {
  const rows = attempts.flatMap((attempt) => (attempt === undefined ? [] : [toRow(attempt)]));
  if (rows.length === 0) return [];
  const data = `$${values.push(JSON.stringify(rows))}`;
  return [`kept_attempt as (${insertStatement(data)} where ${condition} ${onConflict})`];
}

const columns = `message_id, attempt, carrier, submitted_at, outcome, error_code, carrier_message_id, moved_to,
    route_version, route_name, parts, price, currency, network, reported`;

const insertStatement = (data: string) => `insert into text_attempt (${columns})
    select ${columns} from jsonb_to_recordset(${data}::jsonb) as t(message_id uuid, attempt integer, carrier text,
      submitted_at timestamptz, outcome smallint, error_code smallint, carrier_message_id text, moved_to text,
      route_version integer, route_name text, parts smallint, price numeric, currency text, network text, reported text)`;

/** A late answer overwrites the row that was written when no answer had come. */
const onConflict = `on conflict (message_id, attempt) do update set outcome = excluded.outcome,
    error_code = excluded.error_code, carrier_message_id = excluded.carrier_message_id,
    reported = excluded.reported, moved_to = coalesce(text_attempt.moved_to, excluded.moved_to),
    route_version = coalesce(text_attempt.route_version, excluded.route_version),
    route_name = coalesce(text_attempt.route_name, excluded.route_name),
    parts = excluded.parts, price = excluded.price, currency = excluded.currency, network = excluded.network`;

function toRow({ told, next, ...attempt }: TextAttempt) {
  return {
    message_id: attempt.messageId,
    attempt: attempt.attempt,
    carrier: attempt.carrier,
    submitted_at: toTimestamp(attempt.submittedAtMs),
    outcome: attemptOutcomes.indexOf(attempt.outcome),
    error_code: errorCodeOf(attempt.error),
    carrier_message_id: attempt.carrierMessageId,
    moved_to: next?.carrier ?? null,
    route_version: next?.rule ? next.version : null,
    route_name: next?.rule?.name ?? null,
    parts: readParts(told.parts),
    price: readPrice(told.price),
    currency: readWord(told.currency, 8),
    network: readWord(told.network, 64),
    reported: attempt.reported,
  };
}

const mostParts = 255;

function readParts(parts: number | undefined): number | null {
  return parts !== undefined && Number.isInteger(parts) && parts > 0 && parts <= mostParts ? parts : null;
}

/** Keeps a provider's price only if it is a number that Postgres can store. */
function readPrice(price: string | undefined): string | null {
  return price !== undefined && /^-?\d{1,12}(?:\.\d{1,12})?$/.test(price) ? price : null;
}

function readWord(word: string | undefined, longest: number): string | null {
  return word === undefined || word === '' ? null : word.replaceAll('\0', '').slice(0, longest).toWellFormed();
}

/** A stored attempt, for the timeline of a message. */
export interface KeptAttempt {
  attempt: number;
  carrier: string;
  submittedAtMs: number;
  outcome: AttemptOutcome;
  error: TextAttempt['error'];
  carrierMessageId: string | null;
  movedTo: string | null;
  routeVersion: number | null;
  routeName: string | null;
  parts: number | null;
  price: string | null;
  currency: string | null;
  network: string | null;
  receipt: ReturnType<typeof statusOf> | null;
  /** The carrier's own words in its answer and its receipt. */
  reported: string | null;
  receiptReported: string | null;
}

interface AttemptRow extends Omit<KeptAttempt, 'outcome' | 'error' | 'receipt'> {
  id: string;
  outcome: number;
  error: number | null;
  receipt: number | null;
}

const mostShown = 5000;

/** The attempts of messages (uuids) that were kept, in order. */
export async function findAttempts(tx: Tx, messageIds: string[]): Promise<Map<string, KeptAttempt[]>> {
  const { rows } = await tx.query<AttemptRow>(
    `select message_id as id, attempt, carrier, submitted_at as "submittedAtMs", outcome, error_code as error,
       carrier_message_id as "carrierMessageId", moved_to as "movedTo", route_version as "routeVersion",
       route_name as "routeName", parts, price::text, currency, network, receipt,
       reported, receipt_reported as "receiptReported"
     from text_attempt where message_id = any($1::uuid[]) order by message_id, attempt limit ${mostShown}`,
    [messageIds],
  );
  const found = new Map<string, KeptAttempt[]>();
  for (const { id, ...row } of rows) {
    const attempt = {
      ...row,
      outcome: attemptOutcomes[row.outcome] ?? 'in_doubt',
      error: errorOf(row.error),
      receipt: row.receipt === null ? null : statusOf(row.receipt),
    };
    found.set(id, [...(found.get(id) ?? []), attempt]);
  }
  return found;
}

/** Returns the messages (uuids) that were submitted to a carrier other than their present one. */
export async function findOnSeveralCarriers(tx: Tx, messageIds: string[]): Promise<Set<string>> {
  const { rows } = await tx.query<{ id: string }>(
    `select distinct t.message_id as id from text_attempt t join message m on m.id = t.message_id
     where t.message_id = any($1::uuid[]) and m.id = any($1::uuid[]) and t.carrier <> m.carrier`,
    [messageIds],
  );
  return new Set(rows.map(({ id }) => id));
}

/** Deletes attempts of messages that are gone. Ids are in the order of time. */
export async function deleteOldAttempts(tx: Tx, beforeMs: number): Promise<number> {
  const { count } = await tx.query(
    `delete from text_attempt where ctid = any(array(
       select ctid from text_attempt where message_id < $1 order by message_id limit $2))`,
    [uuidFloor(beforeMs), pieceRows],
  );
  return count;
}
