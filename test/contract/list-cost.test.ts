import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { claimDue, recordResults } from '../../src/delivery/delivery-store.ts';
import { createReceipts } from '../../src/delivery/receipts.ts';
import type { Api } from '../../src/http/route.ts';
import { listMessages, type MessageFilter } from '../../src/messages/message-store.ts';
import { systemClock } from '../../src/platform/clock.ts';
import type { Database, Statement, Tx } from '../../src/platform/database.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { inShort } from '../support/effort.ts';
import { acceptMessages, carrierIdOf } from '../support/recording-carrier.ts';

const total = inShort(150_000, 1_000_000);
const pageSize = 20;
const carrier = 'test';
let db: TestDatabase;
/** One connection, so that a plan it has made stays made, and all the time it needs. */
let database: Database;
before(async () => {
  db = await createTestDatabase();
  database = db.another({ poolSize: 1, timeouts: { statementMs: 120_000, transactionMs: 120_000 } });
});
after(() => db.drop());

/**
 * Messages `from` to `to`, long delivered. Of a thousand, one is a small application's. The others are one's that has been
 * quiet for a while, and another's since then; every tenth goes to the same number, nearly all of them texts of
 * verifications, and every fifth has the same reference.
 */
async function addDelivered(from: number, to: number): Promise<void> {
  await database.query(
    `insert into message (id, application_id, api, channel, recipient, sender, body, status, encoding, segment_count,
       characters, remaining, reference, correlation_id, created_at, updated_at, expires_at, carrier, carrier_message_id)
     select 'msg_' || lpad(n::text, 26, '0'), case when n % 1000 = 7 then 'app_small' when n < $4::integer * 0.4 then 'app_quiet' else 'app_big' end,
       case when n % 10 = 0 and n % 500 <> 0 then 'verify' when n % 3 = 0 then 'messaging' else 'sms' end, 'sms',
       case when n % 10 = 0 then '+447700900000' else '+44' || (7000000000 + n) end, 'ACME', 'Hello',
       case when n % ($4::integer / 10) = 11 then 'failed' else 'delivered' end, 'GSM-7', 1, 5, 155,
       case when n % 5 = 0 then 'campaign' when n % 7 = 0 then 'ref-' || n end, 'req_01', now(), now(), now(), $1, 'c' || n
     from generate_series($2::integer, $3::integer) n`,
    [carrier, from, to, total],
  );
}

/** The index entries of so many rows are made at once, by the very definitions of the migrations. */
async function addTheRest(from: number): Promise<void> {
  const { rows } = await database.query<{ name: string; definition: string }>(
    `select indexname as name, indexdef as definition from pg_indexes
     where tablename = 'message' and indexname <> 'message_pkey'`,
  );
  await database.query('alter table message set unlogged');
  await database.query(`set maintenance_work_mem = '256MB'`);
  for (const { name } of rows) await database.query(`drop index ${name}`);
  await addDelivered(from, total);
  for (const { definition } of rows) await database.query(definition);
  await database.query('analyze message');
}

interface Plan {
  'Node Type': string;
  'Index Name'?: string;
  'Rows Removed by Filter'?: number;
  'Shared Hit Blocks': number;
  'Shared Read Blocks': number;
  Plans?: Plan[];
}

/** What a store's function asks the database for. */
async function captured(call: (tx: Tx) => Promise<unknown>): Promise<{ text: string; values: unknown[] }> {
  let found: { text: string; values: unknown[] } | undefined;
  await call({
    query(statement: Statement | string, values: unknown[] = []) {
      found = { text: typeof statement === 'string' ? statement : statement.text, values };
      return Promise.resolve({ rows: [], count: 0 });
    },
  });
  assert.ok(found !== undefined);
  return found;
}

class RollBack extends Error {}

/** Runs it for its plan, and undoes it. */
async function explain(call: (tx: Tx) => Promise<unknown>): Promise<Plan> {
  const { text, values } = await captured(call);
  let plan: Plan | undefined;
  await database
    .transaction(async (tx) => {
      const { rows } = await tx.query<{ 'QUERY PLAN': [{ Plan: Plan }] }>(
        `explain (analyze, buffers, format json) ${text}`,
        values,
      );
      plan = rows[0]?.['QUERY PLAN'][0].Plan;
      throw new RollBack();
    })
    .catch((error: unknown) => {
      if (!(error instanceof RollBack)) throw error;
    });
  assert.ok(plan !== undefined);
  return plan;
}

function nodesOf(plan: Plan): Plan[] {
  return [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];
}

function buffersOf(plan: Plan): number {
  return plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];
}

