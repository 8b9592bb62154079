// How old the oldest text of a queue is, which alerts and operators read.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { readQueueAges } from '../../src/delivery/queue/ages.ts';
import { newId } from '../../src/platform/ids.ts';
import { readFacts } from '../../src/quality/alerts/facts.ts';
import { createTestClock } from '../support/clock.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { acceptMessages } from '../support/recording-carrier.ts';

let db: TestDatabase;

before(async () => {
  db = await createTestDatabase();
});
after(() => db.drop());

test('the oldest text is found behind a thousand newer ones of other applications', async () => {
  const clock = createTestClock();
  const { database } = db;
  // The queue is in the order of applications: this one is the last.
  const last = newId('app', { ...clock, nowMs: () => clock.nowMs() + 86_400_000 });
  const oldestAtMs = clock.nowMs();
  await acceptMessages({ database, clock, carrier: 'slow' }, 1, { applicationId: last });
  clock.advance(3_600_000);
  await acceptMessages({ database, clock, carrier: 'slow' }, 1000);
  await acceptMessages({ database, clock, carrier: 'quick' }, 1, { lane: 'first' });
  const ages = await readQueueAges(database, clock.nowMs());
  assert.deepEqual(
    new Map(ages.map(({ carrier, ...age }) => [carrier, age])),
    new Map([
      ['quick', { lane: 'first', oldestAtMs: clock.nowMs() }],
      ['slow', { lane: 'bulk', oldestAtMs }],
    ] as const),
  );
});

test('between two reads of slow facts alerts see new codes, and the bulk queues as they were', async () => {
  const clock = createTestClock();
  const { database } = db;
  const agesOf = ({ queues }: { queues: { carrier: string; lane: string }[] }) =>
    queues.filter(({ carrier }) => carrier === 'new').map(({ lane }) => lane);
  const slow = await readFacts(database, clock.nowMs());
  assert.deepEqual(agesOf(slow), []);
  await acceptMessages({ database, clock, carrier: 'new' }, 1);
  await acceptMessages({ database, clock, carrier: 'new' }, 1, { lane: 'first' });
  assert.deepEqual(agesOf(await readFacts(database, clock.nowMs(), slow)), ['first']);
  assert.deepEqual(agesOf(await readFacts(database, clock.nowMs())), ['first', 'bulk']);
});
