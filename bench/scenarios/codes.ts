import type { Bench, Product } from '../bench.ts';
import { byToken, many, post } from '../requests.ts';
import type { Row } from '../result-row.ts';
import { spreadOf } from '../rounds.ts';
import { connectCarrier, startSmsc } from '../smsc.ts';
import { text } from './sms.ts';

/** What the carrier takes in a second. */
const perSecond = 200;
const batch = 100;

/** How long a code takes from its acceptance to the SMSC, behind a backlog of other texts on a slow carrier. */
export async function codes(bench: Bench): Promise<Row[]> {
  const { quick } = bench.pace;
  const smsc = await startSmsc(bench);
  const product = await bench.startProduct({});
  await connectCarrier(bench, product, { port: smsc.port, per_second: perSecond });
  await makeBacklog(bench, product, quick ? 5000 : 100_000);
  const started = await startCodes(product, quick ? 20 : 100);
  await new Promise((done) => setTimeout(done, 5000));
  const arrivedAt = new Map((await smsc.texts()).map(({ to, received_at }) => [to, Date.parse(received_at)]));
  const tookMs = [...started].map(([to, atMs]) => (arrivedAt.get(to) ?? Number.POSITIVE_INFINITY) - atMs);
  tookMs.sort((a, b) => a - b);
  await product.node.stop();
  smsc.stop();
  const at = (share: number) => tookMs[Math.min(tookMs.length - 1, Math.floor(tookMs.length * share))] ?? 0;
  const group = `A code behind ${quick ? '5,000' : '100,000'} other texts, ${perSecond} a second`;
  return [
    { group, name: 'From acceptance to the carrier, p50', unit: 'ms', value: spreadOf([at(0.5)]) },
    {
      group,
      name: 'From acceptance to the carrier, p99',
      unit: 'ms',
      value: spreadOf([at(0.99)]),
      goal: { below: 1000 },
    },
  ];
}

async function makeBacklog(bench: Bench, { node, callers }: Product, count: number): Promise<void> {
  const requests = many(count / batch, (index) =>
    post(
      '/messaging/v1/messages/batch',
      { messages: many(batch, (item) => ({ to: `+4477${String(index * batch + item).padStart(8, '0')}`, ...text })) },
      byToken(callers[index % callers.length]?.messagingToken ?? ''),
    ),
  );
  await bench.load.run({ ports: [node.port], requests, connections: 4, ms: 120_000, once: true });
}

/** One after another, ten a second. Returns when each was accepted, by number without `+`. */
async function startCodes({ node, callers }: Product, count: number): Promise<Map<string, number>> {
  const accepted = new Map<string, number>();
  for (let index = 0; index < count; index++) {
    const to = `4479${String(index * 7919).padStart(8, '0')}`;
    const answer = await fetch(`http://127.0.0.1:${node.port}/verify/v1/verifications`, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        Authorization: `Bearer ${callers[index % callers.length]?.verifyToken}`,
      },
      body: JSON.stringify({ to: `+${to}`, channel: 'sms' }),
    });
    if (answer.status !== 200) throw new Error(`a start was answered ${answer.status}: ${await answer.text()}`);
    accepted.set(to, Date.now());
    await new Promise((done) => setTimeout(done, 100));
  }
  return accepted;
}
