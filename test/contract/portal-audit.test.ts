// The audit log: every route of the portal that changes something writes who did what, in the transaction of the act.
import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { deleteOldEntries } from '../../src/accounts/audit/store.ts';
import { codeOf, stepAt } from '../../src/accounts/sign-in/totp.ts';
import { newId, uuidOf } from '../../src/platform/ids.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { createRegistered } from '../support/applications.ts';
import { fromBase32 } from '../support/base32.ts';
import { type Answer, asDeveloper, send, signUp, type TestDeveloper } from '../support/developer.ts';
import { createOperator } from '../support/operator.ts';

interface Entry {
  id: string;
  time: string;
  actor: { type: string; id: string | null; email: string | null };
  account_id: string | null;
  act: string;
  target: { type: string; id: string };
  details: Record<string, unknown>;
  address: string | null;
}
interface Page {
  data: Entry[];
  next_cursor: string | null;
}

/** Routes that change nothing of an account or the service, with the reason. */
const withoutEntry: Record<string, string> = {
  'POST /portal/v1/sessions': 'a session; the person sees it in the list of sessions',
  'POST /portal/v1/sessions/second-factor': 'a session too',
  'POST /portal/v1/sessions/link': 'a session too',
  'POST /portal/v1/sso/attempts': 'the way to a session',
  'POST /portal/v1/me/sso': 'counts from the callback on, which has an entry (test/sso/joining.test.ts)',
  'POST /portal/v1/me/sso/leave': 'the walk has no provider: test/sso/joining.test.ts finds its entry',
  'DELETE /portal/v1/sso/session': 'ends the own session',
  'POST /portal/v1/sessions/current': 'changes the account that one session acts for',
  'DELETE /portal/v1/sessions/current': 'ends the own session',
  'POST /portal/v1/me/second-factor': 'counts from its confirmation on, which has an entry',
  'POST /portal/v1/invitations/look': 'reads',
  'POST /portal/v1/password-resets/look': 'reads',
  'POST /portal/v1/operator/routes/explain': 'reads',
  'POST /portal/v1/operator/routes/effect': 'reads',
  'PUT /portal/v1/applications/{id}/opt-outs/{number}': 'an event, as by the API',
  'DELETE /portal/v1/applications/{id}/opt-outs/{number}': 'an event, as by the API',
  'POST /portal/v1/applications/{application_id}/try/verify/v1/verifications': 'a request in the traces',
  'POST /portal/v1/applications/{application_id}/try/verify/v1/verifications/{id}': 'a request in the traces',
  'POST /portal/v1/applications/{application_id}/try/sms/v1/messages': 'a request in the traces',
  'POST /portal/v1/applications/{application_id}/try/messaging/v1/messages': 'a request in the traces',
  'POST /portal/v1/applications/{id}/events/listening': 'a page that is open, like a read of the feed',
  'POST /portal/v1/applications/{id}/hooks/{hook_id}/test': 'sends a code; it is in the list of calls',
  'POST /portal/v1/applications/{id}/webhooks/{webhook_id}/test': 'sends a test; the webhook stays as it is',
  'POST /portal/v1/applications/{id}/webhooks/{webhook_id}/deliveries/{event_id}/replay':
    'is in the list of deliveries',
  'POST /portal/v1/applications/{id}/smpp-accounts/{account_id}/test': 'sends a test to its receivers',
  'POST /portal/v1/applications/{id}/webhooks/{webhook_id}/replay': 'is in the list of deliveries',
};

let app: TestApp;
let operator: TestDeveloper;
before(async () => {
  app = await createTestApp({ delivery: 'held' });
  operator = await createOperator(app);
});
after(() => app.close());

const log = async (query = '') => (await operator.send<Page>('GET', `/portal/v1/operator/audit${query}`)).body;
const newest = async (): Promise<Entry> => {
  const [entry] = (await log('?limit=1')).data;
  assert.ok(entry !== undefined, 'the log has an entry');
  return entry;
};

