// Members of an account with roles (owner, developer, viewer), invited by a one-time link. A role's refusal is 403; a viewer
// can change nothing.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Route } from '../../src/http/route.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { asDeveloper, createApplication, register, send, signUp, type TestDeveloper } from '../support/developer.ts';

const password = 'a sentence that only I would think of';
let app: TestApp;
before(async () => {
  app = await createTestApp({ delivery: 'held' });
});
after(() => app.close());

interface Me {
  id: string;
  email: string;
  person_id: string;
  role: string;
  accounts: { id: string; name: string; role: string }[];
}

const me = async (person: TestDeveloper) => (await person.send<Me>('GET', '/portal/v1/me')).body;

async function invite(owner: TestDeveloper, email: string, role: string): Promise<string> {
  const { status, body } = await owner.send<{ link: string }>('POST', '/portal/v1/members/invitations', {
    email,
    role,
  });
  assert.equal(status, 201, JSON.stringify(body));
  return body.link.split('/').at(-1) ?? '';
}

let count = 0;
/** A new person who joins the owner's account. */
async function join(owner: TestDeveloper, role: string): Promise<TestDeveloper> {
  const email = `member-${++count}@example.com`;
  const token = await invite(owner, email, role);
  const answer = await send(app, 'POST', '/portal/v1/invitations/accept', { body: { token, password } });
  assert.equal(answer.status, 201, JSON.stringify(answer.body));
  return asDeveloper(app, email, password, answer);
}

describe('invitations', () => {
  test('a new person sets a password by the link and is a member; the link works once', async () => {
    const owner = await signUp(app);
    const token = await invite(owner, 'New@Example.com', 'developer');
    const look = await send(app, 'POST', '/portal/v1/invitations/look', { body: { token } });
    assert.deepEqual(look.body, {
      email: 'new@example.com',
      role: 'developer',
      account_name: owner.email,
      sign_in_first: false,
    });
    const accept = () => send(app, 'POST', '/portal/v1/invitations/accept', { body: { token, password } });
    const answers = await Promise.all([accept(), accept(), accept()]);
    // A link that was used is 400; a person who is there already is 409.
    assert.equal(answers.filter(({ status }) => status === 201).length, 1);
    assert.ok(
      answers.every(({ status }) => [201, 400, 409].includes(status)),
      JSON.stringify(answers.map(({ status }) => status)),
    );
    assert.equal((await accept()).status, 400);
    const person = asDeveloper(app, 'new@example.com', password, answers.find(({ status }) => status === 201) ?? look);
    const mine = await me(person);
    assert.equal(mine.role, 'developer');
    assert.equal(mine.id, (await me(owner)).id);
    const { body } = await owner.send<{ data: { email: string; role: string }[] }>('GET', '/portal/v1/members');
    assert.deepEqual(
      body.data.map(({ email, role }) => [email, role]),
      [
        [owner.email, 'owner'],
        ['new@example.com', 'developer'],
      ],
    );
  });

  test('a person who has a password signs in, accepts, and acts for that account; both accounts are there', async () => {
    const owner = await signUp(app);
    const guest = await signUp(app);
    const own = await me(guest);
    const token = await invite(owner, guest.email, 'viewer');
    assert.equal(
      (await send(app, 'POST', '/portal/v1/invitations/look', { body: { token } })).body.sign_in_first,
      true,
    );
    const asNew = await send(app, 'POST', '/portal/v1/invitations/accept', { body: { token, password } });
    assert.equal(asNew.status, 409);
    const stranger = await signUp(app);
    assert.equal((await stranger.send('POST', '/portal/v1/me/invitations', { token })).status, 403);
    assert.equal((await guest.send('POST', '/portal/v1/me/invitations', { token })).status, 204);
    const there = await me(guest);
    assert.equal(there.id, (await me(owner)).id);
    assert.equal(there.role, 'viewer');
    assert.equal(there.accounts.length, 2);

    const again = await send(app, 'POST', '/portal/v1/sessions', { body: { email: guest.email, password } });
    assert.equal(again.body.id, there.id, 'the next session acts for the account used last');
    assert.equal((await guest.send('POST', '/portal/v1/sessions/current', { account_id: own.id })).status, 204);
    assert.equal((await me(guest)).role, 'owner');
    const foreign = (await me(stranger)).id;
    assert.equal((await guest.send('POST', '/portal/v1/sessions/current', { account_id: foreign })).status, 404);
  });

  test('an invitation expires after 7 days, can be withdrawn, and is replaced by a newer one of the same email', async () => {
    const owner = await signUp(app);
    const look = async (token: string) =>
      (await send(app, 'POST', '/portal/v1/invitations/look', { body: { token } })).status;
    const first = await invite(owner, 'late@example.com', 'viewer');
    const second = await invite(owner, 'late@example.com', 'developer');
    assert.deepEqual([await look(first), await look(second)], [400, 200]);
    const { body } = await owner.send<{ data: { id: string }[] }>('GET', '/portal/v1/members/invitations');
    assert.equal(body.data.length, 1);
    const path = `/portal/v1/members/invitations/${body.data[0]?.id}`;
    assert.equal((await (await signUp(app)).send('DELETE', path)).status, 404, 'of another account');
    assert.equal((await owner.send('DELETE', path)).status, 204);
    assert.equal((await owner.send('DELETE', path)).status, 404);
    assert.equal(await look(second), 400);
    const third = await invite(owner, 'late@example.com', 'viewer');
    app.clock.advance(7 * 86_400_000 - 1000);
    assert.equal(await look(third), 200);
    app.clock.advance(2000);
    assert.equal(await look(third), 400);
  });

  test('409 for a member, and for the 51st; 400 names the field', async () => {
    const owner = await signUp(app);
    const again = await owner.send('POST', '/portal/v1/members/invitations', { email: owner.email, role: 'viewer' });
    assert.equal(again.body.code, 'ALREADY_EXISTS');
    for (let i = 1; i < 50; i++) await invite(owner, `many-${i}@example.com`, 'viewer');
    await invite(owner, 'many-1@example.com', 'owner');
    const full = await owner.send('POST', '/portal/v1/members/invitations', { email: 'x@example.com', role: 'viewer' });
    assert.equal(full.body.code, 'INCOMPATIBLE_STATE');
    for (const body of [{ email: 'x', role: 'viewer' }, { email: 'x@example.com', role: 'admin' }, {}])
      assert.equal((await owner.send('POST', '/portal/v1/members/invitations', body)).status, 400);
    for (const token of ['', 'x', 'A'.repeat(43), '\u0000'.repeat(43)])
      assert.equal((await send(app, 'POST', '/portal/v1/invitations/look', { body: { token } })).status, 400);
  });
});

