// Answers of endpoints are kept beside deliveries: a busy webhook gets a sample, and a store that is away costs nothing.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { newId } from '../../src/platform/ids.ts';
import { deleteAnswersNaming } from '../../src/webhooks/answer-store.ts';
import { createAnswerKeeper } from '../../src/webhooks/answers.ts';
import { createTestClock } from '../support/clock.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

const clock = createTestClock();
let db: TestDatabase;
before(async () => {
  db = await createTestDatabase();
});
after(() => db.drop());

const answerAt = (webhookId: string, position: number) => ({
  webhookId,
  position,
  timeMs: clock.nowMs(),
  headers: [['x', 'y']] as [string, string][],
  body: Buffer.from('ok'),
  isCut: false,
});
const count = async () => (await db.database.query('select from webhook_answer')).count;

test('a webhook keeps a hundred answers at once, then one a second; another has its own share', async () => {
  const keeper = createAnswerKeeper({ database: db.database, clock });
  const [busy, quiet] = [newId('whk', clock), newId('whk', clock)];
  for (let position = 0; position < 300; position++) keeper.keep(answerAt(busy, position));
  keeper.keep(answerAt(quiet, 1));
  await keeper.flush();
  assert.equal(await count(), 101);
  clock.advance(5000);
  for (let position = 300; position < 400; position++) keeper.keep(answerAt(busy, position));
  await keeper.stop();
  assert.equal(await count(), 106);
});

test('without the store answers are dropped, and nothing is thrown', async () => {
  const away = { ...db.database, query: () => Promise.reject(new Error('away')) } as typeof db.database;
  const keeper = createAnswerKeeper({ database: away, clock });
  keeper.keep(answerAt(newId('whk', clock), 1));
  await keeper.stop();
});

test('answers that name a number can be deleted, in their body or in a header', async () => {
  await db.database.query('delete from webhook_answer');
  const webhookId = newId('whk', clock);
  const named = [
    { ...answerAt(webhookId, 1), body: Buffer.from('{"to":"+447700900123"}') },
    { ...answerAt(webhookId, 2), headers: [['x-for', '447700900123']] as [string, string][] },
    answerAt(webhookId, 3),
  ];
  const keeper = createAnswerKeeper({ database: db.database, clock });
  for (const answer of named) keeper.keep(answer);
  await keeper.stop();
  await deleteAnswersNaming(db.database, '+447700900123');
  const { rows } = await db.database.query<{ position: number }>('select position from webhook_answer');
  assert.deepEqual(rows, [{ position: 3 }]);
});
