// Steps of a fallback against checks, and against one another on two nodes.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createTestApp, type TestApp } from '../support/app.ts';
import { eventually } from '../support/eventually.ts';
import { createVerifyCaller, type VerificationBody, type VerifyCaller } from '../support/verify-caller.ts';

let app: TestApp;
let second: TestApp;
let acme: VerifyCaller;
before(async () => {
  // Both nodes deliver, so both poll for steps.
  app = await createTestApp({ manyConnections: true });
  second = await createTestApp({ db: app.db, clock: app.clock });
  acme = await createVerifyCaller(app);
});
after(async () => {
  await second.close();
  await app.close();
});

const fallback = [{ channel: 'voice', after_seconds: 5 }];
const many = 30;

async function untilQuiet(): Promise<void> {
  await eventually('no step to wait', async () => {
    const { rows } = await app.db.database.query('select from verification_fallback where due_at is not null limit 1');
    return rows.length === 0;
  });
}

async function readAll(ids: string[]): Promise<VerificationBody[]> {
  return Promise.all(ids.map(async (id) => (await acme.read(id)).body));
}

describe('two nodes', () => {
  test('take each step once', async () => {
    const starts = await Promise.all(
      Array.from({ length: many }, () => acme.start({ to: acme.newNumber(), fallback })),
    );
    app.clock.advance(5000);
    await untilQuiet();
    const records = await readAll(starts.map(({ body }) => body.id));
    assert.deepEqual(
      new Set(records.map(({ sends, deliveries }) => `${sends} ${deliveries.length}`)),
      new Set(['2 2']),
    );
  });
});

describe('a check that approves while the next channel is about to start', () => {
  test('stops it, or its send is committed before and counts: never a send after the approval', async () => {
    const started = await Promise.all(Array.from({ length: many }, () => acme.pending({ fallback })));
    app.clock.advance(5000);
    const checked = await Promise.all(started.map(({ id, code }) => acme.check(id, code)));
    assert.ok(checked.every(({ body }) => body.valid));
    await untilQuiet();
    const records = await readAll(started.map(({ id }) => id));
    for (const [index, record] of records.entries()) {
      assert.equal(record.status, 'approved');
      assert.equal(record.deliveries.length, record.sends);
      assert.equal(record.sends, checked[index]?.body.sends, 'nothing was sent after the approval');
    }
  });
});
