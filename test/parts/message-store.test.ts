import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { apiNames } from '../../src/http/route.ts';
import { badEnds, messageStatuses } from '../../src/messages/message.ts';
import { listMessages, type MessageFilter } from '../../src/messages/message-list.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { fromUuid, newId, uuidFloor, uuidOf } from '../../src/platform/ids.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

const applications = [0, 1, 2].map(() => newId('app', systemClock));
const [, mine = ''] = applications;
const count = 1000;
let db: TestDatabase;

/** Messages of three applications over twenty weeks, in every state, with the rows that a state has beside the record. */
before(async () => {
  db = await createTestDatabase();
  const number = (name: (typeof messageStatuses)[number]) => messageStatuses.indexOf(name);
  const floors = Array.from({ length: count }, (_, i) => uuidFloor(Date.now() - (count - i) * 12_000_000).slice(0, 24));
  await db.database.query(
    `with made as (
       insert into message (id, application_id, api, channel, recipient, sender, body, status, encoding, segment_count,
         characters, remaining, reference, correlation_id, created_at, updated_at, expires_at, carrier, lane)
       select (($1::text[])[i] || lpad(i::text, 12, '0'))::uuid, ($2::uuid[])[1 + i % 3], case when i % 5 = 0 then 2 else 0 end, 0,
         '+44770090' || i % 2, 'ACME', 'x', i % ${messageStatuses.length}, 0, 1, 1, 159,
         case when i % 7 > 0 then 'campaign ' || i % 2 end, gen_random_uuid(), now(), now(), now(), 'carrier ' || i % 2, i % 4 / 3
       from generate_series(1, ${count}) i
       returning *),
     ends as (
       insert into message_end select application_id, api, status, id from made
       where status in (${badEnds.map(number).join()})),
     claims as (
       insert into delivery_claim (carrier, claimed_at, leased_until, lanes, application_ids, message_ids, attempts,
         unanswered, possible_duplicates, in_doubt, moves)
       select 'carrier 0', now(), now(), '{1}', array[application_id], array[id], '{0}', '{0}', '{0}', '{false}', '{0}' from made
       where status = ${number('queued')} and carrier = 'carrier 0' and api = 2),
     scheduled as (
       insert into delivery_schedule (carrier, lane, application_id, message_id, due_at)
       select carrier, lane, application_id, id, now() from made where status = ${number('scheduled')})
     insert into delivery_queue (carrier, lane, application_id, message_id)
     select carrier, lane, application_id, id from made
     where status = ${number('queued')} and not (carrier = 'carrier 0' and api = 2)`,
    [floors, applications.map(uuidOf)],
  );
});
after(() => db.drop());

const filters: MessageFilter[] = [
  {},
  { to: '+447700900' },
  { to: '+447700999' },
  ...messageStatuses.map((status) => ({ status })),
  { reference: 'campaign 0' },
  { to: '+447700901', status: 'failed' },
  { to: '+447700900', reference: 'campaign 0', status: 'delivered' },
];

describe('a list', () => {
  for (const filter of filters) {
    test(`gives every message that fits, once, newest first, however it is paged: ${JSON.stringify(filter)}`, async () => {
      for (const api of ['sms', 'messaging'] as const) {
        const { rows } = await db.database.query<{ id: string }>(
          `select id from message where application_id = $4 and api = $5 and recipient = coalesce($1, recipient)
           and status = coalesce($2, status) and ($3::text is null or reference = $3) order by id desc`,
          [
            filter.to ?? null,
            filter.status === undefined ? null : (messageStatuses as readonly string[]).indexOf(filter.status),
            filter.reference ?? null,
            uuidOf(mine),
            apiNames.indexOf(api),
          ],
        );
        for (const limit of [1000, 50, 7]) {
          const seen: string[] = [];
          for (let size = limit; size === limit; ) {
            const page = await listMessages(db.database, mine, api, filter, {
              limit,
              after: seen.at(-1),
              nowMs: Date.now(),
            });
            assert.equal(page.searchedTo, undefined, 'so few are searched to the end');
            seen.push(...page.rows.map(({ id }) => id));
            size = page.rows.length;
          }
          assert.deepEqual(
            seen,
            rows.map(({ id }) => fromUuid('msg', id)),
          );
        }
      }
    });
  }

  test('a list by a rare status among many messages gives up after some, and returns a cursor to go on', async () => {
    const lonely = newId('app', systemClock);
    await db.database.query(
      `insert into message (id, application_id, api, channel, recipient, sender, status, encoding, segment_count,
         characters, remaining, correlation_id, created_at, updated_at, expires_at, carrier)
       select ($2 || lpad(i::text, 12, '0'))::uuid, $1, 0, 0, '+447700900', 'ACME', $3 + case when i = 1 then 1 else 0 end, 0, 1, 1, 159,
         gen_random_uuid(), now(), now(), now(), 'carrier 0'
       from generate_series(1, 12000) i`,
      [uuidOf(lonely), uuidFloor(Date.now()).slice(0, 24), messageStatuses.indexOf('sent')],
    );
    const found: string[] = [];
    let pages = 0;
    for (let after: string | undefined; pages === 0 || after !== undefined; pages++) {
      const page = await listMessages(
        db.database,
        lonely,
        'sms',
        { status: 'delivered' },
        { limit: 21, after, nowMs: Date.now() },
      );
      found.push(...page.rows.map(({ id }) => id));
      after = page.searchedTo;
    }
    assert.deepEqual([found.length, pages], [1, 3]);
  });
});
