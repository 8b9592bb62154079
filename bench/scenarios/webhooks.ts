import { createListeners } from '../../src/events/listeners.ts';
import { systemClock as clock } from '../../src/platform/clock.ts';
import { createWebhookGuard } from '../../src/platform/http-out/address-guard.ts';
import { createGuardedClient } from '../../src/platform/http-out/client.ts';
import { createWebhookService, type WebhookService } from '../../src/webhooks/service.ts';
import type { Bench, Product } from '../bench.ts';
import type { Row } from '../result-row.ts';
import { spreadOf } from '../rounds.ts';
import type { Server } from '../server-process.ts';
import type { Store } from '../store.ts';
import { backlog, drain, texts } from './sms.ts';

const group = 'Webhooks to an endpoint on the same machine';

/** How fast waiting events are delivered: of all applications, each with a webhook, and of one application alone. */
export async function webhooks(bench: Bench): Promise<Row[]> {
  const rows: Row[] = [];
  for (const [name, callers] of [
    ['16 applications', 16],
    ['1 application', 1],
  ] as const) {
    const product = await bench.startProduct({});
    const receiver = await bench.startPeer('webhook-receiver');
    rows.push(await report(bench, { ...product, callers: product.callers.slice(0, callers) }, receiver, name));
    await product.node.stop();
    await receiver.stop();
  }
  return rows;
}

/** Makes events while the webhooks are paused, and lets them go. */
async function report(bench: Bench, product: Product, receiver: Server, name: string): Promise<Row> {
  const { node, store, callers } = product;
  const service = webhooksOf(store);
  const url = `http://127.0.0.1:${receiver.port}/`;
  const made: [string, string][] = [];
  for (const { applicationId } of callers) {
    const { id } = await service.create(applicationId, { url, types: ['message.sent'], description: null });
    await service.change(applicationId, id, { status: 'paused' });
    made.push([applicationId, id]);
  }
  await bench.load.run({
    ports: [node.port],
    requests: texts(callers),
    connections: 8,
    ms: bench.pace.quick ? 3000 : 8000,
  });
  await drain(store);
  if ((await backlog(store)) > 0) throw new Error('texts are left in the queue');
  const count = await countEvents(product);
  const before = { ours: await node.cpuMicroseconds(), postgres: bench.postgresMicroseconds() };
  for (const [applicationId, id] of made) await service.change(applicationId, id, { status: 'active' });
  const { firstMs, lastMs } = await untilDelivered(receiver, count);
  const perSecond = count / ((lastMs - firstMs) / 1000);
  bench.say(`         ${name}: ${count} events, ${Math.round(perSecond)} a second`);
  return {
    group,
    name,
    unit: '/s',
    value: spreadOf([perSecond]),
    perSecond,
    cpuMicroseconds: ((await node.cpuMicroseconds()) - before.ours) / count,
    postgresMicroseconds: (bench.postgresMicroseconds() - before.postgres) / count,
    goal: { atLeast: 1000 },
  };
}

/** The service by which an application makes its webhooks. */
export function webhooksOf({ database, keys }: Store): WebhookService {
  const guard = createWebhookGuard('sandbox');
  return createWebhookService({
    database,
    clock,
    keys,
    guard,
    client: createGuardedClient({ guard, clock }),
    listeners: createListeners({ database, clock }),
    isApplication: async () => true,
  });
}

/** A webhook for all events of an application. */
export async function listenWith(service: WebhookService, applicationId: string, { port }: Server): Promise<void> {
  await service.create(applicationId, { url: `http://127.0.0.1:${port}/`, types: [], description: null });
}

async function countEvents({ store }: Product): Promise<number> {
  const { rows } = await store.database.query<{ count: number }>('select count(*) from event where type = 0');
  return Number(rows[0]?.count ?? 0);
}

async function untilDelivered(receiver: Server, count: number): Promise<{ firstMs: number; lastMs: number }> {
  for (;;) {
    const answer = await fetch(`http://127.0.0.1:${receiver.port}/`);
    const reported = (await answer.json()) as { count: number; firstMs: number; lastMs: number };
    if (reported.count >= count) return reported;
    await new Promise((done) => setTimeout(done, 50));
  }
}
