import type { Bench } from '../bench.ts';
import { type Row, ratioRow } from '../result-row.ts';
import { compare, type Side } from '../rounds.ts';
import { texts } from './sms.ts';

/** So that a thousand connections get several answers each. */
const shortestRoundMs = 2000;
const group = 'SMS accept by connections, against 1 connection';

/** One connection waits for every commit alone; what many bring at once shares one. */
export async function connections(bench: Bench): Promise<Row[]> {
  const { node, store, callers } = await bench.held();
  await store.empty();
  const from = (count: number): Side => ({
    servers: [node],
    requests: () => texts(callers),
    status: '201',
    connections: count,
  });
  const roundMs = Math.max(shortestRoundMs, bench.pace.roundMs);
  const patient = { ...bench, pace: { ...bench.pace, roundMs } };
  const rows: Row[] = [];
  for (const count of [10, 100, 1000]) {
    const measured = await compare(patient, { baseline: from(1), subject: from(count) });
    rows.push(ratioRow(group, `${count.toLocaleString('en')} connections`, measured));
  }
  await store.empty();
  return rows;
}
