// A stop word holds on every node once it is answered, also the first one of an installation.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createTestApp, type TestApp } from '../support/app.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { send } from '../support/developer.ts';
import { createSender, type Page, type Sender, type TextRecord } from '../support/texts.ts';

let db: TestDatabase;
let one: TestApp;
let two: TestApp;
let who: Sender;
before(async () => {
  db = await createTestDatabase();
  const env = { REDIS_URL: '' };
  one = await createTestApp({ db, env });
  two = await createTestApp({ db, env, clock: one.clock, delivery: 'held' });
  who = await createSender(one);
});
after(async () => {
  await two.close();
  await one.close();
  await db.drop();
});

const phone = '+447700900777';
const sendFrom = (app: TestApp, more: Record<string, unknown> = {}, headers: Record<string, string> = {}) => {
  const body = { to: phone, from: 'ACME', message: 'Hello', ...more };
  return send<TextRecord>(app, 'POST', '/sms/v1/messages', { body, headers: { ...who.key, ...headers } });
};

test('texts that are accepted after the answer to the first stop word fail, on both nodes, with and without a key', async () => {
  // Both nodes have seen no opt-out.
  for (const app of [one, two]) assert.equal((await sendFrom(app)).body.status, 'queued');
  const path = `/sandbox/v1/inbox?to=${encodeURIComponent(phone)}`;
  const arrived = async () => (await send<Page<unknown>>(one, 'GET', path, { headers: who.key })).body.data.length;
  while ((await arrived()) < 2) await new Promise((done) => setTimeout(done, 20));

  const noise = Array.from({ length: 40 }, (_, index) =>
    sendFrom(index % 2 === 0 ? one : two, { message: `n${index}` }),
  );
  const body = { from: phone, to: 'ACME', message: 'STOP' };
  const stopped = await send(two, 'POST', '/sandbox/v1/inbox/replies', { body, headers: who.key });
  assert.equal(stopped.status, 201);
  const late = await Promise.all(
    [one, two].flatMap((app, node) => [sendFrom(app), sendFrom(app, {}, { 'Idempotency-Key': `late-${node}` })]),
  );
  assert.deepEqual(
    late.map((answer) => answer.body.error?.code),
    late.map(() => 'blocked_by_recipient'),
  );
  // What was accepted meanwhile either left before the stop word or not at all; none is lost.
  const accepted = (await Promise.all(noise)).map((answer) => answer.body.id);
  const ends = new Set<string>();
  for (const id of accepted) {
    for (;;) {
      const { status } = await who.readSms(id);
      if (!['queued', 'sent'].includes(status)) {
        ends.add(status);
        break;
      }
      one.clock.advance(50);
      await new Promise((done) => setTimeout(done, 20));
    }
  }
  assert.deepEqual(
    [...ends].filter((status) => !['delivered', 'failed'].includes(status)),
    [],
  );
});