describe('a table that was small when its plans were made', () => {
  test('delivery never goes through all of it when it has grown, however often it was asked before', async () => {
    const receipts = createReceipts(database, systemClock);
    async function deliver(): Promise<void> {
      const nowMs = systemClock.nowMs();
      const claimed = await claimDue(database, { carrier, nowMs, leaseMs: 10_000, limit: 100, atMostOnce: false });
      assert.ok(claimed.length > 0);
      const results = claimed.map(({ id, attempt }) => ({
        messageId: id,
        attempt,
        status: 'sent' as const,
        carrierMessageId: carrierIdOf(id, attempt),
        error: null,
        dueAtMs: nowMs + 3_600_000,
      }));
      await recordResults(database, results, nowMs);
      const reported = results.map(({ carrierMessageId, messageId }, index) => ({
        carrierMessageId,
        messageId: index % 2 === 0 ? messageId : null,
        outcome: 'delivered' as const,
        error: null,
      }));
      await receipts.apply(carrier, reported);
    }
    const accept = (count: number) => acceptMessages({ database, clock: systemClock, carrier }, count);
    await addDelivered(1, 60);
    for (let round = 0; round < 15; round++) {
      await accept(2);
      await deliver();
      if (round === 5) await database.query('analyze message');
    }
    await addDelivered(61, 30_000);
    const before = await rowsReadInSequence();
    await accept(100);
    await deliver();
    assert.equal((await rowsReadInSequence()) - before, 0);
  });

  async function rowsReadInSequence(): Promise<number> {
    await database.query('select pg_stat_force_next_flush()');
    await database.query('select pg_stat_clear_snapshot()');
    const { rows } = await database.query<{ read: number }>(
      `select seq_tup_read as read from pg_stat_user_tables where relname = 'message'`,
    );
    return rows[0]?.read ?? 0;
  }
});

describe(`lists over ${total.toLocaleString('en')} messages`, () => {
  let claimOfThousands: Plan;
  const claim = (tx: Tx) =>
    claimDue(tx, { carrier, nowMs: systemClock.nowMs() + 1000, leaseMs: 10_000, limit: 500, atMostOnce: false });

  before(async () => {
    await acceptMessages({ database, clock: systemClock, carrier }, 100);
    await database.query('vacuum analyze message');
    claimOfThousands = await explain(claim);
    await addTheRest(30_001);
  });

  const lists: [string, string, Api, MessageFilter][] = [
    ['plain', 'app_big', 'sms', {}],
    ['of a small application', 'app_small', 'sms', {}],
    ['of an application that has been quiet for a while', 'app_quiet', 'sms', {}],
    ['to one number', 'app_big', 'sms', { to: '+447700900000' }],
    ['to one number, of another API', 'app_big', 'messaging', { to: '+447700900000' }],
    ['to a number nobody wrote to', 'app_big', 'sms', { to: '+15005550100' }],
    ['by status', 'app_big', 'sms', { status: 'delivered' }],
    ['by a rare status', 'app_big', 'sms', { status: 'failed' }],
    ['by status, of a small application', 'app_small', 'sms', { status: 'delivered' }],
    ['by reference', 'app_big', 'sms', { reference: 'campaign' }],
    ['by a rare reference', 'app_big', 'sms', { reference: 'ref-77' }],
  ];
  for (const [name, applicationId, api, filter] of lists) {
    test(`${name}: a page costs the same at the start and at the end, by an index alone`, async () => {
      const page = (after: string | undefined) => (tx: Tx) =>
        listMessages(tx, applicationId, api, filter, { limit: pageSize + 1, after });
      const start = await explain(page(undefined));
      const end = await explain(page(await idBeforeLastPage(applicationId, api, filter)));
      for (const plan of [start, end]) {
        const types = nodesOf(plan).map((node) => node['Node Type']);
        assert.deepEqual(types, ['Limit', 'Index Scan'], JSON.stringify(plan));
        for (const node of nodesOf(plan)) assert.equal(node['Rows Removed by Filter'] ?? 0, 0, JSON.stringify(node));
      }
      assert.ok(buffersOf(start) <= 2 * pageSize + 20, `${buffersOf(start)} buffers at the start`);
      assert.ok(
        buffersOf(end) <= Math.max(3 * buffersOf(start), 10),
        `${buffersOf(start)} buffers at the start, ${buffersOf(end)} at the end`,
      );
    });
  }

  /** The cursor that leads to the last whole page: found by going to the far end, which no request does. */
  async function idBeforeLastPage(applicationId: string, api: Api, filter: MessageFilter): Promise<string> {
    const conditions = ['application_id = $1', 'api = $2'];
    const values = [applicationId, api];
    const columns = { to: 'recipient', status: 'status', reference: 'reference' };
    for (const [field, value] of Object.entries(filter)) {
      values.push(String(value));
      conditions.push(`${columns[field as keyof typeof columns]} = $${values.length}`);
    }
    const { rows } = await database.query<{ id: string }>(
      `select id from message where ${conditions.join(' and ')} order by id limit ${pageSize + 1}`,
      values,
    );
    return rows.at(-1)?.id ?? 'msg_';
  }

  test('the claim of what is due costs what it cost when there were a few thousand', async () => {
    const plan = await explain(claim);
    for (const each of [claimOfThousands, plan]) {
      const types = nodesOf(each).map((node) => node['Node Type']);
      assert.ok(!types.some((type) => /Seq Scan|Sort|Bitmap/.test(type)), types.join(', '));
      assert.ok(
        nodesOf(each).some((node) => node['Index Name'] === 'message_due'),
        JSON.stringify(each),
      );
    }
    const lockOf = (each: Plan) => nodesOf(each).find((node) => node['Node Type'] === 'LockRows') ?? each;
    const [found, foundOfThousands] = [buffersOf(lockOf(plan)), buffersOf(lockOf(claimOfThousands))];
    assert.ok(found <= 1.5 * foundOfThousands, `to find them: ${found} buffers against ${foundOfThousands}`);
    const [taken, takenOfThousands] = [buffersOf(plan), buffersOf(claimOfThousands)];
    assert.ok(taken <= 2 * takenOfThousands, `to claim them: ${taken} buffers against ${takenOfThousands}`);
  });
});
