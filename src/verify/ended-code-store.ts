import { type Channel, channelNames } from '../messages/channel.ts';
import type { Tx } from '../platform/database/database.ts';
import { readWalk, writeWalk } from '../platform/database/walk.ts';
import { uuidFloor } from '../platform/ids.ts';
import { pieceRows } from '../platform/work/maintenance.ts';
import { findReporters, noteReports } from './given/reporters.ts';
import { longestTtlSeconds } from './verification.ts';
import { reasonOf, statusCode } from './verification-row.ts';

/** A start of a verification that has ended. */
export interface EndedStart {
  /** A uuid. */
  applicationId: string;
  /** Masked if the number was deleted. */
  to: string;
  startedAtMs: number;
  /** The groups of its client. */
  clients: string[];
}

export interface EndedCode extends EndedStart {
  approved: boolean;
  /** How its code was sent last, or `inbound`. */
  channel: Channel;
  /** The uuids of its texts. */
  textIds: string[];
}

export interface LateCode extends EndedCode {
  /** Whether the walk has already counted it as not approved. */
  wasCounted: boolean;
}

export interface EndedCodes {
  /** Number of rows that were read; 0 when the walk has caught up. */
  read: number;
  /** Leaves out callers' codes of applications that do not report the outcome. */
  codes: EndedCode[];
  /** Codes that were walked over before their caller reported the outcome. */
  late: LateCode[];
  /** Starts that the guard blocked, each with the rule. */
  blocked: (EndedStart & { rule: string })[];
}

interface EndedRow extends EndedStart {
  id: string;
  channel: number;
  status: number;
  reason: number | null;
  test: boolean;
  textIds: string[];
  attempts: number;
  /** The caller made the code. */
  given: boolean;
  outcome: number | null;
  updatedAtMs: number;
}

const walkName = 'ended-codes';

/**
 * Walks once over all verifications that are too old to be pending, in the caller's transaction. Leaves out test numbers:
 * they show nothing about a carrier.
 */
export async function walkEndedCodes(tx: Tx, nowMs: number): Promise<EndedCodes> {
  const done = await readWalk(tx, walkName);
  const { rows } = await tx.query<EndedRow>(
    `select ${endedColumns} from verification v where v.id > $1 and v.id < $2 order by v.id limit $3`,
    [done, uuidFloor(nowMs - longestTtlSeconds * 1000), pieceRows],
  );
  const last = rows.at(-1);
  if (last !== undefined) await writeWalk(tx, walkName, last.id);
  const late = await takeLateOutcomes(tx, done, rows);
  const real = rows.filter(({ test }) => !test);
  const given = [...real, ...late].filter((row) => row.given);
  const reportedBefore = await findReporters(tx, applicationsOf(late), nowMs);
  await noteReports(
    tx,
    given.filter(isReported).map(({ applicationId, updatedAtMs: atMs }) => ({ applicationId, atMs })),
  );
  const reporters = await findReporters(tx, applicationsOf(given), nowMs);
  const counts = (row: EndedRow) => !row.given || reporters.has(row.applicationId);
  return {
    read: rows.length + late.length,
    codes: real.filter((row) => row.status !== statusCode('blocked') && counts(row)).map(codeOf),
    late: late
      .filter((row) => !row.test && counts(row))
      .map((row) => ({ ...codeOf(row), wasCounted: reportedBefore.has(row.applicationId) })),
    blocked: real
      .filter(({ status }) => status === statusCode('blocked'))
      .map((row) => ({ ...startOf(row), rule: row.reason === null ? '' : reasonOf(row.reason) })),
  };
}

const endedColumns = `v.id, application_id as "applicationId", recipient as "to", created_at as "startedAtMs", channel, status, reason,
    test_number as test, text_ids as "textIds", attempts, code_hash is not null as given, outcome,
    updated_at as "updatedAtMs",
    coalesce((select clients from start_client where verification_id = v.id), '{}') as clients`;

const applicationsOf = (rows: readonly EndedRow[]) => rows.map(({ applicationId }) => applicationId);

/**
 * Verifications whose outcome was reported after the walk had passed them. Rows of this batch that already have one are
 * not late.
 */
async function takeLateOutcomes(tx: Tx, done: string, rows: readonly EndedRow[]): Promise<EndedRow[]> {
  const seen = rows.filter(({ outcome }) => outcome !== null).map(({ id }) => id);
  const { rows: late } = await tx.query<EndedRow>(
    `with taken as (
       delete from late_outcome where verification_id = any(array(
         select verification_id from late_outcome where verification_id <= $1 or verification_id = any($2::uuid[])
         order by verification_id limit $3))
       returning verification_id)
     select ${endedColumns} from verification v
     where v.id = any(array(select verification_id from taken where verification_id <= $1)) and v.id <= $1`,
    [done, seen, pieceRows + seen.length],
  );
  return late;
}

/** Whether the row shows that its application checks its codes or reports their outcome. */
function isReported({ attempts, status, outcome }: EndedRow): boolean {
  return attempts > 0 || outcome !== null || status === statusCode('approved') || status === statusCode('failed');
}

function codeOf(row: EndedRow): EndedCode {
  const approved = statusCode('approved');
  const channel = channelNames[row.channel] ?? 'sms';
  return { ...startOf(row), channel, approved: (row.outcome ?? row.status) === approved, textIds: row.textIds };
}

function startOf({ applicationId, to, startedAtMs, clients }: EndedRow): EndedStart {
  return { applicationId, to, startedAtMs, clients };
}
