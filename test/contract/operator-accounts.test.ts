// Accounts for operators: search, disable with a reason, enable, reset link. What is disabled is dead on every node at once.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createTestApp, type TestApp } from '../support/app.ts';
import { askForToken, bearer, createRegistered, getToken } from '../support/applications.ts';
import { createApplication, send, signUp, type TestDeveloper } from '../support/developer.ts';
import { createOperator } from '../support/operator.ts';

let app: TestApp;
/** Another node on the same database. */
let other: TestApp;
let operator: TestDeveloper;
before(async () => {
  app = await createTestApp({ delivery: 'held' });
  other = await createTestApp({ delivery: 'held', db: app.db, clock: app.clock });
  operator = await createOperator(app);
});
after(async () => {
  await other.close();
  await app.close();
});

const path = '/portal/v1/operator/accounts';
interface Account {
  id: string;
  name: string;
  owner_email: string;
  members: number;
  applications: number;
  disabled_at: string | null;
  disabled_reason: string | null;
}
const meOf = async (person: TestDeveloper) =>
  (await person.send<{ id: string; person_id: string }>('GET', '/portal/v1/me')).body;

describe('disable and enable', () => {
  test('keys, tokens and sessions are refused on every node when it is answered, and work again when it is enabled', async () => {
    const { developer, apiKey, client } = await createRegistered(app);
    const neighbour = await createRegistered(app, ['sms']);
    const { id } = await meOf(developer);
    const token = bearer(await getToken(app, client, 'messaging:send'));
    const signIn = (node: TestApp) =>
      send(node, 'POST', '/portal/v1/sessions', { body: { email: developer.email, password: developer.password } });
    const statuses = async (node: TestApp, cookie: string) =>
      Promise.all(
        [
          send(node, 'GET', '/sms/v1/messages', { headers: { apikey: apiKey } }),
          send(node, 'GET', '/messaging/v1/messages', { headers: token }),
          send(node, 'GET', '/portal/v1/applications', { headers: { cookie } }),
          send(node, 'GET', '/sms/v1/messages', { headers: { apikey: neighbour.apiKey } }),
        ].map(async (answer) => (await answer).status),
      );
    for (const node of [app, other]) assert.deepEqual(await statuses(node, developer.cookie), [200, 200, 200, 200]);

    const disabled = await operator.send<Account>('POST', `${path}/${id}/disable`, { reason: 'The bill is unpaid' });
    assert.equal(disabled.status, 200);
    assert.equal(disabled.body.disabled_reason, 'The bill is unpaid');
    for (const node of [other, app]) {
      assert.deepEqual(await statuses(node, developer.cookie), [401, 401, 401, 200]);
      const refused = await signIn(node);
      assert.equal(refused.status, 403);
      assert.match(String(refused.body.message), /The bill is unpaid/);
      assert.equal((await askForToken(node, client, 'messaging:send')).status, 401);
    }
    assert.equal((await operator.send('POST', `${path}/${id}/disable`, { reason: 'again' })).status, 409);

    assert.equal((await operator.send<Account>('POST', `${path}/${id}/enable`)).body.disabled_at, null);
    assert.equal((await operator.send('POST', `${path}/${id}/enable`)).status, 409);
    const back = await signIn(other);
    assert.equal(back.status, 201);
    const cookie = back.headers.getSetCookie()[0]?.split(';')[0] ?? '';
    for (const node of [other, app]) assert.deepEqual(await statuses(node, cookie), [200, 200, 200, 200]);
    assert.equal((await developer.send('GET', '/portal/v1/me')).status, 401, 'the old session is gone');
  });

  test('a member of another account signs in there, and cannot switch to the disabled one', async () => {
    const owner = await signUp(app);
    const guest = await signUp(app);
    const invited = await owner.send<{ link: string }>('POST', '/portal/v1/members/invitations', {
      ...{ email: guest.email, role: 'owner' },
    });
    const { id: own } = await meOf(guest);
    await guest.send('POST', '/portal/v1/me/invitations', { token: invited.body.link.split('/').at(-1) });
    const { id } = await meOf(owner);
    assert.equal((await operator.send('POST', `${path}/${id}/disable`, { reason: 'abuse' })).status, 200);
    const { email, password } = guest;
    const again = await send(app, 'POST', '/portal/v1/sessions', { body: { email, password } });
    assert.deepEqual([again.status, again.body.id], [201, own]);
    const cookie = again.headers.getSetCookie()[0]?.split(';')[0] ?? '';
    const switched = await send(app, 'POST', '/portal/v1/sessions/current', {
      body: { account_id: id },
      headers: { cookie },
    });
    assert.equal(switched.status, 403);
  });

  test('refusals: the own account, an unknown one, no reason, other callers', async () => {
    const { id } = await meOf(operator);
    assert.equal((await operator.send('POST', `${path}/${id}/disable`, { reason: 'oops' })).status, 409);
    for (const unknown of ['acc_x', 'acc_01jcq000000000000000000000', '%00']) {
      assert.equal((await operator.send('POST', `${path}/${unknown}/disable`, { reason: 'x' })).status, 404);
      assert.equal((await operator.send('POST', `${path}/${unknown}/enable`)).status, 404);
      assert.equal((await operator.send('GET', `${path}/${unknown}`)).status, 404);
    }
    const ada = await signUp(app);
    const { id: hers } = await meOf(ada);
    for (const body of [{}, { reason: '' }, { reason: ' ' }, { reason: 'x'.repeat(501) }])
      assert.equal((await operator.send('POST', `${path}/${hers}/disable`, body)).status, 400);
    for (const [method, below] of [
      ['GET', ''],
      ['GET', `/${hers}`],
      ['POST', `/${hers}/disable`],
      ['POST', `/${hers}/enable`],
      ['POST', `/${hers}/reset-link`],
    ] as const)
      assert.equal((await ada.send(method, `${path}${below}`)).status, 404);
  });
});

