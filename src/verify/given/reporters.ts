// Tests: test/contract/guard-conversion.test.ts
import { dayMs, toTimestamp } from '../../platform/clock.ts';
import type { Tx } from '../../platform/database/database.ts';

/** For how long an application's own codes count after one of them was checked or reported. */
const reporterLastsMs = 7 * dayMs;

/** A use of a caller's code that shows whether the person typed it in. */
export interface CodeReport {
  /** A uuid. */
  applicationId: string;
  atMs: number;
}

/** Remembers the newest report of each application, in the order of their ids. */
export async function noteReports(tx: Tx, reports: readonly CodeReport[]): Promise<void> {
  const newest = new Map<string, number>();
  for (const { applicationId, atMs } of reports)
    newest.set(applicationId, Math.max(atMs, newest.get(applicationId) ?? atMs));
  if (newest.size === 0) return;
  await tx.query(
    `insert into code_reporter as r (application_id, reported_at)
     select * from unnest($1::uuid[], $2::timestamptz[]) as n(id, at) order by n.id
     on conflict (application_id) do update set reported_at = excluded.reported_at
     where r.reported_at < excluded.reported_at`,
    [[...newest.keys()], [...newest.values()].map(toTimestamp)],
  );
}

/** The applications (uuids) whose own codes count now. */
export async function findReporters(tx: Tx, applicationIds: readonly string[], nowMs: number): Promise<Set<string>> {
  if (applicationIds.length === 0) return new Set();
  const { rows } = await tx.query<{ id: string }>(
    `select application_id as id from code_reporter where application_id = any($1::uuid[]) and reported_at > $2 limit $3`,
    [[...new Set(applicationIds)], toTimestamp(nowMs - reporterLastsMs), applicationIds.length],
  );
  return new Set(rows.map(({ id }) => id));
}
