// Every sign-in is kept with its address, and shown to the person and to operators. Who guesses at e-mails, known or made
// up, can neither fill the table, nor push out what matters, nor learn which e-mails have accounts.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { mostSignInsPerEmail } from '../../src/accounts/sign-in/store.ts';
import { createSignInUpkeep } from '../../src/accounts/sign-in/upkeep.ts';
import { dayMs, hourMs, minuteMs, toTimestamp } from '../../src/platform/clock.ts';
import { newId } from '../../src/platform/ids.ts';
import { pieceRows } from '../../src/platform/work/maintenance.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { send, signUp, type TestDeveloper } from '../support/developer.ts';
import { createOperator } from '../support/operator.ts';
import { setUpFactor } from '../support/second-factor.ts';

let app: TestApp;
let operator: TestDeveloper;
before(async () => {
  app = await createTestApp({ env: { HELIOGRAPH_TRUSTED_PROXIES: '127.0.0.1' }, delivery: 'held' });
  operator = await createOperator(app);
});
after(() => app.close());

interface Listed {
  data: { time: string; address: string; way: string; outcome: string; email?: string; person_id?: string | null }[];
  next_cursor: string | null;
}

const signIn = (email: string, password: string, address = '127.0.0.1') =>
  send(app, 'POST', '/portal/v1/sessions', { body: { email, password }, headers: { 'x-forwarded-for': address } });
const listOf = async (person: TestDeveloper, path = '/portal/v1/me/sign-ins') => {
  const { status, body } = await person.send<Listed>('GET', path);
  assert.equal(status, 200, JSON.stringify(body));
  return body;
};
const told = ({ data }: Listed) => data.map(({ address, way, outcome }) => `${address} ${way} ${outcome}`);

async function rowsOf(email: string): Promise<number> {
  const { rows } = await app.db.database.query<{ count: number }>('select count(*) from sign_in where email = $1', [
    email,
  ]);
  return rows[0]?.count ?? 0;
}

/** Rows as a flood of failures leaves them: the newest has the given age, the others are a second older each. */
async function insertFailures(count: number, of: { email: string; personId: string | null }, newestMs: number) {
  const idAt = (ms: number) => newId('sin', { nowMs: () => ms, steadyMs: () => 0 });
  const ids = Array.from({ length: count }, (_, i) => idAt(newestMs - 1000 * i));
  await app.db.database.query(
    `insert into sign_in (id, created_at, email, person_id, address, way, outcome, knew_password)
     select id, $4, $2, $3, '198.51.100.7', 'password', 'wrong_password', false from unnest($1::text[]) id`,
    [ids, of.email, of.personId, toTimestamp(newestMs)],
  );
}

describe('every sign-in is kept', () => {
  test('with its address, way and outcome; the person sees its own, page by page', async () => {
    const ada = await signUp(app);
    await signIn(ada.email.toUpperCase(), 'wrong', '203.0.113.9');
    await signIn(ada.email, ada.password, '2001:db8::1');
    const { code } = await setUpFactor(ada, app.clock);
    app.clock.advance(minuteMs);
    const { challenge } = (await signIn(ada.email, ada.password)).body;
    const complete = (given: string) =>
      send(app, 'POST', '/portal/v1/sessions/second-factor', { body: { challenge, code: given } });
    await complete('000000');
    assert.equal((await complete(code())).status, 201);
    const expected = [
      '127.0.0.1 code signed_in',
      '127.0.0.1 code wrong_code',
      '127.0.0.1 password code_needed',
      '2001:db8::1 password signed_in',
      '203.0.113.9 password wrong_password',
      '127.0.0.1 sign_up signed_in',
    ];
    assert.deepEqual(told(await listOf(ada)), expected);
    const first = await listOf(ada, '/portal/v1/me/sign-ins?limit=4');
    const second = await listOf(ada, `/portal/v1/me/sign-ins?limit=4&cursor=${first.next_cursor}`);
    assert.deepEqual([...told(first), ...told(second)], expected);
    assert.deepEqual(told(await listOf(await signUp(app))), ['127.0.0.1 sign_up signed_in'], 'and of no other');
  });

  test('links, invitations, waits and disabled accounts are kept', async () => {
    const ada = await signUp(app);
    const token = await app.app.people.createLink(ada.email);
    const reset = { body: { token, password: ada.password } };
    const used = await send(app, 'POST', '/portal/v1/password-resets', reset);
    assert.equal(used.status, 201);
    const cookie = used.headers.getSetCookie()[0]?.split(';')[0] ?? '';
    for (let i = 0; i < 4; i++) await signIn(ada.email, 'wrong', '203.0.113.10');
    const again = { ...ada, send: (method: string, path: string) => send(app, method, path, { headers: { cookie } }) };
    assert.deepEqual(told(await listOf(again as TestDeveloper)).slice(0, 5), [
      '203.0.113.10 password throttled',
      ...Array(3).fill('203.0.113.10 password wrong_password'),
      '127.0.0.1 link signed_in',
    ]);
    await app.db.database.query(
      `update account set disabled_at = now(), disabled_reason = 'unpaid'
       where id in (select account_id from member m join person p on p.id = m.person_id where p.email = $1)`,
      [ada.email],
    );
    assert.equal((await signIn(ada.email, ada.password)).status, 403);
    const path = `/portal/v1/operator/sign-ins?email=${encodeURIComponent(ada.email)}`;
    assert.equal((await listOf(operator, path)).data[0]?.outcome, 'account_disabled');
  });

  test('operators find them by e-mail and by address, those of made-up e-mails too; others find no such page', async () => {
    await signIn('made-up@example.com', 'wrong', '198.51.100.20');
    const found = await listOf(operator, '/portal/v1/operator/sign-ins?address=198.51.100.20');
    assert.deepEqual(
      found.data.map(({ email, person_id, outcome }) => [email, person_id, outcome]),
      [['made-up@example.com', null, 'wrong_password']],
    );
    const byEmail = await listOf(operator, '/portal/v1/operator/sign-ins?email=Made-Up@example.com');
    assert.equal(byEmail.data.length, 1);
    for (const wrong of ['email=x', 'email=%00', 'address=%00', `address=${'1'.repeat(65)}`, 'cursor=x', 'limit=0'])
      assert.equal((await operator.send('GET', `/portal/v1/operator/sign-ins?${wrong}`)).status, 400, wrong);
    assert.equal((await (await signUp(app)).send('GET', '/portal/v1/operator/sign-ins')).status, 404);
    assert.equal((await send(app, 'GET', '/portal/v1/me/sign-ins')).status, 401);
  });

  test('a person who is deleted takes them along', async () => {
    const ada = await signUp(app);
    await ada.send('POST', '/portal/v1/me/delete', { current_password: ada.password });
    assert.equal(await rowsOf(ada.email), 0);
  });
});