describe('search', () => {
  const find = async (query: string) =>
    (await operator.send<{ data: Account[]; next_cursor: string | null }>('GET', `${path}?${query}`)).body;

  test('by id, by a part of an e-mail in any case, page by page; % is a character like others', async () => {
    const [one, two] = [await signUp(app), await signUp(app)];
    await createApplication(one);
    const { id } = await meOf(one);
    const [found] = (await find(`search=${id}`)).data;
    assert.deepEqual(
      [found?.owner_email, found?.members, found?.applications, found?.disabled_at],
      [one.email, 1, 1, null],
    );
    assert.equal((await find(`search=${encodeURIComponent(two.email.toUpperCase())}`)).data[0]?.name, two.email);
    const part = one.email.slice(0, -'@example.com'.length);
    assert.ok(
      (await find(`search=${part}`)).data.some((each) => each.id === id),
      'a part is enough',
    );
    const first = await find('search=@EXAMPLE.com&limit=1');
    const second = await find(`search=@EXAMPLE.com&limit=1&cursor=${first.next_cursor}`);
    assert.notEqual(first.data[0]?.id, second.data[0]?.id);
    for (const none of ['%25', '_______', '%5C', 'no such account'])
      assert.deepEqual((await find(`search=${none}`)).data, []);
    assert.ok((await find('limit=100')).data.length >= 5, 'all accounts');
    for (const wrong of ['search=%00', `search=${'x'.repeat(257)}`, 'cursor=x'])
      assert.equal((await operator.send('GET', `${path}?${wrong}`)).status, 400, wrong);
  });
});

describe('all applications', () => {
  test('by id, name, account and e-mail, with their traffic of today', async () => {
    const { developer, id, apiKey } = await createRegistered(app, ['sms']);
    await developer.send('PATCH', `/portal/v1/applications/${id}`, { name: 'Zephyr 100%' });
    for (let i = 0; i < 3; i++) await send(app, 'GET', '/sms/v1/messages', { headers: { apikey: apiKey } });
    const { id: account } = await meOf(developer);
    const find = async (search: string) =>
      (
        await operator.send<{ data: { id: string; name: string; today: { admitted: number } }[] }>(
          'GET',
          `/portal/v1/operator/applications?search=${encodeURIComponent(search)}`,
        )
      ).body.data;
    for (const search of [id, 'zephyr', '100%', account, developer.email.slice(0, -3)]) {
      const [found, ...others] = await find(search);
      assert.deepEqual(others, [], search);
      assert.deepEqual(found, {
        id,
        name: 'Zephyr 100%',
        account_id: account,
        account_email: developer.email,
        created_at: (found as { created_at?: string })?.created_at,
        registrations: [{ api: 'sms', plan: 'free', status: 'approved' }],
        today: { admitted: 3, refused: 0, sent: 0, delivered: 0, failed: 0 },
      });
    }
    assert.deepEqual(await find('zephyr_'), []);
    assert.ok((await find('')).length > 2, 'all of them');
    assert.equal((await developer.send('GET', '/portal/v1/operator/applications')).status, 404);
  });
});

describe('reset link', () => {
  test('it is shown once, sets a new password, and ends the sessions', async () => {
    const ada = await signUp(app);
    const { id, person_id } = await meOf(ada);
    const detail = await operator.send<{ people: { id: string; email: string; role: string }[] }>(
      'GET',
      `${path}/${id}`,
    );
    assert.deepEqual(
      detail.body.people.map(({ email, role }) => [email, role]),
      [[ada.email, 'owner']],
    );
    const made = await operator.send<{ link: string; email: string }>('POST', `${path}/${id}/reset-link`, {
      person_id,
    });
    assert.equal(made.status, 201);
    assert.equal(made.body.email, ada.email);
    const token = made.body.link.split('/').at(-1);
    const password = 'a sentence that is quite new to me';
    const reset = () => send(app, 'POST', '/portal/v1/password-resets', { body: { token, password } });
    assert.equal((await reset()).status, 201);
    assert.equal((await reset()).status, 400);
    assert.equal((await ada.send('GET', '/portal/v1/me')).status, 401);
    const stranger = await meOf(await signUp(app));
    const wrong = await operator.send('POST', `${path}/${id}/reset-link`, { person_id: stranger.person_id });
    assert.equal(wrong.status, 400);
  });
});
