import type { Tx } from '../platform/database/database.ts';
import { readWalk, writeWalk } from '../platform/database/walk.ts';
import { uuidFloor } from '../platform/ids.ts';
import { pieceRows } from '../platform/work/maintenance.ts';
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
  /** Its texts, as uuids. */
  textIds: string[];
}

export interface EndedCodes {
  /** 0 at the end. */
  read: number;
  codes: EndedCode[];
  /** Starts that the guard blocked, each with the rule. */
  blocked: (EndedStart & { rule: string })[];
}

interface EndedRow extends EndedStart {
  id: string;
  status: number;
  reason: number | null;
  test: boolean;
  textIds: string[];
}

const walkName = 'ended-codes';

/**
 * Walks once over all verifications that are too old to be pending, in the caller's transaction. Those without a text,
 * and those of test numbers, show nothing about a carrier.
 */
export async function walkEndedCodes(tx: Tx, nowMs: number): Promise<EndedCodes> {
  const done = await readWalk(tx, walkName);
  const { rows } = await tx.query<EndedRow>(
    `select v.id, application_id as "applicationId", recipient as "to", created_at as "startedAtMs", status, reason,
       test_number as test, text_ids as "textIds",
       coalesce((select clients from start_client where verification_id = v.id), '{}') as clients from verification v
     where v.id > $1 and v.id < $2 order by v.id limit $3`,
    [done, uuidFloor(nowMs - longestTtlSeconds * 1000), pieceRows],
  );
  const last = rows.at(-1);
  if (last !== undefined) await writeWalk(tx, walkName, last.id);
  const real = rows.filter(({ test }) => !test);
  return {
    read: rows.length,
    codes: real
      .filter(({ status }) => status !== statusCode('blocked'))
      .map((row) => ({ ...startOf(row), approved: row.status === statusCode('approved'), textIds: row.textIds })),
    blocked: real
      .filter(({ status }) => status === statusCode('blocked'))
      .map((row) => ({ ...startOf(row), rule: row.reason === null ? '' : reasonOf(row.reason) })),
  };
}

function startOf({ applicationId, to, startedAtMs, clients }: EndedRow): EndedStart {
  return { applicationId, to, startedAtMs, clients };
}
