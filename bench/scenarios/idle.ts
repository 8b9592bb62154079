import type { Bench } from '../bench.ts';
import type { Row } from '../result-row.ts';
import { drain, text } from './sms.ts';

/** From the moment a request was read to the moment its text is on the phone, when there is nothing else to do. */
export async function idle(bench: Bench): Promise<Row[]> {
  const { node, store, callers } = await bench.startProduct({});
  const headers = { apikey: callers[0]?.apiKey ?? '', 'Content-Type': 'application/json' };
  const body = JSON.stringify({ to: '+447700900123', ...text });
  for (let sent = 0; sent < (bench.pace.quick ? 40 : 150); sent++) {
    const response = await fetch(`http://127.0.0.1:${node.port}/sms/v1/messages`, { method: 'POST', headers, body });
    if (response.status !== 201) throw new Error(`not accepted: ${await response.text()}`);
    await response.body?.cancel();
    await new Promise((done) => setTimeout(done, 50 + 50 * Math.random()));
  }
  await drain(store);
  const { rows } = await store.database.query<{ ms: number }>(
    `select extract(epoch from received_at - created_at)::float8 * 1000 as ms
     from handset_text join message m on m.id = message_id order by ms`,
  );
  await node.stop();
  const at = (part: number) => rows[Math.floor(rows.length * part)]?.ms ?? 0;
  const value = { median: at(0.5), low: at(0), high: at(0.99) };
  return [{ group: 'Idle', name: 'Accepted to handset, p50 (least–p99)', unit: 'ms', value, goal: { below: 50 } }];
}
