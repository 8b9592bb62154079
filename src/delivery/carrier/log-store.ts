import { dayMs, toTimestamp } from '../../platform/clock.ts';
import type { Tx } from '../../platform/database/database.ts';
import { pieceRows } from '../../platform/work/maintenance.ts';

/** A PDU as operators see it: no text, no secret, no number. */
export interface PduLogEntry {
  at: string;
  direction: 'in' | 'out';
  command: string;
  status: number;
  sequence: number;
  message_id: string | null;
  carrier_message_id: string | null;
  /** The last three digits of the phone's number. */
  number_ends: string | null;
  /** The error of an answer, or the state and error of a receipt, in the carrier's own words. */
  reported: string | null;
}

/** A PDU as operators see it, and the slot it travelled on. */
export interface LogEntry extends PduLogEntry {
  slot: number;
}

export const mostLogEntries = 200;

/** Answers a request for the log: `wantedAtMs` is the carrier's, as the worker read it. */
export async function writeLog(
  tx: Tx,
  log: { carrierId: number; node: string; wantedAtMs: number; entries: readonly LogEntry[] },
  nowMs: number,
): Promise<void> {
  const { carrierId, node, wantedAtMs, entries } = log;
  await tx.query(
    `insert into carrier_log (carrier_id, node, entries, wanted_at, written_at) values ($1, $2, $3, $4, $5)
     on conflict (carrier_id, node) do update set entries = excluded.entries, wanted_at = excluded.wanted_at,
       written_at = excluded.written_at`,
    [carrierId, node, JSON.stringify(entries.slice(-mostLogEntries)), toTimestamp(wantedAtMs), toTimestamp(nowMs)],
  );
}

export interface NodeLog {
  node: string;
  entries: LogEntry[];
  wantedAtMs: number;
}

export async function readLogs(tx: Tx, carrierId: number): Promise<NodeLog[]> {
  const { rows } = await tx.query<NodeLog>(
    `select node, entries, wanted_at as "wantedAtMs" from carrier_log where carrier_id = $1 order by node limit 100`,
    [carrierId],
  );
  return rows;
}

export async function deleteOldLogs(tx: Tx, nowMs: number): Promise<number> {
  const { count } = await tx.query(
    `delete from carrier_log where (carrier_id, node) in (
       select carrier_id, node from carrier_log where written_at < $1 order by written_at limit $2)`,
    [toTimestamp(nowMs - dayMs), pieceRows],
  );
  return count;
}
