import type { Bench, Product } from '../bench.ts';
import { tokenPath } from '../callers.ts';
import { byKey, get } from '../requests.ts';
import { jobOf, measure, requireStatus, type Side, warmUp } from '../rounds.ts';
import { messagingTexts, readRequests } from '../scenarios/reads.ts';
import { drain, texts } from '../scenarios/sms.ts';
import { tokenRequests } from '../scenarios/token.ts';
import { checks, starts } from '../scenarios/verify.ts';
import { readTableSizes } from '../soak/tables.ts';
import type { Store } from '../store.ts';
import type { Cost, Measured } from './plan.ts';

const measuredMs = 2500;
/** More than are answered in that time. */
const enough = 20_000;

/** What one of each costs on this machine while it is busy, as it is when capacity matters. */
export async function measureMachine(bench: Bench, say: (text: string) => void): Promise<Measured> {
  say('Accepting texts, and delivering them to virtual handsets.');
  const whole = await measureDelivered(bench);
  const held = await bench.held();
  const { node, store, callers } = held;
  const side = (requests: Side['requests'], status: string, once = false): Side => {
    return { servers: [node], requests, status, once };
  };
  const accept = await costOf(
    bench,
    side(() => texts(callers), '201'),
  );
  const alone = await bench.load.run({ ports: [node.port], requests: texts(callers), connections: 1, ms: 1500 });
  await store.empty();
  say('Starting verifications, and checking codes.');
  const before = await readStorage(store);
  const start = await costOf(
    bench,
    side(() => starts(held, enough), '200', true),
  );
  const codes = await growthSince(store, before, 'verification');
  await store.empty();
  const check = await costOf(
    bench,
    side(() => checks(bench, held, enough / 4), '200', true),
  );
  await store.empty();
  say('Asking for tokens, reading texts and lists.');
  const token = await costOf(
    bench,
    side(() => tokenRequests(tokenPath, callers, 'openid verify:manage'), '200'),
  );
  const messages = await readRequests(bench, held, 'message', messagingTexts(held));
  const read = await costOf(
    bench,
    side(() => messages, '200'),
  );
  const pages = callers.map(({ apiKey }) => get('/sms/v1/messages?limit=20', byKey(apiKey)));
  await bench.load.run({ ports: [node.port], requests: texts(callers), connections: 16, ms: 1000 });
  const list = await costOf(
    bench,
    side(() => pages, '200'),
  );
  return {
    accept,
    deliver: minus(whole.cost, accept),
    start,
    check,
    token,
    read,
    list,
    commitMs: alone.medianMs,
    textBytes: whole.bytes,
    // A code's text is stored when it starts; delivering it writes as much as for any text.
    codeBytes: codes.bytes + Math.max(0, whole.bytes - whole.acceptedBytes),
    textWalBytes: whole.walBytes,
    codeWalBytes: codes.walBytes + Math.max(0, whole.walBytes - whole.acceptedWalBytes),
  };
}

async function costOf(bench: Bench, side: Side): Promise<Cost> {
  await warmUp(bench, side);
  const { cpuMicroseconds, postgresMicroseconds } = await measure(bench, side, measuredMs);
  return { node: cpuMicroseconds, postgres: postgresMicroseconds };
}

/** A measurement may lie below the one that it contains. */
function minus(whole: Cost, part: Cost): Cost {
  return { node: Math.max(0, whole.node - part.node), postgres: Math.max(0, whole.postgres - part.postgres) };
}

/** From the request to the receipt of the handset, until the last text has arrived. */
async function measureDelivered(bench: Bench) {
  const product = await bench.startProduct({});
  const { node, store } = product;
  const side: Side = { servers: [node], requests: () => texts(product.callers), status: '201', leftBehind };
  async function leftBehind(): Promise<number> {
    await settle(product);
    return 0;
  }
  await warmUp(bench, side);
  const used = async () => ({ node: await node.cpuMicroseconds(), postgres: bench.postgresMicroseconds() });
  const before = { cpu: await used(), storage: await readStorage(store) };
  const { worked, statuses } = await bench.load.run(
    { ...jobOf(side), requests: texts(product.callers), ms: measuredMs },
    async () => {
      before.cpu = await used();
    },
  );
  requireStatus(statuses, '201');
  const accepted = await growthSince(store, before.storage, 'message');
  await settle(product);
  const after = await used();
  const grown = await growthSince(store, before.storage, 'message');
  await node.stop();
  return {
    cost: {
      node: (after.node - before.cpu.node) / worked,
      postgres: (after.postgres - before.cpu.postgres) / worked,
    },
    bytes: grown.bytes,
    walBytes: grown.walBytes,
    acceptedBytes: accepted.bytes,
    acceptedWalBytes: accepted.walBytes,
  };
}

/** Receipts follow within milliseconds of the last text. */
async function settle({ store }: Product): Promise<void> {
  await drain(store);
  await new Promise((done) => setTimeout(done, 1000));
}

interface Storage {
  bytes: number;
  wal: string;
  rows: Map<string, number>;
}

async function readStorage({ database }: Store): Promise<Storage> {
  // Postgres writes its books of rows down at the end of a busy moment.
  await new Promise((done) => setTimeout(done, 1000));
  const tables = await readTableSizes(database);
  const { rows } = await database.query<{ wal: string }>('select pg_current_wal_lsn()::text as wal');
  return {
    bytes: tables.reduce((sum, { tableBytes, indexBytes }) => sum + tableBytes + indexBytes, 0),
    wal: rows[0]?.wal ?? '0/0',
    rows: new Map(tables.map(({ name, inserted }) => [name, inserted])),
  };
}

/** For each row that the table got since then. */
async function growthSince(store: Store, before: Storage, table: string) {
  const after = await readStorage(store);
  const { rows } = await store.database.query<{ bytes: number }>(
    'select pg_wal_lsn_diff($1::pg_lsn, $2::pg_lsn)::float8 as bytes',
    [after.wal, before.wal],
  );
  const made = Math.max(1, (after.rows.get(table) ?? 0) - (before.rows.get(table) ?? 0));
  return { bytes: Math.max(0, after.bytes - before.bytes) / made, walBytes: (rows[0]?.bytes ?? 0) / made };
}
