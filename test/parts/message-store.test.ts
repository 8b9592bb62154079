import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { listMessages, type MessageFilter } from '../../src/messages/message-store.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let db: TestDatabase;
before(async () => {
  db = await createTestDatabase();
  await db.database.query(
    `insert into message (id, application_id, api, channel, recipient, sender, body, status, encoding, segment_count,
       characters, remaining, reference, correlation_id, created_at, updated_at, expires_at, carrier)
     select 'msg_' || lpad(i::text, 26, '0'), 'app_' || i % 3, case when i % 5 = 0 then 'messaging' else 'sms' end, 'sms',
       '+44770090' || i % 2, 'ACME', 'x', case when i % 4 = 0 then 'delivered' else 'failed' end, 'GSM-7', 1, 1, 159,
       case when i % 7 > 0 then 'campaign ' || i % 2 end, 'req', now(), now(), now(), 'sandbox'
     from generate_series(1, 1000) i`,
  );
});
after(() => db.drop());

const filters: MessageFilter[] = [
  {},
  { to: '+447700900' },
  { to: '+447700999' },
  { status: 'delivered' },
  { status: 'scheduled' },
  { reference: 'campaign 0' },
  { to: '+447700901', status: 'failed' },
  { to: '+447700900', reference: 'campaign 0', status: 'delivered' },
];

describe('a list', () => {
  for (const filter of filters) {
    test(`gives every message that fits, once, newest first, however it is paged: ${JSON.stringify(filter)}`, async () => {
      const { rows } = await db.database.query<{ id: string }>(
        `select id from message where application_id = 'app_1' and api = 'sms' and recipient = coalesce($1, recipient)
         and status = coalesce($2, status) and ($3::text is null or reference = $3) order by id desc`,
        [filter.to ?? null, filter.status ?? null, filter.reference ?? null],
      );
      for (const limit of [1000, 50, 7]) {
        const seen: string[] = [];
        for (let size = limit; size === limit; ) {
          const page = await listMessages(db.database, 'app_1', 'sms', filter, { limit, after: seen.at(-1) });
          seen.push(...page.map(({ id }) => id));
          size = page.length;
        }
        assert.deepEqual(
          seen,
          rows.map(({ id }) => id),
        );
      }
    });
  }
});
