import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { readCarrierId } from '../../src/delivery/carrier/id.ts';
import { createClaims } from '../../src/delivery/queue/claim-store.ts';
import { recordClaim } from '../../src/delivery/queue/result-store.ts';
import { createReceipts } from '../../src/delivery/receipts/receipts.ts';
import { type Api, apiNames } from '../../src/http/route.ts';
import { messageStatuses } from '../../src/messages/message.ts';
import { listMessages, type MessageFilter } from '../../src/messages/message-list.ts';
import { readSpans } from '../../src/messages/message-spans.ts';
import { messagesBySteps, summedMessages } from '../../src/messages/message-usage-store.ts';
import { dayMs, systemClock } from '../../src/platform/clock.ts';
import type { Database, Statement, Tx } from '../../src/platform/database/database.ts';
import { partitionWeekMs } from '../../src/platform/database/partitions.ts';
import { sumSome } from '../../src/platform/database/record-sums.ts';
import { fromUuid, newId, uuidFloor, uuidOf } from '../../src/platform/ids.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { inShort } from '../support/effort.ts';
import { acceptMessages, carrierIdOf } from '../support/recording-carrier.ts';

const total = inShort(150_000, 1_000_000);
const pageSize = 20;
const carrier = 'test';
/** An hour ago, and in the week of the newest messages: a partition with a few rows has another plan. */
const storedAtMs = Math.max(Date.now() - 3_600_000, Math.floor(Date.now() / partitionWeekMs) * partitionWeekMs);
const [small, quiet, big] = ['small', 'quiet', 'big'].map(() => newId('app', systemClock)) as [string, string, string];
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
    `with made as (
       insert into message (id, application_id, api, channel, recipient, sender, body, status, encoding, segment_count,
         characters, remaining, reference, correlation_id, created_at, updated_at, expires_at, carrier, verification_id)
       select ($5 || lpad(to_hex(n), 12, '0'))::uuid,
         case when n % 1000 = 7 then $6::uuid when n < $4::integer * 0.4 then $7::uuid else $8::uuid end,
         case when n % 10 = 0 and n % 500 <> 0 then 1 when n % 3 = 0 then 2 else 0 end, 0,
         case when n % 10 = 0 then '+447700900000' else '+44' || (7000000000 + n) end, 'ACME', 'Hello',
         case when n % ($4::integer / 10) = 11 then ${messageStatuses.indexOf('failed')}
           else ${messageStatuses.indexOf('delivered')} end, 0, 1, 5, 155,
         case when n % 5 = 0 then 'campaign' when n % 7 = 0 then 'ref-' || n end, $6, now(), now(), now(), $1,
         case when n % 10 = 0 and n % 500 <> 0 then $6::uuid end
       from generate_series($2::integer, $3::integer) n
       returning id, application_id, api, status)
     insert into message_end select application_id, api, status, id from made
     where status = ${messageStatuses.indexOf('failed')}`,
    [carrier, from, to, total, uuidFloor(storedAtMs).slice(0, 24), ...[small, quiet, big].map(uuidOf)],
  );
}

/** The index entries of all rows are made at once, by the very definitions of the migrations. */
async function addTheRest(from: number): Promise<void> {
  const { rows } = await database.query<{ name: string; definition: string }>(
    `select indexname as name, indexdef as definition from pg_indexes
     where tablename = 'message' and indexname <> 'message_pkey'`,
  );
  await database.query(`set maintenance_work_mem = '256MB'`);
  for (const { name } of rows) await database.query(`drop index ${name}`);
  await addDelivered(from, total);
  for (const { definition } of rows) await database.query(definition.replace(' ON ONLY ', ' ON '));
  await database.query('analyze message');
}

interface Plan {
  'Node Type': string;
  'Index Name'?: string;
  'Relation Name'?: string;
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  'Shared Hit Blocks': number;
  'Shared Read Blocks': number;
  Plans?: Plan[];
}

