// Tests: test/contract/find.test.ts, test/parts/find-cost.test.ts
import { apiNames } from '../../http/route.ts';
import type { Tx } from '../../platform/database/database.ts';
import { findUnturned, isTurned } from '../../platform/database/index-turn.ts';
import { idWeeks } from '../../platform/database/partitions.ts';
import { idTimeMs, longestRequestMs, uuidFloor, uuidOf } from '../../platform/ids.ts';
import type { Message } from '../message.ts';
import { type MessageRow, messageColumns, toMessage } from '../message-row.ts';
import { messageTable, numberIndex } from '../message-store.ts';

/** The texts to some numbers, newest first. Texts of verifications are found by their verification. */
export interface NumberSearch {
  numbers: string[];
  /** Whole weeks: ids, as uuids, at least `from` and below `to`. */
  from: string;
  to: string;
  /** Only ids below this one. */
  below: string;
  limit: number;
}

/** Maximum number of applications and APIs that a search in all applications reads for each span. */
export const mostSenders = 100;

const isWanted = 'verification_id is null and id >= $2 and id < $3';
const newest = (number: string, application: string, api: string) => `select ${messageColumns} from message
      where recipient = ${number} and application_id = ${application} and api = ${api} and ${isWanted} and id < $4
      order by id desc limit $5`;

export async function findTextsOfApplications(
  tx: Tx,
  { numbers, from, to, below, limit }: NumberSearch,
  applicationIds: string[],
): Promise<Message[]> {
  const apis = [apiNames.indexOf('sms'), apiNames.indexOf('messaging')];
  const { rows } = await tx.query<MessageRow>(
    `select f.* from unnest($1::text[]) as n(number) cross join unnest($6::uuid[]) as a(id)
       cross join unnest('{${apis}}'::smallint[]) as p(api) cross join lateral (${newest('n.number', 'a.id', 'p.api')}) f`,
    [numbers, from, to, below, limit, applicationIds.map(uuidOf)],
  );
  return newestOf(rows.map(toMessage), limit);
}

/** Jumps from one application of a number to the next by the index, so that many texts of one cost no more. */
export async function findTextsOfAll(tx: Tx, { numbers, from, to, below, limit }: NumberSearch): Promise<Message[]> {
  const next = (number: string, after: string) => `select application_id, api from message
      where recipient = ${number} ${after} and ${isWanted} order by application_id, api limit 1`;
  const { rows } = await tx.query<MessageRow>(
    `with recursive senders(number, application_id, api) as (
       select n.number, f.* from unnest($1::text[]) as n(number) cross join lateral (${next('n.number', '')}) f
       union all
       select s.number, f.* from senders s
       cross join lateral (${next('s.number', 'and (application_id, api) > (s.application_id, s.api)')}) f)
     select f.* from (select * from senders limit $6) s
     cross join lateral (${newest('s.number', 's.application_id', 's.api')}) f`,
    [numbers, from, to, below, limit, mostSenders],
  );
  return newestOf(rows.map(toMessage), limit);
}

function newestOf(messages: Message[], limit: number): Message[] {
  return messages.sort((a, b) => (a.id < b.id ? 1 : -1)).slice(0, limit);
}

/**
 * The spans of time, as numbers of weeks, in which numbers cannot be searched in all applications yet, because their index
 * is being built. Undefined if none can be searched.
 */
export async function findUnindexedWeeks(tx: Tx): Promise<ReadonlySet<number> | undefined> {
  if (await isTurned(tx, numberIndex)) return new Set();
  const names = await findUnturned(tx, numberIndex);
  if (names.includes(`${messageTable.name}_default`)) return undefined;
  const start = `${messageTable.name}_${idWeeks.letter}`.length;
  return new Set(names.map((name) => Number(name.slice(start))));
}

/** Texts around a request that are read to find those that it created. */
const mostRead = 20_000;

/** The application of the texts that a request created, by the time in both ids. */
export async function findApplicationOfTexts(tx: Tx, correlationId: string): Promise<string | undefined> {
  const madeMs = idTimeMs(correlationId);
  const { rows } = await tx.query<MessageRow>(
    `select ${messageColumns} from message where id = (
       select id from (select id, correlation_id from message where id >= $2 and id < $3 order by id limit $4) m
       where correlation_id = $1 limit 1) and id >= $2 and id < $3`,
    [uuidOf(correlationId), uuidFloor(madeMs - 1000), uuidFloor(madeMs + longestRequestMs), mostRead],
  );
  return rows.map(toMessage)[0]?.applicationId;
}
