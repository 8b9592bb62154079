import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Database } from '../../src/platform/database.ts';
import { createHandsets } from '../../src/sandbox/handsets.ts';
import { createTestClock } from '../support/clock.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';

let db: TestDatabase;
before(async () => {
  db = await createTestDatabase();
});
after(() => db.drop());

const textOf = (messageId: string) => ({
  applicationId: 'app',
  to: '+447700900123',
  messageId,
  attempt: 1,
  receiptOutcome: 'delivered' as const,
  receiptError: null,
  receiptAfterMs: 0,
});

test('a reader that has seen a text has seen all before it: ids are given out in the order of the commits', async () => {
  const clock = createTestClock();
  const handsets = createHandsets(db.database, clock);
  const waiting = "select from pg_locks where locktype = 'advisory' and objid = 4207020 and not granted";
  let late: Promise<void> | undefined;
  await db.database.transaction(async (tx) => {
    await createHandsets(tx as Database, clock).receive([textOf('msg_first')]);
    late = createHandsets(db.another(), clock).receive([textOf('msg_second')]);
    await eventually('the second waits for the first', async () => (await db.database.query(waiting)).count === 1);
    assert.deepEqual(await handsets.listAfter(0), []);
  });
  await late;
  const texts = await handsets.listAfter(0);
  assert.deepEqual(
    texts.map(({ messageId }) => messageId),
    ['msg_first', 'msg_second'],
  );
});
