import type { Bench } from '../bench.ts';
import type { Row } from '../result-row.ts';
import type { Server } from '../server-process.ts';
import { drain, text } from './sms.ts';

/** From the moment a request was read to the moment its text is on the phone, when there is nothing else to do; and rest. */
export async function idle(bench: Bench): Promise<Row[]> {
  const { node, store, callers } = await bench.startProduct({});
  const headers = { apikey: callers[0]?.apiKey ?? '', 'Content-Type': 'application/json' };
  const body = JSON.stringify({ to: '+447700900123', ...text });
  for (let sent = 0; sent < (bench.pace.quick ? 40 : 150); sent++) {
    const response = await fetch(`http://127.0.0.1:${node.port}/sms/v1/messages`, { method: 'POST', headers, body });
    if (response.status !== 201) throw new Error(`not accepted: ${await response.text()}`);
    await response.body?.cancel();
    await pause(50 + 50 * Math.random());
  }
  await drain(store);
  const { rows } = await store.database.query<{ ms: number }>(
    `select extract(epoch from received_at - created_at)::float8 * 1000 as ms
     from handset_text join message m on m.id = message_id order by ms`,
  );
  const resting = await rest(bench, node);
  await node.stop();
  const at = (part: number) => rows[Math.floor(rows.length * part)]?.ms ?? 0;
  const value = { median: at(0.5), low: at(0), high: at(0.99) };
  return [
    { group: 'Idle', name: 'Accepted to handset, p50 (least–p99)', unit: 'ms', value, goal: { below: 50 } },
    ...resting,
  ];
}

/** Of one core, when no request comes. */
async function rest(bench: Bench, node: Server): Promise<Row[]> {
  const restMs = bench.pace.quick ? 20_000 : 60_000;
  // A node rests ten seconds after the last request.
  await pause(15_000);
  const before = { node: await node.cpuMicroseconds(), postgres: bench.postgresMicroseconds() };
  await pause(restMs);
  const percent = (microseconds: number) => microseconds / restMs / 10;
  const ofNode = percent((await node.cpuMicroseconds()) - before.node);
  const ofPostgres = percent(bench.postgresMicroseconds() - before.postgres);
  const row = (name: string, one: number): Row => {
    return { group: 'Idle', name, unit: '%', value: { median: one, low: one, high: one } };
  };
  return [
    row('Of one core at rest, node', ofNode),
    row('Of one core at rest, Postgres', ofPostgres),
    { ...row('Of one core at rest, together', ofNode + ofPostgres), goal: { below: 1.5 } },
  ];
}

const pause = (ms: number) => new Promise((done) => setTimeout(done, ms));
