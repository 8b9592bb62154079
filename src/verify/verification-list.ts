// Tests: test/contract/verification-lists.test.ts, test/contract/verification-cost.test.ts
import type { PageRequest } from '../http/list-page.ts';
import { dayMs, toTimestamp } from '../platform/clock.ts';
import type { Tx } from '../platform/database/database.ts';
import { partitionWeekMs } from '../platform/database/partitions.ts';
import { idTimeMs, toUuid, uuidFloor, uuidOf } from '../platform/ids.ts';
import { type Verification, type VerificationStatus, verificationStatuses } from './verification.ts';
import { statusCode, toVerification, type VerificationRow, verificationColumns } from './verification-row.ts';

export interface VerificationFilter {
  to?: string | undefined;
  status?: VerificationStatus | undefined;
  reference?: string | undefined;
}

/** Ids of a part of the list: at least `from`, if set, and below `below`. */
interface IdRange {
  from?: string;
  below: string;
}

/** Maximum difference between the time in an id and the row's `created_at`. */
const slackMs = 1000;
const endStatuses = verificationStatuses.filter((status) => status !== 'pending');

/**
 * A page as of `nowMs`, newest first: a lapsed pending verification counts as expired. Reads the partitions of a week
 * or two, and all older ones only if these do not fill the page.
 */
export async function listVerifications(
  tx: Tx,
  applicationId: string,
  filter: VerificationFilter,
  page: PageRequest,
  nowMs: number,
): Promise<Verification[]> {
  // Postgres rejects NUL in a parameter, and no row contains one.
  if (filter.to?.includes('\0') || filter.reference?.includes('\0')) return [];
  const below = page.after === undefined ? undefined : toUuid('ver', page.after);
  if (page.after !== undefined && below === undefined) return [];
  const from = uuidFloor((page.after === undefined ? nowMs : idTimeMs(page.after)) - partitionWeekMs);
  // Upper bounds exclude partitions made ahead.
  const ahead = below ?? uuidFloor(nowMs + dayMs);
  const wanted: ListQuery = { tx, applicationId: uuidOf(applicationId), filter, nowMs };
  const recent = await listRange(wanted, { from, below: ahead }, page.limit);
  if (recent.length === page.limit) return recent;
  return [...recent, ...(await listRange(wanted, { below: from }, page.limit - recent.length))];
}

/** Maximum verifications that a search without an index reads, in batches. */
const mostSearched = 5000;
const pieceSize = 500;

/** The newest verifications that match. `searchedTo` is set if the search stopped before the page was full. */
export async function siftNewest(
  read: (page: PageRequest) => Promise<Verification[]>,
  matches: (verification: Verification) => boolean,
  page: PageRequest,
): Promise<{ rows: Verification[]; searchedTo: string | undefined }> {
  const rows: Verification[] = [];
  let { after } = page;
  for (let searched = 0; searched < mostSearched; searched += pieceSize) {
    const found = await read({ limit: pieceSize, after });
    rows.push(...found.filter(matches));
    if (rows.length >= page.limit) return { rows: rows.slice(0, page.limit), searchedTo: undefined };
    if (found.length < pieceSize) return { rows, searchedTo: undefined };
    after = found.at(-1)?.id;
  }
  return { rows, searchedTo: after };
}

interface ListQuery {
  tx: Tx;
  applicationId: string;
  filter: VerificationFilter;
  nowMs: number;
}

