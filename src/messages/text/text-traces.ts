import type { Tx } from '../../platform/database/database.ts';
import { fromUuid } from '../../platform/ids.ts';
import { toIdRange } from '../message-row.ts';
import { isInRange } from '../message-store.ts';

/** The trace and span ids of texts that are in sampled traces, by the text's id. Other texts are left out. */
export async function findTextTraces(tx: Tx, ids: string[]): Promise<Map<string, string>> {
  if (ids.length === 0) return new Map();
  const { rows } = await tx.query<{ id: string; trace: string }>(selectStatement, toIdRange(ids));
  return new Map(rows.map(({ id, trace }) => [fromUuid('msg', id), trace]));
}

const selectStatement = {
  name: 'select-text-traces',
  text: `select id, trace from message where ${isInRange(1)} and trace is not null`,
};