describe('roles', () => {
  test('a change of role and a removal act at once, also on a session that is open', async () => {
    const owner = await signUp(app);
    const member = await join(owner, 'developer');
    const { person_id: id } = await me(member);
    await createApplication(member);
    const path = `/portal/v1/members/${id}`;
    assert.equal((await owner.send('PATCH', path, { role: 'viewer' })).status, 200);
    const refused = await member.send('POST', '/portal/v1/applications', { name: 'no' });
    assert.equal(refused.status, 403);
    assert.match(String(refused.body.message), /viewer.*developer/);
    assert.equal((await member.send('GET', '/portal/v1/applications')).status, 200);
    assert.equal((await owner.send('DELETE', path)).status, 204);
    assert.equal((await member.send('GET', '/portal/v1/applications')).status, 401);
    const back = await send(app, 'POST', '/portal/v1/sessions', { body: { email: member.email, password } });
    assert.equal(back.body.role, 'owner', 'the person gets an account of its own');
    assert.notEqual(back.body.id, (await me(owner)).id);
  });

  test('developers and viewers can neither invite, change roles, nor remove; the members of others are not there', async () => {
    const owner = await signUp(app);
    const { person_id: ownerId } = await me(owner);
    for (const role of ['developer', 'viewer']) {
      const member = await join(owner, role);
      const invitation = { email: 'x@example.com', role: 'owner' };
      assert.equal((await member.send('POST', '/portal/v1/members/invitations', invitation)).status, 403);
      assert.equal((await member.send('PATCH', `/portal/v1/members/${ownerId}`, { role: 'viewer' })).status, 403);
      assert.equal((await member.send('DELETE', `/portal/v1/members/${ownerId}`)).status, 403);
    }
    for (const id of ['x', '%00', `per_${'%00'.repeat(26)}`]) {
      assert.equal((await owner.send('PATCH', `/portal/v1/members/${id}`, { role: 'viewer' })).status, 404, id);
      assert.equal((await owner.send('DELETE', `/portal/v1/members/${id}`)).status, 404, id);
      assert.equal((await owner.send('DELETE', `/portal/v1/members/invitations/${id}`)).status, 404, id);
    }
    const stranger = await signUp(app);
    assert.equal((await stranger.send('PATCH', `/portal/v1/members/${ownerId}`, { role: 'viewer' })).status, 404);
    assert.equal((await stranger.send('DELETE', `/portal/v1/members/${ownerId}`)).status, 404);
  });

  test('an account keeps an owner, also when two owners remove one another at the same moment', async () => {
    const owner = await signUp(app);
    const { person_id: id, id: accountId } = await me(owner);
    assert.equal((await owner.send('PATCH', `/portal/v1/members/${id}`, { role: 'viewer' })).status, 409);
    assert.equal((await owner.send('POST', '/portal/v1/me/leave')).status, 409);
    for (let round = 0; round < 5; round++) {
      const other = await join(owner, 'owner');
      const { person_id: otherId } = await me(other);
      const answers = await Promise.all([
        owner.send('PATCH', `/portal/v1/members/${otherId}`, { role: 'viewer' }),
        other.send('PATCH', `/portal/v1/members/${id}`, { role: 'viewer' }),
        owner.send('POST', '/portal/v1/me/leave'),
        other.send('POST', '/portal/v1/me/leave'),
      ]);
      const { rows } = await app.db.database.query<{ owners: number }>(
        `select count(*) as owners from member where account_id = $1 and role = 'owner'`,
        [accountId],
      );
      assert.equal(rows[0]?.owners, 1, JSON.stringify(answers.map(({ status }) => status)));
      await app.db.database.query('delete from member where account_id = $1', [accountId]);
      await app.db.database.query(`insert into member values ($1, $2, 'owner', now())`, [accountId, id]);
      const again = await send(app, 'POST', '/portal/v1/sessions', { body: { email: owner.email, password } });
      owner.send = asDeveloper(app, owner.email, password, again).send;
    }
  });

  test('every member can leave, a viewer too; the last owner cannot', async () => {
    const owner = await signUp(app);
    for (const role of ['viewer', 'developer', 'owner']) {
      const member = await join(owner, role);
      assert.equal((await member.send('POST', '/portal/v1/me/leave')).status, 204, role);
      assert.equal((await member.send('GET', '/portal/v1/me')).status, 401);
    }
    assert.equal((await owner.send('POST', '/portal/v1/me/leave')).status, 409);
    const { body } = await owner.send<{ data: unknown[] }>('GET', '/portal/v1/members');
    assert.equal(body.data.length, 1);
  });

  test('a viewer is refused by every call that changes something, and changes nothing', async () => {
    const owner = await signUp(app);
    const id = await createApplication(owner);
    await register(owner, id, 'sms', 'free');
    const viewer = await join(owner, 'viewer');
    const kindsOf = ({ auth }: Pick<Route, 'auth'>) => [auth].flat().map(({ kind }) => kind);
    const unsafe = app.app.routes.filter(
      (route) =>
        route.method !== 'GET' && (route.path.startsWith('/portal/v1/') || kindsOf(route).includes('developer')),
    );
    // What people do with their own sign-in, and visitors without one, has nothing to do with a role.
    const own = unsafe.filter((route) => kindsOf(route).every((kind) => kind === 'person' || kind === 'visitor'));
    for (const { path } of own) assert.match(path, /^\/portal\/v1\/(accounts|sessions|sso|invitations|me|password)\b/);
    const refused = unsafe.filter((route) => !own.includes(route) && route.path !== '/portal/v1/me/leave');
    assert.ok(refused.length > 50, `${refused.length} routes`);
    const stateOf = async () => JSON.stringify((await owner.send('GET', `/portal/v1/applications/${id}`)).body);
    const before = await stateOf();
    for (const route of refused) {
      const { method, path } = route;
      const named = path.replace('{id}', id).replaceAll(/\{[^}]+\}/g, 'x');
      const answer = await viewer.send(method, named, method === 'DELETE' ? undefined : {});
      // What operators do is not there for others.
      assert.equal(answer.status, kindsOf(route).includes('operator') ? 404 : 403, `${method} ${path}`);
    }
    assert.equal(await stateOf(), before);
  });
});
