// Section 9 of the contract, by many at once, on one node and on two, and with connections that break in between.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createTestApp, type TestApp } from '../support/app.ts';
import { type Answer, send } from '../support/developer.ts';
import { eventually } from '../support/eventually.ts';
import { createSender, type Sender, type TextRecord, text } from '../support/texts.ts';

let app: TestApp;
let other: TestApp;
let acme: Sender;
before(async () => {
  app = await createTestApp({ manyConnections: true, delivery: 'held' });
  other = await createTestApp({ delivery: 'held', db: app.db, clock: app.clock });
  acme = await createSender(app, { apis: ['sms'] });
  // Both nodes know the key, so that all the requests arrive together.
  for (const node of [app, other]) await send(node, 'GET', '/sms/v1/messages', { headers: acme.key });
});
after(async () => {
  await other.close();
  await app.close();
});

let keys = 0;
const newKey = () => `race-${++keys}`;

function post(node: TestApp, key: string, given: Record<string, unknown> = {}): Promise<Answer<TextRecord>> {
  const headers = { ...acme.key, 'Idempotency-Key': key };
  return send(node, 'POST', '/sms/v1/messages', { body: { ...text, ...given }, headers });
}

async function rowsOf(reference: string): Promise<{ id: string }[]> {
  const statement = 'select id from message where reference = $1';
  return (await app.db.database.query<{ id: string }>(statement, [reference])).rows;
}

async function texts(reference: string): Promise<number> {
  // Each node has a clock of its own, and what the later one wrote is not due on the earlier one yet.
  for (const { delivery } of [app, other]) await delivery.workers()[0]?.runUntilIdle();
  const { count } = await app.db.database.query(
    'select 1 from handset_text where message_id in (select id from message where reference = $1)',
    [reference],
  );
  return count;
}

function assertOnce(answers: Answer<TextRecord>[]): void {
  const made = answers.filter(({ status }) => status === 201);
  assert.ok(made.length > 0);
  assert.equal(new Set(made.map(({ body }) => JSON.stringify(body))).size, 1, 'all the same answer');
  assert.ok(answers.every(({ status }) => status === 201 || status === 409));
  assert.equal(made.filter(({ headers }) => headers.get('idempotency-replayed') === null).length, 1);
}

describe('one Idempotency-Key 50 times in parallel', () => {
  test('one record, one text; all others the same answer or 409', async () => {
    const key = newKey();
    const answers = await Promise.all(Array.from({ length: 50 }, () => post(app, key, { reference: key })));
    assertOnce(answers);
    assert.deepEqual([(await rowsOf(key)).length, await texts(key)], [1, 1]);
    assertOnce([...answers, ...(await Promise.all([post(app, key, { reference: key })]))]);
  });

  test('one Idempotency-Key over two nodes makes one text', async () => {
    for (let round = 0; round < 3; round++) {
      const key = newKey();
      const nodes = Array.from({ length: 50 }, (_, i) => (i % 2 === 0 ? app : other));
      assertOnce(await Promise.all(nodes.map((node) => post(node, key, { reference: key }))));
      assert.deepEqual([(await rowsOf(key)).length, await texts(key)], [1, 1]);
    }
  });

  test('over two nodes with two payloads: one of them wins, the other is 422 or 409', async () => {
    const key = newKey();
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        post(i % 2 === 0 ? app : other, key, { reference: key, message: `${i % 2}` }),
      ),
    );
    const won = new Set(answers.filter(({ status }) => status === 201).map(({ body }) => body.message));
    assert.equal(won.size, 1);
    assert.ok(answers.every(({ status }) => [201, 409, 422].includes(status)));
    assert.equal((await rowsOf(key)).length, 1);
  });

  test('a key that is taken does not hold up the others in its batch', async () => {
    const taken = newKey();
    const lock = await app.db.database.openSession(() => {});
    await lock.query('begin');
    await lock.query('lock table idempotency in access exclusive mode');
    // Both nodes look the key up before either has written it.
    const reference = newKey();
    const nodes = [app, other];
    const same = nodes.map((node) => post(node, taken, { reference: taken }));
    await eventually('both nodes to wait for the lock', async () => {
      const { count } = await lock.query(
        `select 1 from pg_locks where not granted and relation = 'idempotency'::regclass
           and database = (select oid from pg_database where datname = current_database())`,
      );
      return count === 2;
    });
    const different = nodes.flatMap((node) => Array.from({ length: 10 }, () => post(node, newKey(), { reference })));
    await lock.query('rollback');
    await lock.close();
    assertOnce(await Promise.all(same));
    assert.ok((await Promise.all(different)).every(({ status }) => status === 201));
    assert.deepEqual([(await rowsOf(taken)).length, (await rowsOf(reference)).length], [1, 20]);
  });
});

describe('a crash in between', () => {
  /** Ends the connections that are in the middle of writing messages, as a crash of their database server would. */
  async function breakWriters(): Promise<number> {
    const { rows } = await other.db.database.query<{ ended: number }>(
      `select count(pg_terminate_backend(pid)) as ended from pg_stat_activity
       where datname = current_database() and wait_event_type = 'Lock' and query ~ 'inserted_message|from message where'`,
    );
    return rows[0]?.ended ?? 0;
  }

  for (const times of [1, 2]) {
    test(`the connection breaks ${times === 1 ? 'once' : 'twice'} between answer and record: both are there, or neither`, async () => {
      const key = newKey();
      const countKept = async () => (await app.db.database.query('select from idempotency')).count;
      const keptBefore = await countKept();
      const lock = await app.db.database.openSession(() => {});
      await lock.query('begin');
      await lock.query('lock table message in access exclusive mode');
      const first = post(app, key, { reference: key });
      for (let i = 0; i < times; i++) {
        await eventually('the writer to wait and be cut off', async () => (await breakWriters()) > 0, {
          withinMs: 4000,
        });
      }
      await lock.query('rollback');
      await lock.close();
      const { status, body } = await first;
      assert.ok(status === 201 || status === 503, String(status));
      const kept = (await countKept()) - keptBefore;
      const rows = await rowsOf(key);
      assert.deepEqual([kept, rows.length], status === 201 ? [1, 1] : [0, 0]);
      const again = await post(other, key, { reference: key });
      assert.equal(again.status, 201);
      if (status === 201) assert.equal(again.body.id, body.id);
      assert.deepEqual([(await rowsOf(key)).length, await texts(key)], [1, 1]);
    });
  }
});
