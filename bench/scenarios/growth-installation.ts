import { messageStatuses } from '../../src/messages/message.ts';
import { systemClock as clock, hourMs } from '../../src/platform/clock.ts';
import { uuidFloor, uuidOf } from '../../src/platform/ids.ts';
import { moreCpu, percentRow, type Track } from '../abreast.ts';
import { type KeyedApplication, makeApplications } from '../applications.ts';
import type { Bench, Product } from '../bench.ts';
import { byKey, many, post } from '../requests.ts';
import type { Row } from '../result-row.ts';
import { usualConnections } from '../rounds.ts';
import type { Server } from '../server-process.ts';
import { type BenchSmsc, connectCarriers, startSmsc } from '../smsc.ts';
import { fits } from '../stored-messages.ts';
import { preview } from './growth-applications.ts';
import { text } from './sms.ts';
import { listenWith, webhooksOf } from './webhooks.ts';

interface Size {
  carriers: number;
  applications: number;
  webhooks: number;
  queued: number;
}

/**
 * A tenth of the applications listen. The applications take turns, so that each text of a round is another one's: what is
 * counted or leased for an application is never shared, as with one text an hour each.
 */
const small: Size = { carriers: 1, applications: 10_000, webhooks: 1000, queued: 0 };
const large: Size = { carriers: 200, applications: 100_000, webhooks: 10_000, queued: 10_000_000 };
const quickSmall: Size = { carriers: 1, applications: 3000, webhooks: 300, queued: 0 };
const quickLarge: Size = { carriers: 20, applications: 10_000, webhooks: 1000, queued: 200_000 };
const texts = 3000;
const chunk = 100_000;

interface Installation extends Track {
  product: Product;
}

/**
 * What a text costs in a large installation, from its accept to its receipt and its webhook, against a small one. The
 * queued texts wait for carriers that are down, which are half of them.
 */
export async function growthInstallation(bench: Bench): Promise<Row[]> {
  const [least, size] = bench.pace.quick ? [quickSmall, quickLarge] : [small, large];
  if (!(await fits(bench.folder, 2 * size.queued))) throw new Error('the disk has no room for the queued texts');
  const baseline = await install(await bench.another(), least);
  const subject = await install(await bench.another(), size);
  const more = await moreCpu({ baseline, subject });
  const rest = await atRest(subject);
  await Promise.all([baseline, subject].map((each) => each.bench.stop()));
  const counts = [
    `${size.carriers} carriers`,
    `${size.webhooks.toLocaleString('en')} webhooks`,
    `${size.applications.toLocaleString('en')} applications`,
    `${size.queued.toLocaleString('en')} queued texts`,
  ];
  const group = `Growth of an installation, against one carrier and ${least.applications.toLocaleString('en')} applications`;
  return [
    percentRow(group, `${counts.join(', ')}: more CPU of a text`, more, 15),
    { group, name: 'The same at rest, of one core', unit: '%', value: { median: rest, low: rest, high: rest } },
  ];
}

async function install(bench: Bench, size: Size): Promise<Installation> {
  const { carriers, applications: count, webhooks, queued } = size;
  bench.say(`         making ${count.toLocaleString('en')} applications, ${webhooks.toLocaleString('en')} listen`);
  const smsc = await startSmsc(bench);
  const receiver = await bench.startPeer('webhook-receiver');
  const product = await bench.startProduct({});
  const applications = await makeApplications(product.store, count);
  const service = webhooksOf(product.store);
  const listening = applications.filter((_, index) => index % (count / webhooks) === 0);
  await Promise.all(
    many(4, async (turn) => {
      for (const { id } of listening.filter((_, index) => index % 4 === turn)) await listenWith(service, id, receiver);
    }),
  );
  // The first by name takes each text.
  const idle = many((carriers - 1) >> 1, (index) => [`idle-${index}`, { port: smsc.port }] as const);
  const down = many(carriers - 1 - idle.length, (index) => [`down-${index}`, { port: 1 }] as const);
  const first = ['carrier', { port: smsc.port, window: 100 }] as const;
  await connectCarriers(bench, product, new Map([first, ...down, ...idle]), idle.length + 1);
  if (queued > 0) await fillQueue(bench, product, applications, queued);
  await remember(bench, product, applications);
  let next = 0;
  // In an order that no cache foresees.
  const requests = () => many(texts, () => textOf(applications[(next++ * 7919) % count]));
  const leftBehind = () => untilEmitted(product, smsc, receiver);
  return { bench, product, side: { servers: [product.node], requests, status: '201', leftBehind } };
}

