import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createTestDatabase, type TestDatabase } from '../../test/support/database.ts';
import type { Tx } from '../platform/database.ts';
import { listMessages, type MessageFilter } from './message-store.ts';

const count = 30_000;
const idOf = (i: number) => `msg_${String(i).padStart(26, '0')}`;

let db: TestDatabase;
let tx: Tx;
before(async () => {
  db = await createTestDatabase();
  const patient = db.another({ timeouts: { statementMs: 60_000, transactionMs: 60_000 } });
  // An application that was busy among others and has been quiet since, behind all that they have sent after it.
  await patient.query(
    `insert into message (id, application_id, api, channel, recipient, sender, body, status, encoding, segment_count,
       characters, remaining, reference, correlation_id, created_at, updated_at, expires_at, carrier)
     select 'msg_' || lpad(i::text, 26, '0'), case when i <= $1 / 2 and i % 2 = 0 then 'app_quiet' else 'app_' || i % 50 end,
       case when i % 10 > 1 then 'sms' else 'messaging' end, 'sms', '+44770090' || i % 2, 'ACME', 'x',
       case when i % 4 = 0 then 'delivered' else 'failed' end, 'GSM-7', 1, 1, 159, 'campaign ' || i % 3, 'req', now(),
       now(), now(), 'sandbox'
     from generate_series(1, $1::integer) i`,
    [count],
  );
  await patient.query('analyze message');
  tx = patient;
});
after(() => db.drop());

interface Plan {
  'Node Type': string;
  'Rows Removed by Filter'?: number;
  'Shared Hit Blocks': number;
  'Shared Read Blocks': number;
  Plans?: Plan[];
}

let plan0 = '';
/** How a list is read: the kinds of steps, and how much is looked at for it. */
async function readingOf(
  filter: MessageFilter,
  after: string | undefined,
): Promise<{ steps: string[]; blocks: number }> {
  let plan: Plan | undefined;
  const explaining: Tx = {
    async query(statement, values) {
      const { rows } = await tx.query<{ 'QUERY PLAN': { Plan: Plan }[] }>(
        `explain (analyze, buffers, format json) ${String(statement)}`,
        values,
      );
      plan = rows[0]?.['QUERY PLAN'][0]?.Plan;
      return { rows: [], count: 0 };
    },
  };
  await listMessages(explaining, 'app_quiet', 'sms', filter, { limit: 21, after });
  assert.ok(plan);
  plan0 = (plan.Plans?.[0] as any)['Index Name'] + ' ' + plan.Plans?.[0]?.['Rows Removed by Filter'];
  const steps: string[] = [];
  for (let step: Plan | undefined = plan; step !== undefined; step = step.Plans?.[0]) steps.push(step['Node Type']);
  return { steps, blocks: plan['Shared Hit Blocks'] + plan['Shared Read Blocks'] };
}

const filters: MessageFilter[] = [
  {},
  { to: '+447700900' },
  { to: '+447700999' },
  { status: 'delivered' },
  { status: 'scheduled' },
  { reference: 'campaign 0' },
  { reference: 'none' },
  { to: '+447700900', status: 'delivered' },
  { to: '+447700900', reference: 'campaign 1', status: 'delivered' },
];

describe('a list', () => {
  for (const filter of filters) {
    test(`costs the same at its start and at its end, by index alone: ${JSON.stringify(filter)}`, async () => {
      for (const after of [undefined, idOf(count / 6), idOf(300)]) {
        const { steps, blocks } = await readingOf(filter, after);
        assert.deepEqual(steps, ['Limit', 'Index Scan']);
        console.log(JSON.stringify(filter), after, blocks, steps.join(), plan0);
        assert.ok(blocks < 300, `${blocks} blocks after ${after}`);
      }
    });
  }

  test('gives every message that the filters fit, once, newest first, however it is paged', async () => {
    for (const filter of filters) {
      const { rows } = await tx.query<{ id: string }>(
        `select id from message where application_id = 'app_quiet' and api = 'sms' and recipient = coalesce($1, recipient)
         and status = coalesce($2, status) and reference = coalesce($3, reference) order by id desc limit 250`,
        [filter.to ?? null, filter.status ?? null, filter.reference ?? null],
      );
      const seen: string[] = [];
      for (let after: string | undefined; seen.length < 250; after = seen.at(-1)) {
        const page = await listMessages(tx, 'app_quiet', 'sms', filter, { limit: 50, after });
        seen.push(...page.map(({ id }) => id));
        if (page.length < 50) break;
      }
      assert.deepEqual(
        seen,
        rows.map(({ id }) => id),
        JSON.stringify(filter),
      );
    }
  });
});