/** Merges lists of ids; each reads an index in order, and at most a page of it. */
async function listRange(query: ListQuery, range: IdRange, limit: number): Promise<Verification[]> {
  const { tx, applicationId, filter, nowMs } = query;
  const values: unknown[] = [applicationId, limit];
  const bind = (value: unknown) => `$${values.push(value)}`;
  const below = bind(range.below);
  const from = range.from === undefined ? undefined : bind(range.from);
  const to = filter.to === undefined ? undefined : bind(filter.to);
  const { rows } = await tx.query<VerificationRow>(await listSql(), values);
  return rows.map(toVerification);

  async function listSql(): Promise<string> {
    const { status, reference } = filter;
    // Few verifications share a reference: an index finds them, and the other filters apply to these rows only.
    if (reference !== undefined) return ofRecord(`reference = ${bind(reference)}`, ...sifted());
    if (status === 'pending') return recordsOf(await pendingIds('live'));
    if (status === 'expired') return recordsOf(endedIds(status), await pendingIds('lapsed'));
    if (status !== undefined) return recordsOf(endedIds(status));
    if (to === undefined) return ofRecord();
    return recordsOf(pendingOfNumber(), endedOfNumber());
  }

  function within(column: string): string[] {
    const conditions = [`${column} < ${below}`];
    if (from !== undefined) conditions.push(`${column} >= ${from}`);
    return conditions;
  }

  function ofRecord(...more: string[]): string {
    return `select ${verificationColumns('v')} from verification v
      where ${['application_id = $1', ...more, ...within('id')].join(' and ')} order by id desc limit $2`;
  }

  function sifted(): string[] {
    const conditions = to === undefined ? [] : [`recipient = ${to}`];
    const { status } = filter;
    if (status === undefined) return conditions;
    const [is, pending] = [`status = ${statusCode(status)}`, `status = ${statusCode('pending')}`];
    if (status === 'pending') return [...conditions, is, `expires_at > ${bind(toTimestamp(nowMs))}`];
    if (status !== 'expired') return [...conditions, is];
    return [...conditions, `(${is} or ${pending} and expires_at <= ${bind(toTimestamp(nowMs))})`];
  }

  /** The records of the newest of these ids. */
  function recordsOf(...lists: string[]): string {
    const merged = lists.map((list) => `(${list})`).join(' union all ');
    return `select ${verificationColumns('r')} from (
        select verification_id from (${merged}) m order by verification_id desc limit $2) l cross join lateral (
      select * from verification
      where ${['id = l.verification_id', ...within('id')].join(' and ')} limit 1) r
      order by r.id desc`;
  }

  function narrow(table: string, ...more: string[]): string {
    const conditions = ['application_id = $1', ...more, ...within('verification_id')];
    if (to !== undefined) conditions.push(`recipient = ${to}`);
    return `select verification_id from ${table}
      where ${conditions.join(' and ')} order by verification_id desc limit $2`;
  }

  function endedIds(status: VerificationStatus): string {
    // The index for lists without a number is on the expression `status + 0`.
    const column = to === undefined ? 'status + 0' : 'status';
    return narrow('ended_verification', `${column} = ${statusCode(status)}`);
  }

  /**
   * The index has the status before the id, so each status is read on its own. A join with an array of statuses is planned
   * much faster than a union.
   */
  function endedOfNumber(): string {
    return `select e.verification_id from unnest('{${endStatuses.map(statusCode)}}'::smallint[]) as s(ended)
      cross join lateral (${narrow('ended_verification', 'status = s.ended')}) e`;
  }

  /** At most one row. The conditions are outside, so that Postgres finds the row by its number. */
  function pendingOfNumber(...more: string[]): string {
    return `select verification_id from (
        select verification_id, expires_at from pending_verification
        where recipient = ${to} and application_id = $1 limit 1) p
      where ${[...more, ...within('verification_id')].join(' and ')}`;
  }

  /**
   * A number has at most one pending verification. Without a number, read each lifetime on its own: within it, the ids of
   * lapsed ones are older than those of live ones.
   */
  async function pendingIds(which: 'live' | 'lapsed'): Promise<string> {
    const [made, expires] = which === 'live' ? ['>=', '>'] : ['<', '<='];
    const inTime = `expires_at ${expires} ${bind(toTimestamp(nowMs))}`;
    if (to !== undefined) return pendingOfNumber(inTime);
    const lifetimes = await openLifetimes(tx, applicationId);
    const edgeMs = nowMs + (which === 'live' ? -slackMs : slackMs);
    const edges = lifetimes.map((seconds) => uuidFloor(edgeMs - seconds * 1000));
    const ofLifetime = narrow(
      'pending_verification',
      'uuid_hash(application_id) = uuid_hash($1)',
      'lifetime_seconds = d.seconds',
      `verification_id ${made} d.edge`,
      inTime,
    );
    return `select p.verification_id
      from unnest(${bind(lifetimes)}::integer[], ${bind(edges)}::uuid[]) as d(seconds, edge)
      cross join lateral (${ofLifetime}) p order by p.verification_id desc limit $2`;
  }
}

/** The distinct lifetimes of an application's pending verifications, with one index lookup for each. */
async function openLifetimes(tx: Tx, applicationId: string): Promise<number[]> {
  const { rows } = await tx.query<{ seconds: number }>(lifetimesStatement, [applicationId]);
  return rows.map(({ seconds }) => seconds);
}

const nextLifetime = (condition: string) => `select lifetime_seconds from pending_verification
  where uuid_hash(application_id) = uuid_hash($1) and application_id = $1 and lifetime_seconds ${condition} order by lifetime_seconds limit 1`;
const lifetimesStatement = {
  name: 'select-open-lifetimes',
  text: `with recursive lifetime(seconds) as (
      (${nextLifetime('is not null')})
      union all
      select (${nextLifetime('> seconds')}) from lifetime where seconds is not null)
    select seconds from lifetime where seconds is not null`,
};