const seen = new Set<string>();
/** Calls a route, and finds its entry. */
async function does<Body = Record<string, unknown>>(
  who: TestDeveloper | undefined,
  name: string,
  expected: { act: string; params?: Record<string, string>; query?: string; body?: unknown },
): Promise<Answer<Body>> {
  const [method = '', template = ''] = name.split(' ');
  const path = template.replaceAll(/\{(\w+)\}/g, (_, key) => encodeURIComponent(expected.params?.[key] ?? ''));
  const before = await newest();
  const headers: Record<string, string> = who === undefined ? {} : { cookie: who.cookie };
  const answer = await send<Body>(app, method, path + (expected.query ?? ''), { body: expected.body, headers });
  assert.ok(answer.status < 300, `${name}: ${answer.status} ${JSON.stringify(answer.body)}`);
  const entry = await newest();
  assert.notEqual(entry.id, before.id, `${name} writes an entry`);
  assert.equal(entry.act, expected.act, name);
  assert.equal(entry.target.type, expected.act.split('.')[0]);
  assert.equal(entry.address, '127.0.0.1', name);
  assert.equal(entry.actor.type, template.startsWith('/portal/v1/operator/') ? 'operator' : 'member', name);
  if (who !== undefined) assert.equal(entry.actor.email, who.email, name);
  seen.add(name);
  return answer;
}

/** A text of an application that may be gone. */
async function storeText(applicationId: string): Promise<string> {
  const id = newId('msg', app.clock);
  await app.db.database.query(
    `insert into message (id, application_id, api, channel, recipient, sender, status, encoding, segment_count, characters,
       remaining, correlation_id, created_at, updated_at, expires_at, carrier)
     values ($1, $2, 0, 0, '+447700900123', 'ACME', 3, 0, 1, 5, 155, $2, now(), now(), now(), 'sandbox')`,
    [uuidOf(id), uuidOf(applicationId)],
  );
  return id;
}

const idOf = ({ body }: Answer) => String(body.id);

