import type { PageRequest } from '../http/list-page.ts';
import { type Api, apiNames } from '../http/route.ts';
import { dayMs } from '../platform/clock.ts';
import type { Tx } from '../platform/database/database.ts';
import { partitionWeekMs } from '../platform/database/partitions.ts';
import { fromUuid, idTimeMs, uuidFloor, uuidOf } from '../platform/ids.ts';
import { badEnds, type Message, type MessageStatus, type ShownMessage, unsentStatuses } from './message.ts';
import { lanes } from './message-queue.ts';
import { statusCode } from './message-row.ts';
import { highestUuid, readSpan, type Span } from './message-spans.ts';
import { findMessages } from './message-store.ts';

export interface MessageFilter {
  to?: string | undefined;
  /** Consecutive digits of the number. */
  part?: string | undefined;
  status?: string | undefined;
  reference?: string | undefined;
}

export interface MessagePage {
  rows: ShownMessage[];
  /** Set if the search stopped before the page was full: the id after which to continue. */
  searchedTo: string | undefined;
}

/** Reads the newest messages of a span; reads of several callers may share a query. */
type ReadSpan = (span: Span) => Promise<ShownMessage[]>;

interface List {
  tx: Tx;
  readNewest: ReadSpan;
  applicationId: string;
  api: Api;
  filter: MessageFilter;
  limit: number;
}

/** Maximum number of messages that one request reads if no index fits its filter (status, part of a number). */
const mostRead = 5000;

/** Callers ask for one row more than a page to detect a next page. */
export async function listMessages(
  tx: Tx,
  applicationId: string,
  api: Api,
  filter: MessageFilter,
  page: PageRequest & { nowMs: number },
  readNewest: ReadSpan = (span) => readSpan(tx, span),
): Promise<MessagePage> {
  // Postgres rejects NUL in a parameter, and no row contains one.
  if (filter.to?.includes('\0') || filter.reference?.includes('\0')) return { rows: [], searchedTo: undefined };
  const list = { tx, readNewest, applicationId, api, filter, limit: page.limit };
  const status = filter.status as MessageStatus | undefined;
  const { to, part, reference } = filter;
  const byStatusAlone = to === undefined && part === undefined && reference === undefined && status !== undefined;
  if (byStatusAlone && badEnds.includes(status)) return listByIds(list, page.after, selectEnded(list, status));
  if (byStatusAlone && unsentStatuses.includes(status)) return listByIds(list, page.after, selectUnsent(list));
  return listByAge(list, page.after, page.nowMs);
}

/**
 * Reads messages newest first, by the index of the number, the reference or the list. It begins with the newest
 * partition and goes to older ones only while the page is not full.
 */
async function listByAge(list: List, after: string | undefined, nowMs: number): Promise<MessagePage> {
  const { filter, limit } = list;
  const rows: ShownMessage[] = [];
  const isSifted = filter.status !== undefined || filter.part !== undefined;
  let room = isSifted ? mostRead : limit;
  let piece = limit;
  const isByIndex = filter.to !== undefined || filter.reference !== undefined;
  for (const span of spansFrom(after, nowMs, isByIndex)) {
    let { below } = span;
    for (;;) {
      const wanted = Math.min(room, isSifted ? piece : limit - rows.length);
      piece = Math.min(500, 2 * piece);
      const found = await readByAge(list, { ...span, below, limit: wanted });
      const last = found.at(-1);
      below = last === undefined ? below : uuidOf(last.id);
      rows.push(...found.filter((message) => isWanted(message, filter)));
      room -= found.length;
      if (rows.length >= limit) return { rows: rows.slice(0, limit), searchedTo: undefined };
      if (room <= 0) return { rows, searchedTo: last?.id };
      if (found.length < wanted) break;
    }
  }
  return { rows, searchedTo: undefined };
}

function isWanted({ status, to }: ShownMessage, filter: MessageFilter): boolean {
  if (filter.status !== undefined && status !== filter.status) return false;
  return filter.part === undefined || to.includes(filter.part);
}

/**
 * The week of the newest messages, the eight weeks before it, and the rest. Few messages have one number or reference, so
 * those lists mostly read to the end, and do it in two queries. Partitions made ahead hold no messages yet.
 */