/** The node looks each of them up once. */
async function remember(bench: Bench, { node }: Product, applications: readonly KeyedApplication[]): Promise<void> {
  const requests = applications.map(({ key }) => preview(key));
  await bench.load.run({ ports: [node.port], requests, connections: usualConnections, ms: 300_000, once: true });
}

function textOf(application: KeyedApplication | undefined): string {
  const to = `+447700${String(Math.floor(Math.random() * 1e6)).padStart(6, '0')}`;
  return post('/sms/v1/messages', { to, ...text }, byKey(application?.key ?? ''));
}

/** Until each text has its receipt, and each event has reached its webhook. */
async function untilEmitted({ store }: Product, smsc: BenchSmsc, receiver: Server): Promise<number> {
  for (const untilMs = performance.now() + 60_000; ; await new Promise((done) => setTimeout(done, 100))) {
    const { rows } = await store.database.query(
      `select from delivery_queue where carrier like 'carrier#%' union all select from delivery_claim limit 1`,
    );
    if (rows.length === 0 && (await smsc.receipts()) === (await smsc.arrived())) {
      const { rows: counted } = await store.database.query<{ events: number }>(
        'select count(*)::integer as events from event',
      );
      const answer = await fetch(`http://127.0.0.1:${receiver.port}/`);
      const { count } = (await answer.json()) as { count: number };
      if (counted[0]?.events === count) return 0;
    }
    if (performance.now() > untilMs) throw new Error('some events have not reached their webhook within a minute');
  }
}

/** Texts of all applications, for the carriers that are down. They are older than what sums are made of now, and have weeks left. */
async function fillQueue(
  bench: Bench,
  { store }: Product,
  applications: readonly KeyedApplication[],
  count: number,
): Promise<void> {
  const { rows } = await store.database.query<{ key: string }>(
    `select name || '#' || id as key from carrier where name like 'down-%'`,
  );
  const [keys, owners] = [rows.map(({ key }) => key), applications.map(({ id }) => uuidOf(id))];
  for (let low = 0; low < count; low += chunk) {
    const atMs = clock.nowMs() - 40 * hourMs + (low / chunk) * 1000;
    const values = [low, Math.min(low + chunk, count) - 1, uuidFloor(atMs).slice(0, 14), atMs, owners, keys];
    await store.patiently(queueStatement, values);
    if ((low + chunk) % (chunk * 10) === 0)
      bench.say(`         ${(low + chunk).toLocaleString('en')} texts are queued`);
  }
  await store.patiently('vacuum analyze');
  await store.patiently('checkpoint');
}

const queueStatement = `with made as materialized (
    select ($3 || '0000-0000-' || lpad(to_hex(i), 12, '0'))::uuid as id, to_timestamp($4::float8 / 1000) as at,
      ($5::uuid[])[1 + (i::bigint * 7919) % cardinality($5)] as owner, ($6::text[])[1 + i % cardinality($6)] as carrier,
      '+447' || lpad((i::bigint * 7919 % 1000000000)::text, 9, '0') as number
    from generate_series($1::integer, $2::integer) i),
  queued as (
    insert into delivery_queue (carrier, lane, application_id, message_id, expires_at)
    select carrier, 1, owner, id, at + interval '30 days' from made)
  insert into message (id, application_id, api, channel, recipient, sender, body, status, encoding, segment_count,
    characters, remaining, correlation_id, sequence, created_at, updated_at, expires_at, carrier)
  select id, owner, 0, 0, number, 'ACME', 'Your table is booked for eight. See you tonight!',
    ${messageStatuses.indexOf('queued')}, 0, 1, 48, 112, id, 1, at, at, at + interval '30 days', carrier from made`;

/** Of one core, after the work that is left has been done. */
async function atRest({ bench, product: { node } }: Installation): Promise<number> {
  await new Promise((done) => setTimeout(done, bench.pace.quick ? 5000 : 20_000));
  const used = async () => (await node.cpuMicroseconds()) + bench.postgresMicroseconds();
  const [before, beganMs] = [await used(), performance.now()];
  await new Promise((done) => setTimeout(done, bench.pace.quick ? 10_000 : 60_000));
  return ((await used()) - before) / (performance.now() - beganMs) / 10;
}
