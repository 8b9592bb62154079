import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createTestApp, type TestApp } from '../support/app.ts';
import { createVerifyCaller, type VerifyCaller } from '../support/verify-caller.ts';

let app: TestApp;
let acme: VerifyCaller;
let eve: VerifyCaller;
before(async () => {
  app = await createTestApp({ delivery: 'held' });
  acme = await createVerifyCaller(app);
  eve = await createVerifyCaller(app);
});
after(() => app.close());

/** As deep as a body of 64 kB can be: to write it as JSON again overflows the stack. */
function nested(depth: number): string {
  return `${'['.repeat(depth)}${']'.repeat(depth)}`;
}

test('one start with whatever stands beside its autofill fails alone, or not at all', async () => {
  const send = (autofill: string) =>
    fetch(`${app.url}/verify/v1/verifications`, {
      method: 'POST',
      headers: { authorization: eve.authorization, 'content-type': 'application/json' },
      body: `{"to":"${eve.newNumber()}","channel":"sms","autofill":${autofill}}`,
    });
  const hostile = [
    `{"domain":"example.com","more":${nested(25_000)}}`,
    `{"android_hash":"FA+9qCX9VSu","toJSON":1,"more":${nested(25_000)}}`,
    `{"domain":"example.com","__proto__":{"domain":"evil.example"},"more":"\\u0000"}`,
    `{"domain":"example.com","more":"\\ud800"}`,
  ];
  const others = Array.from({ length: 40 }, () => acme.newNumber());
  const [bad, good] = await Promise.all([
    Promise.all(hostile.map(send)),
    Promise.all(others.map((to) => acme.start({ to }))),
  ]);
  for (const { status } of good) assert.equal(status, 200);
  for (const { status } of bad) assert.ok(status === 200 || status === 400, `${status}`);
  const { rows } = await app.db.database.query<{ autofill: string }>(
    `select template ->> 'autofill' as autofill from message where template ->> 'autofill' is not null`,
  );
  for (const { autofill } of rows) {
    assert.ok(['{"domain": "example.com"}', '{"android_hash": "FA+9qCX9VSu"}'].includes(autofill), autofill);
  }
});