/** The plans of all that a store's function asks the database for. */
async function explain(call: (tx: Tx) => Promise<unknown>): Promise<Plan[]> {
  const plans: Plan[] = [];
  await call({
    async query<Row>(statement: Statement | string, values: unknown[] = []) {
      const text = typeof statement === 'string' ? statement : statement.text;
      const { rows } = await database.query<{ 'QUERY PLAN': [{ Plan: Plan }] }>(
        `explain (analyze, buffers, format json) ${text}`,
        values,
      );
      const [plan] = rows[0]?.['QUERY PLAN'] ?? [];
      assert.ok(plan !== undefined, 'there is a plan');
      plans.push(plan.Plan);
      return database.query<Row>(text, values);
    },
  } as Tx);
  return plans;
}

function nodesOf(plan: Plan): Plan[] {
  return [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];
}

function buffersOf(plans: Plan[]): number {
  return plans.reduce((sum, plan) => sum + plan['Shared Hit Blocks'] + plan['Shared Read Blocks'], 0);
}

describe('a table that was small when its plans were made', () => {
  test('delivery never goes through all of it when it has grown, however often it was asked before', async () => {
    const receipts = createReceipts({ database, clock: systemClock });
    const claimNext = createClaims(database);
    async function deliver(): Promise<void> {
      const nowMs = systemClock.nowMs();
      const claim = await claimNext({ carrier, nowMs, leaseMs: 10_000, limits: { first: 100, bulk: 100 } });
      assert.ok(claim !== undefined, 'there is something to claim');
      const ended = claim.texts.map(({ message, entry }) => ({
        entry: { ...entry, attempt: 1 },
        status: 'sent' as const,
        carrierMessageId: readCarrierId(carrierIdOf(message.id, 1)),
        receiptKey: readCarrierId(carrierIdOf(message.id, 1)),
        error: null,
        long: undefined,
      }));
      await recordClaim(database, claim, { carrier, account: carrier, ended, again: [], nowMs });
      const reported = claim.texts.map(({ message }, index) => ({
        carrierMessageId: carrierIdOf(message.id, 1),
        keys: [carrierIdOf(message.id, 1)],
        numbers: [],
        messageId: index % 2 === 0 ? message.id : null,
        outcome: 'delivered' as const,
        error: null,
      }));
      await receipts.apply({ key: carrier, account: carrier }, reported);
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
      `select sum(seq_tup_read)::integer as read from pg_stat_user_tables where relname like 'message%'`,
    );
    return rows[0]?.read ?? 0;
  }
});

describe(`lists over ${total.toLocaleString('en')} messages`, () => {
  before(async () => {
    await acceptMessages({ database, clock: systemClock, carrier }, 100);
    await addTheRest(30_001);
  });

  const lists: [string, string, Api, MessageFilter][] = [
    ['plain', big, 'sms', {}],
    ['of a small application', small, 'sms', {}],
    ['of an application that has been quiet for a while', quiet, 'sms', {}],
    ['to one number', big, 'sms', { to: '+447700900000' }],
    ['to one number, of another API', big, 'messaging', { to: '+447700900000' }],
    ['to a number without texts', big, 'sms', { to: '+15005550100' }],
    ['by status', big, 'sms', { status: 'delivered' }],
    ['by a rare status', big, 'sms', { status: 'failed' }],
    ['by status, of a small application', small, 'sms', { status: 'delivered' }],
    ['by reference', big, 'sms', { reference: 'campaign' }],
    ['by a rare reference', big, 'sms', { reference: 'ref-77' }],
  ];

  test('first pages of several callers in one query, by an index alone', async () => {
    const [from, below] = [uuidFloor(Date.now() - 8 * dayMs), uuidFloor(Date.now() + dayMs)];
    const spans = [small, quiet, big].map((applicationId) => ({
      applicationId,
      api: 'sms' as const,
      from,
      below,
      limit: pageSize + 1,
    }));
    const plans = await explain(async (tx) => {
      const pages = await readSpans(tx, spans);
      assert.deepEqual(
        pages.map(({ length }) => length),
        spans.map(({ limit }) => limit),
      );
    });
    for (const node of plans.flatMap(nodesOf)) {
      assert.doesNotMatch(node['Node Type'], /Seq Scan|Bitmap/, JSON.stringify(node));
      assert.ok((node['Rows Removed by Filter'] ?? 0) === 0, JSON.stringify(node));
    }
    assert.ok(buffersOf(plans) <= 3 * (3 * pageSize + 40), `${buffersOf(plans)} buffers`);
  });

  for (const [name, applicationId, api, filter] of lists) {
    test(`${name}: a page costs the same at the start and at the end, by an index alone`, async () => {
      const page = (after: string | undefined) => (tx: Tx) =>
        listMessages(tx, applicationId, api, filter, { limit: pageSize + 1, after, nowMs: Date.now() });
      const start = await explain(page(undefined));
      const end = await explain(page(await idBeforeLastPage(applicationId, api, filter)));
      for (const node of [...start, ...end].flatMap(nodesOf)) {
        assert.doesNotMatch(node['Node Type'], /Seq Scan|Bitmap/, JSON.stringify(node));
        assert.ok((node['Rows Removed by Filter'] ?? 0) <= 2 * pageSize, JSON.stringify(node));
      }
      assert.ok(buffersOf(start) <= 3 * pageSize + 40, `${buffersOf(start)} buffers at the start`);
      assert.ok(
        buffersOf(end) <= Math.max(3 * buffersOf(start), 10),
        `${buffersOf(start)} buffers at the start, ${buffersOf(end)} at the end`,
      );
    });
  }

  /** The cursor that leads to the last whole page: found by going to the far end, which no request does. */
  async function idBeforeLastPage(applicationId: string, api: Api, filter: MessageFilter): Promise<string> {
    const conditions = ['application_id = $1', 'api = $2'];
    const values: unknown[] = [uuidOf(applicationId), apiNames.indexOf(api)];
    if (filter.to !== undefined) conditions.push(`recipient = $${values.push(filter.to)}`);
    if (filter.reference !== undefined) conditions.push(`reference = $${values.push(filter.reference)}`);
    if (filter.status !== undefined)
      conditions.push(`status = $${values.push((messageStatuses as readonly string[]).indexOf(filter.status))}`);
    const { rows } = await database.query<{ id: string }>(
      `select id from message where ${conditions.join(' and ')} order by id limit ${pageSize + 1}`,
      values,
    );
    return fromUuid('msg', rows.at(-1)?.id ?? uuidFloor(0));
  }
});

describe(`usage over ${total.toLocaleString('en')} messages`, () => {
  const newest = 100;
  before(async () => {
    while ((await sumSome(database, summedMessages, Date.now())) > 0);
    await acceptMessages({ database, clock: systemClock, carrier }, newest, { applicationId: big });
    await database.query('analyze message_sum');
  });

  for (const [name, applicationId] of [
    ['a large application', big],
    ['a small application', small],
  ] as const) {
    for (const stepMs of [60_000, 3_600_000, dayMs]) {
      test(`${name}, by steps of ${stepMs / 60_000} minutes: sums, and the records of the last minutes`, async () => {
        const toMs = Math.ceil(Date.now() / stepMs) * stepMs;
        const span = { applicationId, fromMs: toMs - Math.max(2 * dayMs, stepMs), toMs, stepMs };
        const { rows } = await database.query<{ count: number }>(
          'select count(*) as count from message where application_id = $1',
          [uuidOf(applicationId)],
        );
        const plans = await explain(async (tx) => {
          const counted = await messagesBySteps(tx, span, Date.now());
          assert.equal(
            counted.reduce((sum, { count }) => sum + count, 0),
            rows[0]?.count,
          );
        });
        const nodes = plans.flatMap(nodesOf);
        const read = nodes
          .filter((node) => /^message(_w|_default)/.test(node['Relation Name'] ?? ''))
          .reduce((sum, node) => sum + node['Actual Rows'] * node['Actual Loops'], 0);
        assert.equal(read, applicationId === big ? newest : 0, 'records read');
        for (const node of nodes) {
          assert.doesNotMatch(node['Node Type'], /Seq Scan|Bitmap/, JSON.stringify(node));
          // The steps of the span are an array in memory.
          if (node['Node Type'] === 'Function Scan') continue;
          assert.ok((node['Rows Removed by Filter'] ?? 0) <= 10, JSON.stringify(node));
        }
        assert.ok(buffersOf(plans) <= newest + 80, `${buffersOf(plans)} buffers`);
      });
    }
  }
});