describe('a flood of failures', () => {
  test('leaves at most 200 rows of an e-mail, the same for one that no person has, and every successful sign-in', async () => {
    const ada = await signUp(app);
    await signIn(ada.email, ada.password, '203.0.113.30');
    const { body } = await ada.send<{ person_id: string }>('GET', '/portal/v1/me');
    for (const of of [
      { email: ada.email, personId: body.person_id },
      { email: 'nobody@example.com', personId: null },
    ]) {
      await insertFailures(mostSignInsPerEmail + 10, of, app.clock.nowMs() - hourMs);
      const before = of.personId === null ? 0 : 2;
      app.clock.advance(1000);
      await signIn(of.email, 'wrong', '203.0.113.31');
      assert.equal(await rowsOf(of.email), mostSignInsPerEmail + before);
    }
    const mine = await listOf(ada, '/portal/v1/me/sign-ins?limit=100');
    assert.equal(mine.data[0]?.outcome, 'wrong_password');
    const { rows } = await app.db.database.query<{ address: string }>(
      `select address from sign_in where email = $1 and outcome = 'signed_in' order by id`,
      [ada.email],
    );
    assert.deepEqual(
      rows.map(({ address }) => address),
      ['127.0.0.1', '203.0.113.30'],
    );
  });

  test('sign-ins that arrive together leave no more than that', async () => {
    const email = 'stormed@example.com';
    await insertFailures(mostSignInsPerEmail, { email, personId: null }, app.clock.nowMs() - hourMs);
    const storm = Array.from({ length: 12 }, (_, i) => signIn(email, 'wrong', `198.51.100.${100 + i}`));
    assert.ok((await Promise.all(storm)).every(({ status }) => status === 401));
    await signIn(email, 'wrong', '198.51.100.200');
    assert.equal(await rowsOf(email), mostSignInsPerEmail);
  });

  test('at made-up e-mails pushes out the oldest of these, and none of an account', async () => {
    const ada = await signUp(app);
    await app.db.database.query('delete from sign_in where person_id is null');
    await insertFailures(2500, { email: 'flood@example.com', personId: null }, app.clock.nowMs());
    const upkeep = createSignInUpkeep(app.db.database, app.clock, { unknown: 300, all: 1_000_000 });
    const pieces = [await upkeep.deleteUnknown(), await upkeep.deleteUnknown(), await upkeep.deleteUnknown()];
    assert.deepEqual(pieces, [pieceRows, pieceRows, 200]);
    assert.equal(await upkeep.deleteUnknown(), 0);
    assert.deepEqual([await rowsOf('flood@example.com'), await rowsOf(ada.email)], [300, 1]);
    const all = createSignInUpkeep(app.db.database, app.clock, { unknown: 300, all: 100 });
    while ((await all.deleteBeyond()) > 0);
    const { rows } = await app.db.database.query<{ count: number }>('select count(*) from sign_in');
    assert.equal(rows[0]?.count, 100);
  });

  test('is gone after 90 days, in small pieces', async () => {
    const ada = await signUp(app);
    app.clock.advance(90 * dayMs);
    await app.delivery.maintenance.runAll();
    assert.equal(await rowsOf(ada.email), 1);
    app.clock.advance(1);
    await app.delivery.maintenance.runAll();
    const { rows } = await app.db.database.query<{ count: number }>('select count(*) from sign_in');
    assert.equal(rows[0]?.count, 0);
  });
});

test('an e-mail that no person has leaves as many rows as one of a person, guess by guess', async () => {
  const ada = await signUp(app);
  const before = await rowsOf(ada.email);
  for (const email of [ada.email, 'unknown@example.com'])
    for (let i = 0; i < 6; i++) await signIn(email, 'wrong', '203.0.113.50');
  assert.equal((await rowsOf(ada.email)) - before, 6);
  assert.equal(await rowsOf('unknown@example.com'), 6);
});
