import type { PageRequest } from '../http/list-page.ts';
import { toTimestamp } from '../platform/clock.ts';
import type { Tx } from '../platform/database.ts';
import { idFloor } from '../platform/ids.ts';
import { type Verification, type VerificationStatus, verificationStatuses } from './verification.ts';
import { isNumber, verificationColumns } from './verification-store.ts';

export interface VerificationFilter {
  to?: string | undefined;
  status?: VerificationStatus | undefined;
  reference?: string | undefined;
}

/** The most time between the time in an id and the row's `created_at`. */
const slackMs = 1000;

/**
 * A page as of `nowMs`, newest first: a lapsed pending verification counts as expired, even if its row does not say so
 * yet. Merges parts; each reads an index in order, and at most a page of it.
 */
export async function listVerifications(
  tx: Tx,
  applicationId: string,
  filter: VerificationFilter,
  page: PageRequest,
  nowMs: number,
): Promise<Verification[]> {
  // Postgres rejects NUL in a parameter, and no row contains one.
  if (filter.to?.includes('\0')) return [];
  const values: unknown[] = [applicationId, page.limit];
  const bind = (value: unknown) => `$${values.push(value)}`;
  const shared = [filter.to === undefined ? 'application_id = $1' : isNumber('$1::text', `${bind(filter.to)}::text`)];
  if (filter.reference !== undefined) shared.push(`reference = ${bind(filter.reference)}`);
  if (page.after !== undefined) shared.push(`id < ${bind(page.after)}`);

  const select = (...more: string[]) => `select ${verificationColumns} from verification
    where ${[...shared, ...more].join(' and ')} order by id desc limit $2`;
  const byStatus = (status: VerificationStatus) => select(`status = '${status}'`);

  async function partsOf(status: VerificationStatus | undefined): Promise<string[]> {
    if (status === 'pending') return [await pendingPart('live')];
    if (status === 'expired') return [byStatus(status), await pendingPart('lapsed')];
    if (status !== undefined) return [byStatus(status)];
    return filter.to === undefined ? [select()] : verificationStatuses.map(byStatus);
  }

  /**
   * A number has at most one pending. Without a number, read per duration: there, lapsed ids are older than live ones.
   */
  async function pendingPart(which: 'live' | 'lapsed'): Promise<string> {
    const [made, expires] = which === 'live' ? ['>=', '>'] : ['<', '<='];
    const inTime = `expires_at ${expires} ${bind(toTimestamp(nowMs))}`;
    if (filter.to !== undefined) return select("status = 'pending'", inTime);
    const durations = await openDurations(tx, applicationId);
    const edgeMs = nowMs + (which === 'live' ? -slackMs : slackMs);
    const edges = durations.map((seconds) => idFloor('ver', edgeMs - seconds * 1000));
    const ofDuration = select('open_seconds = d.seconds', `id ${made} d.edge`, inTime);
    return `select v.* from unnest(${bind(durations)}::integer[], ${bind(edges)}::text[]) as d(seconds, edge)
      cross join lateral (${ofDuration}) v order by id desc limit $2`;
  }

  const parts = await partsOf(filter.status);
  const [only] = parts;
  const text =
    parts.length === 1 && only !== undefined
      ? only
      : `select v.* from (${parts.map((part) => `(${part})`).join(' union all ')}) v order by id desc limit $2`;
  const { rows } = await tx.query<Verification>(text, values);
  return rows;
}

/** The distinct durations of an application's pending verifications, with one index lookup for each. */
async function openDurations(tx: Tx, applicationId: string): Promise<number[]> {
  const { rows } = await tx.query<{ seconds: number }>(durationsStatement, [applicationId]);
  return rows.map(({ seconds }) => seconds);
}

const nextDuration = (condition: string) => `select open_seconds from verification
  where application_id = $1 and open_seconds ${condition} order by open_seconds limit 1`;
const durationsStatement = {
  name: 'select-open-durations',
  text: `with recursive duration(seconds) as (
      (${nextDuration('is not null')})
      union all
      select (${nextDuration('> seconds')}) from duration where seconds is not null)
    select seconds from duration where seconds is not null`,
};
