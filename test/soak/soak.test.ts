// run: alone
// The short form of `npm run soak`. What it promises must hold on a busy machine too, so no time is judged here.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { soak } from '../../bench/soak/soak.ts';
import { judge, passes } from '../../bench/soak/verdict.ts';
import type { Database } from '../../src/platform/database/database.ts';
import { createTestDatabase } from '../support/database.ts';
import { inShort } from '../support/effort.ts';
import { endServices } from '../support/service.ts';

const db = await createTestDatabase();
after(async () => {
  await endServices();
  await db.drop();
});

/** They depend on how fast the machine is: a service without a core answers late, or 503. */
const byTheMachine = [
  'a request is answered, and not with a 5xx',
  'a code reaches the phone, unless a carrier refused it',
];

/** Removes a text that callers know, and adds an event that no listener received. */
async function spoil(database: Database): Promise<void> {
  const { rows } = await database.query<{ id: string }>(
    `select id from message where reference like 't%' and status = (select max(status) from message) order by id limit 2`,
  );
  const [lost, changed] = rows.map(({ id }) => id);
  assert.ok(lost !== undefined && changed !== undefined, 'the run has made texts');
  await database.query('delete from message where id = $1', [lost]);
  const { count } = await database.query(
    `insert into event (application_id, subject, time, sequence, type, api)
     select application_id, subject, time, 8, type, api from event where subject = $1 and api = 0 limit 1`,
    [changed],
  );
  assert.equal(count, 1, 'the second text has an event to copy');
}

test('a short soak keeps every promise, and finds a text that was lost and an event that was not delivered', async () => {
  const result = await soak({
    // In short two faults find a place; the third makes a webhook wait for its next call.
    minutes: inShort(12, 20) / 60,
    rate: 0.2,
    sampleMs: inShort(3000, 4000),
    connection: db.connection,
    signal: new AbortController().signal,
    say: () => {},
    beforeCheck: spoil,
  });
  const broken = result.promises
    .filter((each) => each.broken > 0 && !byTheMachine.includes(each.name))
    .map(({ name, broken, first }) => [name, broken, first]);
  const named = new Set(broken.map(([name, times]) => `${name}: ${times}`));
  assert.deepEqual(
    named,
    new Set([
      'an accepted text is stored, once: 1',
      'the feed has every event: 1',
      'the stream has every event: 1',
      'the webhook has every event: 1',
    ]),
    JSON.stringify(broken, undefined, 1),
  );
  const lines = judge(result);
  assert.equal(passes(lines), false, 'a run that lost a text does not pass');
  assert.equal(lines.find(({ name }) => name === 'The service ran through')?.found, 'yes');
  for (const name of [
    'a revoked token is refused at once',
    'a right code counts once',
    'an ended key is refused at once',
  ]) {
    const found = result.promises.find((each) => each.name === name);
    assert.ok(found !== undefined && found.checked > 0, `the run has checked whether ${name}`);
  }
  assert.ok(result.faults.length >= 2, `${result.faults.length} faults were injected`);
  assert.ok(
    result.watched.samples.every(({ heapBytes }) => heapBytes > 1e6),
    'every sample has the heap of the service',
  );
  assert.ok(
    result.watched.sizes.every(({ tables }) => tables.some(({ name }) => name === 'message')),
    'every sample of sizes has the table of messages, as one',
  );
});