function spansFrom(
  after: string | undefined,
  nowMs: number,
  isByIndex: boolean,
): { from: string; below: string; isNewest: boolean }[] {
  const newestMs = after === undefined ? nowMs : idTimeMs(after);
  const weekStartMs = Math.floor(newestMs / partitionWeekMs) * partitionWeekMs;
  const [week, older] = [uuidFloor(weekStartMs), uuidFloor(weekStartMs - 8 * partitionWeekMs)];
  const newest = {
    from: week,
    below: after === undefined ? uuidFloor(nowMs + dayMs) : uuidOf(after),
    isNewest: after === undefined,
  };
  if (isByIndex) return [newest, { from: uuidFloor(0), below: week, isNewest: false }];
  return [newest, { from: older, below: week, isNewest: false }, { from: uuidFloor(0), below: older, isNewest: false }];
}

/** First pages without a filter share a query: they are of the same partition, and none of them reads long. */
function readByAge(
  { tx, readNewest, applicationId, api, filter }: List,
  { from, below, limit, isNewest }: { from: string; below: string; limit: number; isNewest: boolean },
): Promise<ShownMessage[]> {
  const span = { applicationId, api, from, below, limit };
  const { to, part, reference, status } = filter;
  const isPlain = to === undefined && part === undefined && reference === undefined && status === undefined;
  return isNewest && isPlain ? readNewest(span) : readSpan(tx, span, filter);
}

/** Selects at most `limit` ids below an id, newest first. */
type SelectIds = (below: string, limit: number) => Promise<string[]>;

/** Reads the messages of a narrow table. A message may have changed since it was written there, so they are filtered. */
async function listByIds(list: List, after: string | undefined, select: SelectIds): Promise<MessagePage> {
  const { tx, applicationId, api, filter, limit } = list;
  const rows: Message[] = [];
  let below = after === undefined ? highestUuid : uuidOf(after);
  for (let read = 0; read < mostRead; ) {
    const uuids = await select(below, limit);
    const messages = await findMessages(tx, uuids.map(toMessageId));
    const wanted = messages.filter(
      (each) => each.applicationId === applicationId && each.api === api && each.status === filter.status,
    );
    rows.push(...wanted.sort((a, b) => (a.id < b.id ? 1 : -1)));
    if (rows.length >= limit) return { rows: rows.slice(0, limit), searchedTo: undefined };
    if (uuids.length < limit) return { rows, searchedTo: undefined };
    below = uuids.at(-1) ?? below;
    read += uuids.length;
  }
  return { rows, searchedTo: toMessageId(below) };
}

function selectEnded({ tx, applicationId, api }: List, status: MessageStatus): SelectIds {
  return async (below, limit) => {
    const values = [uuidOf(applicationId), apiNames.indexOf(api), statusCode(status), below, limit];
    return toUuids(await tx.query<{ id: string }>(endedStatement, values));
  };
}

const endedStatement = {
  name: 'select-ended-messages',
  text: `select message_id as id from message_end
    where application_id = $1 and api = $2 and status = $3 and message_id < $4 order by message_id desc limit $5`,
};

function selectUnsent({ tx, applicationId }: List): SelectIds {
  return async (below, limit) =>
    toUuids(await tx.query<{ id: string }>(unsentStatement, [uuidOf(applicationId), below, limit]));
}

/** The queue's index begins with the carrier, so it is read once for each lane of the few carriers. */
const unsentStatement = {
  name: 'select-unsent-messages',
  text: `with recursive carriers(name) as (
      (select carrier from delivery_queue order by carrier limit 1)
      union all
      select (select carrier from delivery_queue where carrier > name order by carrier limit 1)
      from carriers where name is not null)
    select distinct id from (
      select q.message_id as id from carriers cross join (values (${lanes.first}), (${lanes.bulk})) as l(lane)
      cross join lateral (
        select message_id from delivery_queue
        where carrier = name and lane = l.lane and application_id = $1 and message_id < $2
        order by message_id desc limit $3) q
      union all
      (select message_id from delivery_schedule
        where application_id = $1 and message_id < $2 order by message_id desc limit $3)
      union all
      (select message_id from delivery_claim, unnest(application_ids, message_ids) as t(application_id, message_id)
        where application_id = $1 and message_id < $2 order by message_id desc limit $3)) unsent
    order by id desc limit $3`,
};

function toUuids({ rows }: { rows: { id: string }[] }): string[] {
  return rows.map(({ id }) => id);
}

function toMessageId(uuid: string): string {
  return fromUuid('msg', uuid);
}