describe('every route that changes something has an entry', () => {
  test('applications, credentials, senders and webhooks', async () => {
    const ada = await signUp(app);
    const id = idOf(
      await does(ada, 'POST /portal/v1/applications', { act: 'application.created', body: { name: 'Logged' } }),
    );
    const own = '/portal/v1/applications/{id}';
    const params = { id };
    await does(ada, `PATCH ${own}`, { act: 'application.changed', params, body: { name: 'Named' } });
    const registration = { act: 'registration.created', params, body: { api: 'sms', plan: 'free' } };
    await does(ada, `POST ${own}/registrations`, registration);
    const again = { act: 'registration.plan_requested', params, body: { api: 'sms', plan: 'pro' } };
    await does(ada, `POST ${own}/registrations`, again);
    await does(ada, `POST ${own}/registrations`, { ...registration, body: { api: 'verify', plan: 'free' } });
    const key = await does(ada, `POST ${own}/keys`, { act: 'key.created', params, body: { overlap_seconds: 60 } });
    assert.equal((await newest()).target.id, key.body.id);
    await app.db.database.query('update api_key set suspended_at = now()');
    await does(ada, `POST ${own}/keys/{key_id}/enable`, { act: 'key.enabled', params: { id, key_id: idOf(key) } });
    await does(ada, `DELETE ${own}/keys/{key_id}`, { act: 'key.deleted', params: { id, key_id: idOf(key) } });
    const secret = { act: 'client_secret.created', params, body: {} };
    const made = await does(ada, `POST ${own}/client-secrets`, secret);
    await app.db.database.query('update client_secret set suspended_at = now()');
    const { body } = await ada.send<{ client: { secrets: { id: string }[] } }>('GET', `/portal/v1/applications/${id}`);
    const secretId = body.client.secrets[0]?.id ?? '';
    const enabled = { act: 'client_secret.enabled', params: { id, secret_id: secretId } };
    await does(ada, `POST ${own}/client-secrets/{secret_id}/enable`, enabled);
    await does(ada, `DELETE ${own}/client-secrets/{secret_id}`, { ...enabled, act: 'client_secret.deleted' });
    const { publicKey } = generateKeyPairSync('ed25519');
    const publicPem = publicKey.export({ type: 'spki', format: 'pem' });
    const toAdd = { act: 'client_key.added', params, body: { public_key: publicPem } };
    const key_id = idOf(await does(ada, `POST ${own}/client-keys`, toAdd));
    await app.db.database.query('update client_key set suspended_at = now()');
    const ofKey = { act: 'client_key.enabled', params: { id, key_id } };
    await does(ada, `POST ${own}/client-keys/{key_id}/enable`, ofKey);
    await does(ada, `DELETE ${own}/client-keys/{key_id}`, { ...ofKey, act: 'client_key.deleted' });
    await does(ada, `DELETE ${own}/registrations/{api}`, {
      act: 'registration.deleted',
      params: { id, api: 'verify' },
    });

    const asked = { act: 'sender.requested', params, body: { sender: 'ACME', countries: [] } };
    const senderId = idOf(await does(ada, `POST ${own}/senders`, asked));
    const decided = '/portal/v1/operator/senders/{id}';
    await does(operator, `POST ${decided}/approve`, { act: 'sender.approved', params: { id: senderId }, body: {} });
    const rejection = { act: 'sender.rejected', params: { id: senderId }, body: { reason: 'not yours' } };
    await does(operator, `POST ${decided}/reject`, rejection);
    const senderParams = { id, sender_id: senderId };
    await does(ada, `DELETE ${own}/senders/{sender_id}`, { act: 'sender.deleted', params: senderParams });

    const hold_id = 'hld_01jcq000000000000000000001';
    await app.db.database.query(
      `insert into guard_hold (id, application_id, scope, country, acts, numbers, approved, least_share, began_at, until)
       values ($1, $2, 'GB', 'GB', true, 30, 0, 0.1, '2026-01-01', '2100-01-01')`,
      [hold_id, id],
    );
    const ended = { act: 'hold.ended', params: { id, hold_id } };
    await does(ada, `POST ${own}/guard-holds/{hold_id}/end`, ended);

    const hook = { act: 'webhook.created', params, body: { url: 'http://127.0.0.1:9/secret-path' } };
    const webhook = await does(ada, `POST ${own}/webhooks`, hook);
    const hookParams = { id, webhook_id: idOf(webhook) };
    const path = `${own}/webhooks/{webhook_id}`;
    await does(ada, `PATCH ${path}`, { act: 'webhook.changed', params: hookParams, body: { status: 'paused' } });
    await does(ada, `POST ${path}/secrets`, { act: 'webhook.secret_created', params: hookParams, body: {} });
    await does(ada, `DELETE ${path}`, { act: 'webhook.deleted', params: hookParams });
    const created = { act: 'hook.created', params, body: { kind: 'logto' } };
    const server = await does(ada, `POST ${own}/hooks`, created);
    const serverParams = { id, hook_id: idOf(server) };
    const hooks = `${own}/hooks/{hook_id}`;
    await does(ada, `PATCH ${hooks}`, { act: 'hook.changed', params: serverParams, body: { locale: 'de' } });
    await does(ada, `POST ${hooks}/secrets`, { act: 'hook.secret_created', params: serverParams, body: {} });
    await does(ada, `DELETE ${hooks}`, { act: 'hook.deleted', params: serverParams });
    await does(ada, `POST ${own}/twilio`, { act: 'twilio.created', params });
    const rotation = { act: 'twilio.token_created', params, body: { overlap_seconds: 60 } };
    const token = await does<{ auth_token: string }>(ada, `POST ${own}/twilio/tokens`, rotation);
    await does(ada, `DELETE ${own}/twilio`, { act: 'twilio.deleted', params });
    const bank = { act: 'smpp_account.created', params, body: { binds: 2, addresses: [] } };
    const account = await does<{ id: string; password: string }>(ada, `POST ${own}/smpp-accounts`, bank);
    const accountParams = { id, account_id: account.body.id };
    const renewed = { act: 'smpp_account.password_created', params: accountParams, body: {} };
    await does(ada, `POST ${own}/smpp-accounts/{account_id}/passwords`, renewed);
    const bind_id = newId('bnd', app.clock);
    await app.db.database.query(
      `with l as (insert into smpp_listener (id, seen_at) values ($1, now()))
       insert into smpp_bind (id, listener_id, account_id, mode, address, tls, bound_at)
       values ($1, $1, $2, 0, '127.0.0.1', false, now())`,
      [uuidOf(bind_id), uuidOf(account.body.id)],
    );
    const cut = { act: 'smpp_bind.ended', params: { bind_id } };
    await does(operator, 'POST /portal/v1/operator/smpp-binds/{bind_id}/end', cut);
    await does(ada, `DELETE ${own}/smpp-accounts/{account_id}`, { act: 'smpp_account.deleted', params: accountParams });
    await does(ada, `DELETE ${own}`, { act: 'application.deleted', params });

    await does(operator, 'POST /portal/v1/operator/records/{id}/open', {
      act: 'message.opened',
      params: { id: await storeText(id) },
    });

    const everything = JSON.stringify((await log('?limit=100')).data);
    for (const shown of [
      key.body.api_key,
      token.body.auth_token,
      account.body.password,
      made.body.client_secret,
      webhook.body.secret,
      server.body.secret,
      'secret-path',
    ])
      assert.equal(everything.includes(String(shown)), false, 'no secret is in the log');
  });

  test('people and members', async () => {
    const password = 'a sentence that only I would think of';
    const credentials = { email: 'logged@example.com', password };
    const signed = await does(undefined, 'POST /portal/v1/accounts', { act: 'account.created', body: credentials });
    const owner = asDeveloper(app, credentials.email, password, signed);
    const accountId = String(signed.body.id);
    assert.equal((await newest()).account_id, accountId);
    const members = '/portal/v1/members';
    const invite = async (email: string) => {
      const body = { email, role: 'developer' };
      const made = await does<{ id: string; link: string }>(owner, `POST ${members}/invitations`, {
        ...{ act: 'invitation.created', body },
      });
      return { id: made.body.id, token: made.body.link.split('/').at(-1) ?? '' };
    };
    const { id: invitation_id } = await invite('nobody@example.com');
    const withdrawn = { act: 'invitation.withdrawn', params: { invitation_id } };
    await does(owner, `DELETE ${members}/invitations/{invitation_id}`, withdrawn);
    const { token } = await invite('joins@example.com');
    const joins = { act: 'member.joined', body: { token, password } };
    const joined = await does(undefined, 'POST /portal/v1/invitations/accept', joins);
    const entry = await newest();
    assert.deepEqual([entry.account_id, entry.actor.email], [accountId, 'joins@example.com']);
    const params = { person_id: String(joined.body.person_id) };
    const role = { act: 'member.role_changed', params, body: { role: 'viewer' } };
    await does(owner, `PATCH ${members}/{person_id}`, role);
    assert.deepEqual((await newest()).details, { email: 'joins@example.com', from: 'developer', to: 'viewer' });
    await does(owner, `DELETE ${members}/{person_id}`, { act: 'member.removed', params });
    const guest = await signUp(app);
    const second = await invite(guest.email);
    await does(guest, 'POST /portal/v1/me/invitations', { act: 'member.joined', body: { token: second.token } });
    await does(guest, 'POST /portal/v1/me/leave', { act: 'member.left' });

    const me = '/portal/v1/me';
    await does(owner, `DELETE ${me}/sessions`, { act: 'session.others_ended' });
    await send(app, 'POST', '/portal/v1/sessions', { body: credentials });
    const sessions = await owner.send<{ data: { id: string; current: boolean }[] }>('GET', `${me}/sessions`);
    const session_id = sessions.body.data.find(({ current }) => !current)?.id ?? '';
    await does(owner, `DELETE ${me}/sessions/{session_id}`, { act: 'session.ended', params: { session_id } });
    const begun = await owner.send<{ secret: string }>('POST', `${me}/second-factor`, { current_password: password });
    const codeNow = () => codeOf(fromBase32(begun.body.secret), stepAt(app.clock.nowMs()));
    const factor = `POST ${me}/second-factor`;
    await does(owner, `${factor}/confirm`, { act: 'second_factor.turned_on', body: { code: codeNow() } });
    app.clock.advance(30_000);
    const renewed = { act: 'second_factor.recovery_codes_renewed', body: { code: codeNow() } };
    await does(owner, `${factor}/recovery-codes`, renewed);
    app.clock.advance(30_000);
    const other = await owner.send<{ secret: string }>('POST', `${me}/second-factor`, {
      ...{ current_password: password, code: codeNow() },
    });
    const codeOfOther = () => codeOf(fromBase32(other.body.secret), stepAt(app.clock.nowMs()));
    await does(owner, `${factor}/confirm`, { act: 'second_factor.replaced', body: { code: codeOfOther() } });
    app.clock.advance(30_000);
    const off = { act: 'second_factor.turned_off', body: { current_password: password, code: codeOfOther() } };
    await does(owner, `${factor}/remove`, off);
    const next = 'another sentence that only I would think of';
    const changed = { act: 'password.changed', body: { current_password: password, password: next } };
    await does(owner, `POST ${me}/password`, changed);
    const link = await app.app.people.createLink(owner.email);
    const reset = { act: 'password.reset', body: { token: link, password } };
    const back = asDeveloper(
      app,
      owner.email,
      password,
      await does(undefined, 'POST /portal/v1/password-resets', reset),
    );
    const gone = { act: 'person.deleted', body: { current_password: password } };
    await does(back, `POST ${me}/delete`, gone);
    const last = await newest();
    assert.equal(last.actor.email, owner.email, 'the entry outlives the person');
    const everything = JSON.stringify((await log('?limit=100')).data);
    for (const shown of [begun.body.secret, link, token, password, next])
      assert.equal(everything.includes(String(shown)), false, 'no secret is in the log');
  });

  test('what operators do', async () => {
    const { developer, id, apiKey } = await createRegistered(app, ['sms']);
    const account = (await developer.send<{ id: string }>('GET', '/portal/v1/me')).body.id;
    const base = '/portal/v1/operator';
    const { body } = await developer.send<{ data: { id: string }[] }>(
      'GET',
      `/portal/v1/applications/${id}/registrations`,
    );
    const registration = { id: body.data[0]?.id ?? '' };
    for (const [word, act] of [
      ['reject', 'registration.rejected'],
      ['approve', 'registration.approved'],
    ] as const) {
      // The sandbox approves at once, so the registration is made to wait.
      await app.db.database.query(`update registration set status = 'pending' where id = $1`, [registration.id]);
      const given = word === 'reject' ? { body: { reason: 'The name is taken' } } : {};
      await does(operator, `POST ${base}/registrations/{id}/${word}`, { act, params: registration, ...given });
      assert.equal((await newest()).account_id, account);
    }
    const params = { id };
    const one = `${base}/applications/{id}`;
    for (const word of ['allow', 'deny'] as const) {
      const act = word === 'allow' ? 'application.high_priority_allowed' : 'application.high_priority_denied';
      await does(operator, `POST ${one}/${word}-high-priority`, { act, params });
    }
    const limited = { act: 'application.limit_changed', params, body: { segments_per_day: 5 } };
    await does(operator, `PATCH ${one}`, limited);
    const place = { id, country: 'IN' };
    const text = 'Your code is {{code}}';
    await does(operator, `PUT ${one}/templates/{country}`, { act: 'template.changed', params: place, body: { text } });
    await does(operator, `DELETE ${one}/templates/{country}`, { act: 'template.deleted', params: place });
    const plan = { act: 'plan.changed', params: { plan: 'free' }, body: { segments_per_day: 1000 } };
    await does(operator, `PATCH ${base}/plans/{plan}`, plan);
    const numbers = { version: 1, per_minute: 60, burst: 60, segments_per_day: 1000 };
    await does(operator, `PUT ${base}/plans/{plan}`, { ...plan, body: numbers });

    const number = { number: '+447700900123' };
    const given = { act: 'number.given', params: number, body: { application_id: id, api: 'sms' } };
    await does(operator, `PUT ${base}/numbers/{number}`, given);
    await does(operator, `DELETE ${base}/numbers/{number}`, { act: 'number.taken_back', params: number });
    const headers = { apikey: apiKey };
    const person = encodeURIComponent('+447700900456');
    assert.ok((await send(app, 'PUT', `/sms/v1/opt-outs/${person}`, { headers })).status < 300, 'opted out');
    const optedIn = { act: 'opt_out.deleted', params: { number: '+447700900456' }, query: '?reason=asked' };
    await does(operator, `DELETE ${base}/opt-outs/{number}`, optedIn);
    assert.equal(JSON.stringify(await newest()).includes('447700900456'), false, 'not the whole number');
    const hold = { id: 'hld_01jcq000000000000000000000' };
    await app.db.database.query(
      `insert into guard_hold (id, application_id, scope, country, acts, numbers, approved, least_share, began_at, until)
       values ($1, $2, 'GB', 'GB', true, 30, 0, 0.1, '2026-01-01', '2100-01-01')`,
      [hold.id, id],
    );
    await does(operator, `POST ${base}/guard-holds/{id}/end`, { act: 'hold.ended', params: hold });
  });

  test('accounts', async () => {
    const ada = await signUp(app);
    const { id, person_id } = (await ada.send<{ id: string; person_id: string }>('GET', '/portal/v1/me')).body;
    const base = '/portal/v1/operator/accounts/{id}';
    const params = { id };
    const link = { act: 'reset_link.created', params, body: { person_id } };
    const made = await does<{ link: string }>(operator, `POST ${base}/reset-link`, link);
    const token = made.body.link.split('/').at(-1) ?? '';
    assert.equal(JSON.stringify(await newest()).includes(token), false, 'no secret is in the log');
    await does(operator, `POST ${base}/disable`, { act: 'account.disabled', params, body: { reason: 'unpaid' } });
    await does(operator, `POST ${base}/enable`, { act: 'account.enabled', params });
    await does(operator, `POST ${base}/enable-credentials`, { act: 'account.credentials_enabled', params });
    assert.equal((await newest()).account_id, id);
  });

  test('carriers and routes', async () => {
    const base = '/portal/v1/operator/carriers';
    const params = { name: 'acme' };
    const settings = { preset: 'twilio', account_sid: 'AC1', auth_token: 'token-Zq7', base: 'http://127.0.0.1:9' };
    const body = { name: 'acme', kind: 'http', settings };
    await does(operator, `POST ${base}`, { act: 'carrier.created', body });
    const patch = { settings: { auth_token: 'token-Yr8' } };
    await does(operator, `PATCH ${base}/{name}`, { act: 'carrier.changed', params, body: patch });
    await does(operator, `POST ${base}/{name}/pause`, { act: 'carrier.paused', params });
    await does(operator, `POST ${base}/{name}/resume`, { act: 'carrier.resumed', params });
    await does(operator, `POST ${base}/{name}/try`, { act: 'carrier.tried', params });
    await does(operator, `POST ${base}/{name}/renew-callbacks`, { act: 'carrier.callbacks_renewed', params });
    const tested = { act: 'carrier.tested', params, body: { to: '+447700900123' } };
    await does(operator, `POST ${base}/{name}/test`, tested);
    const routes = { act: 'routes.replaced', body: { version: 0, routes: [] } };
    await does(operator, 'PUT /portal/v1/operator/routes', routes);
    await does(operator, `DELETE ${base}/{name}`, { act: 'carrier.deleted', params, query: '?force=true' });
    const everything = JSON.stringify((await log('?limit=100')).data);
    assert.equal(
      everything.includes('token-Zq7') || everything.includes('token-Yr8'),
      false,
      'no secret is in the log',
    );
  });

  test('no route is left out', () => {
    const unsafe = app.app.routes
      .filter(({ method, path }) => method !== 'GET' && path.startsWith('/portal/v1/'))
      .map(({ method, path }) => `${method} ${path}`);
    assert.deepEqual(new Set([...seen, ...Object.keys(withoutEntry)]), new Set(unsafe));
  });
});

describe('the log', () => {
  test('an act that is refused leaves no entry', async () => {
    const before = await newest();
    assert.equal((await operator.send('POST', '/portal/v1/operator/carriers/none/pause')).status, 404);
    assert.equal(
      (await operator.send('POST', '/portal/v1/operator/senders/snd_x/reject', { reason: 'x' })).status,
      404,
    );
    const ada = await signUp(app);
    assert.equal((await newest()).act, 'account.created');
    assert.equal((await ada.send('DELETE', '/portal/v1/applications/app_x')).status, 404);
    const entries = (await log()).data;
    assert.equal(entries[1]?.id, before.id);
  });

  test('an act whose entry cannot be written does not happen', async () => {
    const ada = await signUp(app);
    const { developer, id } = await createRegistered(app, ['sms'], 'free', ada);
    const { database } = app.db;
    await database.query(`create function refuse_entry() returns trigger language plpgsql as
      $$ begin raise exception 'no entry'; end $$`);
    await database.query(
      'create trigger refuse_entry before insert on audit for each row execute function refuse_entry()',
    );
    const base = `/portal/v1/applications/${id}`;
    const state = async () =>
      Promise.all(
        [
          '/portal/v1/applications',
          base,
          `${base}/keys`,
          `${base}/senders`,
          `${base}/webhooks`,
          '/portal/v1/members/invitations',
        ].map(async (path) => (await developer.send('GET', path)).body),
      );
    const before = await state();
    const plan = (await operator.send('GET', '/portal/v1/operator/plans/pro')).body;
    for (const [method, path, body] of [
      ['POST', '/portal/v1/applications', { name: 'never' }],
      ['PATCH', base, { name: 'never' }],
      ['POST', `${base}/keys`, {}],
      ['POST', `${base}/registrations`, { api: 'verify', plan: 'free' }],
      ['POST', `${base}/senders`, { sender: 'NEVER', countries: [] }],
      ['POST', `${base}/webhooks`, { url: 'http://127.0.0.1:9/' }],
      ['POST', '/portal/v1/members/invitations', { email: 'never@example.com', role: 'viewer' }],
    ] as const)
      assert.equal((await developer.send(method, path, body)).status, 500, path);
    assert.equal((await operator.send('PATCH', '/portal/v1/operator/plans/pro', { burst: 3 })).status, 500);
    const { id: account } = (await developer.send<{ id: string }>('GET', '/portal/v1/me')).body;
    const disable = `/portal/v1/operator/accounts/${account}/disable`;
    assert.equal((await operator.send('POST', disable, { reason: 'never' })).status, 500);
    await database.query('drop trigger refuse_entry on audit');
    assert.deepEqual(await state(), before);
    assert.deepEqual((await operator.send('GET', '/portal/v1/operator/plans/pro')).body, plan);
  });

  test('it is append-only: no statement changes or deletes an entry but the upkeep of old ones', async () => {
    const { database } = app.db;
    for (const statement of [`update audit set act = 'x.y'`, 'delete from audit', 'truncate audit'])
      await assert.rejects(database.query(statement), /append-only/);
    const count = async () => (await database.query<{ n: number }>('select count(*) as n from audit')).rows[0]?.n ?? 0;
    assert.ok((await count()) > 10, 'the entries are there');
  });

  test('filters and pages', async () => {
    const ada = await signUp(app);
    for (const name of ['one', 'two', 'three']) await ada.send('POST', '/portal/v1/applications', { name });
    const query = `actor=${encodeURIComponent(ada.email)}&act=application.created`;
    const first = await log(`?${query}&limit=2`);
    assert.deepEqual(
      first.data.map(({ details }) => details.name),
      ['three', 'two'],
    );
    const second = await log(`?${query}&limit=2&cursor=${first.next_cursor}`);
    assert.deepEqual(
      second.data.map(({ details }) => details.name),
      ['one'],
    );
    assert.equal(second.next_cursor, null);
    const [entry] = first.data;
    assert.equal((await log(`?target=${entry?.target.id}`)).data.length, 1);
    app.clock.advance(1000);
    const now = new Date(app.clock.nowMs()).toISOString();
    assert.equal((await log(`?${query}&from=${now}`)).data.length, 0);
    assert.equal((await log(`?${query}&to=${now}`)).data.length, 3);
    for (const wrong of ['from=yesterday', 'to=x', 'limit=0', 'cursor=x', `act=${'x'.repeat(257)}`, 'act=%00'])
      assert.equal((await operator.send('GET', `/portal/v1/operator/audit?${wrong}`)).status, 400, wrong);
  });

  test('owners see the log of their account, without who the operator is; other members get 403', async () => {
    const { developer, id } = await createRegistered(app, ['sms']);
    const { body } = await developer.send<{ data: { id: string }[] }>(
      'GET',
      `/portal/v1/applications/${id}/registrations`,
    );
    await app.db.database.query(`update registration set status = 'pending' where application_id = $1`, [id]);
    await operator.send('POST', `/portal/v1/operator/registrations/${body.data[0]?.id}/approve`);
    const own = await developer.send<Page>('GET', '/portal/v1/audit');
    assert.deepEqual(
      own.body.data.map(({ act, actor, address }) => [act, actor.type, actor.email, address]),
      [
        ['registration.approved', 'operator', null, null],
        ['registration.created', 'member', developer.email, '127.0.0.1'],
        ['application.created', 'member', developer.email, '127.0.0.1'],
        ['account.created', 'member', developer.email, '127.0.0.1'],
      ],
    );
    const guest = await signUp(app);
    const invited = await developer.send<{ link: string }>('POST', '/portal/v1/members/invitations', {
      email: guest.email,
      role: 'developer',
    });
    await guest.send('POST', '/portal/v1/me/invitations', { token: invited.body.link.split('/').at(-1) });
    assert.equal((await guest.send('GET', '/portal/v1/audit')).status, 403);
    assert.equal((await guest.send('GET', '/portal/v1/operator/audit')).status, 404);
  });
});

test('upkeep removes what is too old, piece by piece, and nothing else', async () => {
  const { database } = app.db;
  const before = (await log('?limit=100')).data;
  const middle = before[20]?.id ?? '';
  assert.ok((await deleteOldEntries(database, middle)) > 0, 'the old ones go');
  assert.equal(await deleteOldEntries(database, middle), 0);
  assert.deepEqual((await log('?limit=100')).data, before.slice(0, 21));
  await assert.rejects(database.query('delete from audit'), /append-only/);
});
