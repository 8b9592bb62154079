import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createTestApp, type TestApp } from '../support/app.ts';
import { bearer, getToken } from '../support/applications.ts';
import { createApplication, register, send, signUp, type TestDeveloper } from '../support/developer.ts';

let app: TestApp;
let ada: TestDeveloper;
let eve: TestDeveloper;
before(async () => {
  app = await createTestApp();
  ada = await signUp(app);
  eve = await signUp(app);
});
after(() => app.close());

const path = (id: string, rest = '') => `/portal/v1/applications/${id}${rest}`;

/** A busy machine answers some of many together with 503 and Retry-After: they changed nothing, and are sent again. */
async function insist<Answer extends { status: number }>(send: () => Promise<Answer>): Promise<Answer> {
  for (let tries = 0; tries < 100; tries++) {
    const answer = await send();
    if (answer.status !== 503) return answer;
    await new Promise((done) => setTimeout(done, 100));
  }
  return assert.fail('100 times 503');
}

describe('applications', () => {
  test('POST 201 with Location, GET 200, PATCH 200, DELETE 204, then 404', async () => {
    const made = await ada.send<{ id: string; name: string }>('POST', '/portal/v1/applications', { name: 'ACME' });
    assert.equal(made.status, 201);
    assert.equal(made.headers.get('location'), path(made.body.id));
    assert.match(made.body.id, /^app_[0-9a-z]{26}$/);
    const read = await ada.send('GET', path(made.body.id));
    assert.equal(read.status, 200);
    assert.deepEqual(read.body, { ...made.body, registrations: [], client: null });
    const renamed = await ada.send('PATCH', path(made.body.id), { name: 'ACME 2' });
    assert.equal(renamed.status, 200);
    assert.equal(renamed.body.name, 'ACME 2');
    assert.equal((await ada.send('DELETE', path(made.body.id))).status, 204);
    assert.equal((await ada.send('GET', path(made.body.id))).status, 404);
    assert.equal((await ada.send('DELETE', path(made.body.id))).status, 404);
  });

  test('400 for a name that is missing, empty, blank, too long or not a string', async () => {
    for (const body of [{}, { name: '' }, { name: '  ' }, { name: 'x'.repeat(65) }, { name: 7 }, { name: 'a\nb' }]) {
      const { status, body: error } = await ada.send('POST', '/portal/v1/applications', body);
      assert.equal(status, 400);
      assert.equal((error.details as { field: string }[])[0]?.field, 'name');
    }
  });

  test('409 INCOMPATIBLE_STATE: an account has at most 100, exactly, also when many are made together', async () => {
    const owner = await signUp(app);
    const create = () =>
      owner.send<{ id: string; code: string; message: string }>('POST', '/portal/v1/applications', { name: 'ACME' });
    const answers = await Promise.all(Array.from({ length: 120 }, () => insist(create)));
    const made = answers.filter(({ status }) => status === 201);
    const refused = answers.filter(({ status }) => status === 409);
    assert.deepEqual([made.length, refused.length], [100, 20]);
    assert.equal(refused[0]?.body.code, 'INCOMPATIBLE_STATE');
    assert.match(refused[0]?.body.message ?? '', /has 100 applications.*Delete one/);
    // The limit is the account's own, and a deleted application makes room.
    await createApplication(await signUp(app));
    assert.equal((await owner.send('DELETE', path(made[0]?.body.id ?? ''))).status, 204);
    assert.equal((await create()).status, 201);
    assert.equal((await create()).status, 409);
  });

  test('the list is newest first, in pages, and ends with next_cursor null', async () => {
    const owner = await signUp(app);
    const ids: string[] = [];
    for (let i = 0; i < 7; i++) {
      app.clock.advance(1);
      ids.unshift(await createApplication(owner, `App ${i}`));
    }
    const seen: string[] = [];
    let cursor: string | null = null;
    const sizes: number[] = [];
    do {
      const query: string = `?limit=3${cursor === null ? '' : `&cursor=${cursor}`}`;
      const { body } = await owner.send<{ data: { id: string }[]; next_cursor: string | null }>(
        'GET',
        `/portal/v1/applications${query}`,
      );
      seen.push(...body.data.map(({ id }) => id));
      sizes.push(body.data.length);
      cursor = body.next_cursor;
    } while (cursor !== null);
    assert.deepEqual(seen, ids);
    assert.deepEqual(sizes, [3, 3, 1]);
  });

  test('400 for a limit out of range or a cursor that is not ours', async () => {
    for (const query of ['limit=0', 'limit=101', 'limit=many', 'cursor=nonsense', 'cursor=']) {
      assert.equal((await ada.send('GET', `/portal/v1/applications?${query}`)).status, 400, query);
    }
  });
});

describe('registrations in the sandbox', () => {
  test('sign up → application → register sms on free → key shown once → register again on pro → 200, credential null', async () => {
    const id = await createApplication(ada);
    const first = await register(ada, id, 'sms', 'free');
    assert.equal(first.status, 201);
    assert.equal(first.body.status, 'approved');
    assert.equal(first.body.plan, 'free');
    assert.equal(first.body.credential?.type, 'api_key');
    const key = first.body.credential?.api_key ?? '';
    assert.match(key, /^hg_sandbox_[0-9A-Za-z]{32}_[0-9A-Za-z]{8}$/);
    assert.ok(app.app.registry.apiKeys.isWellFormed(key));

    const again = await register(ada, id, 'sms', 'pro');
    assert.equal(again.status, 200);
    assert.equal(again.body.plan, 'pro');
    assert.equal(again.body.status, 'approved');
    assert.equal(again.body.credential, null);
    assert.equal(again.body.id, first.body.id);

    // In no list, log, dump or error afterwards.
    const keys = await ada.send<{ data: Record<string, unknown>[] }>('GET', path(id, '/keys'));
    assert.deepEqual(Object.keys(keys.body.data[0] ?? {}), [
      'id',
      'name',
      'prefix',
      'last_four',
      'created_at',
      'last_used_at',
      'expires_at',
      'suspended_at',
    ]);
    const secret = key.slice(15, -4);
    for (const each of ['', '/keys', '/registrations']) {
      assert.ok(!JSON.stringify((await ada.send('GET', path(id, each))).body).includes(secret));
    }
    assert.ok(!app.logLines.join('').includes(secret));
    const { rows } = await app.db.database.query<{ dump: string }>(
      `select coalesce(string_agg(query_to_xml('select * from ' || quote_ident(tablename), true, true, '')::text, ''), '') as dump
       from pg_tables where schemaname = 'public'`,
    );
    assert.ok((rows[0]?.dump.length ?? 0) > 1000);
    assert.ok(!rows[0]?.dump.includes(secret));
  });

  test('a change of plan makes no key, even when every key was revoked', async () => {
    const id = await createApplication(ada);
    const { credential } = (await register(ada, id, 'sms', 'free')).body;
    assert.equal((await ada.send('DELETE', path(id, `/keys/${credential?.id}`))).status, 204);
    const changed = await register(ada, id, 'sms', 'pro');
    assert.deepEqual([changed.status, changed.body.plan, changed.body.credential], [200, 'pro', null]);
    assert.deepEqual((await ada.send<{ data: unknown[] }>('GET', path(id, '/keys'))).body.data, []);
  });

  test('one client serves both token APIs', async () => {
    const id = await createApplication(ada);
    const verify = await register(ada, id, 'verify', 'free');
    assert.equal(verify.status, 201);
    const { credential } = verify.body;
    assert.deepEqual(Object.keys(credential ?? {}), ['type', 'client_id', 'client_secret', 'token_url', 'scope']);
    assert.equal(credential?.type, 'client');
    assert.equal(credential?.scope, 'openid verify:manage');
    assert.equal(credential?.token_url, 'http://127.0.0.1:8080/realms/heliograph/protocol/openid-connect/token');
    const messaging = await register(ada, id, 'messaging', 'pro');
    assert.equal(messaging.status, 201);
    assert.equal(messaging.body.credential, null);
    const detail = await ada.send<{ client: { client_id: string; secrets: unknown[] } }>('GET', path(id));
    assert.equal(detail.body.client.client_id, credential?.client_id);
    assert.equal(detail.body.client.secrets.length, 1);
  });

  test('50 parallel registrations of the same API make one, with one credential', async () => {
    const id = await createApplication(ada);
    const answers = await Promise.all(Array.from({ length: 50 }, () => insist(() => register(ada, id, 'sms', 'free'))));
    assert.equal(answers.filter(({ status }) => status === 201).length, 1);
    assert.equal(answers.filter(({ status }) => status === 200).length, 49);
    assert.equal(answers.filter(({ body }) => body.credential !== null).length, 1);
    const list = await ada.send<{ data: unknown[] }>('GET', path(id, '/registrations'));
    assert.equal(list.body.data.length, 1);
    assert.equal((await ada.send<{ data: unknown[] }>('GET', path(id, '/keys'))).body.data.length, 1);
  });

  test('DELETE 204, then 404; the credential that only it needed is gone, and registering again makes a new one', async () => {
    const id = await createApplication(ada);
    const { body } = await register(ada, id, 'sms', 'free');
    await register(ada, id, 'verify', 'free');
    await register(ada, id, 'messaging', 'free');
    assert.equal((await ada.send('DELETE', path(id, '/registrations/sms'))).status, 204);
    assert.equal((await ada.send('DELETE', path(id, '/registrations/sms'))).status, 404);
    assert.equal(await readKey(body.credential?.api_key ?? ''), undefined);
    assert.equal((await register(ada, id, 'sms', 'free')).body.credential?.type, 'api_key');
    assert.equal((await ada.send('DELETE', path(id, '/registrations/verify'))).status, 204);
    assert.equal((await register(ada, id, 'verify', 'free')).body.credential, null);
    await ada.send('DELETE', path(id, '/registrations/verify'));
    await ada.send('DELETE', path(id, '/registrations/messaging'));
    assert.equal((await register(ada, id, 'messaging', 'free')).body.credential?.type, 'client');
  });

  test('400 names the field and what would be right', async () => {
    const id = await createApplication(ada);
    const { status, body } = await register(ada, id, 'fax', 'gold');
    assert.equal(status, 400);
    assert.deepEqual((body as unknown as { details: unknown }).details, [
      { field: 'api', message: 'must be one of sms, verify, messaging' },
      { field: 'plan', message: 'must be one of free, pro, enterprise' },
    ]);
  });
});

/** The owner of a key, from the database. */
function readKey(key: string) {
  const { directory, apiKeys } = app.app.registry;
  return directory.readKey(apiKeys.hashes(key));
}

describe('keys', () => {
  test('POST 201: a new key shown once, and the older ones die after the overlap', async () => {
    const id = await createApplication(ada);
    const old = (await register(ada, id, 'sms', 'free')).body.credential?.api_key ?? '';
    const made = await ada.send<{ id: string; api_key: string }>('POST', path(id, '/keys'), { overlap_seconds: 60 });
    assert.equal(made.status, 201);
    assert.notEqual(made.body.api_key, old);
    const list = await ada.send<{ data: { id: string; expires_at: string | null; last_four: string }[] }>(
      'GET',
      path(id, '/keys'),
    );
    assert.equal(list.body.data.length, 2);
    assert.equal(list.body.data[0]?.id, made.body.id);
    assert.equal(list.body.data[0]?.last_four, made.body.api_key.slice(-4));
    assert.equal(Date.parse(list.body.data[1]?.expires_at ?? ''), app.clock.nowMs() + 60_000);
    const key = await readKey(old);
    assert.equal(key?.expiresAtMs, app.clock.nowMs() + 60_000);
    app.clock.advance(60_000);
    assert.equal((await ada.send<{ data: unknown[] }>('GET', path(id, '/keys'))).body.data.length, 1);
  });

  test('without overlap the older ones are dead at once', async () => {
    const id = await createApplication(ada);
    const old = (await register(ada, id, 'sms', 'free')).body.credential?.api_key ?? '';
    assert.equal((await ada.send('POST', path(id, '/keys'), {})).status, 201);
    assert.equal(await readKey(old), undefined);
  });

  test('with an overlap of null the older ones stay: a key for each server, with a name of its own', async () => {
    const id = await createApplication(ada);
    const first = (await register(ada, id, 'sms', 'free')).body.credential?.api_key ?? '';
    const body = { name: 'Server 2 · köln', overlap_seconds: null };
    const made = await ada.send<{ name: string; api_key: string }>('POST', path(id, '/keys'), body);
    assert.deepEqual([made.status, made.body.name], [201, body.name]);
    for (const key of [first, made.body.api_key]) assert.equal((await readKey(key))?.expiresAtMs, null);
    const list = await ada.send<{ data: { name: string | null }[] }>('GET', path(id, '/keys'));
    assert.deepEqual(
      list.body.data.map(({ name }) => name),
      [body.name, null],
    );
    const unnamed = await ada.send('POST', path(id, '/keys'), { name: null, overlap_seconds: null });
    assert.deepEqual([unnamed.status, unnamed.body.name], [201, null]);
  });

  test('400 for a name that is empty, blank, too long, not a text or has a control character', async () => {
    const id = await createApplication(ada);
    await register(ada, id, 'sms', 'free');
    for (const name of ['', '   ', 'x'.repeat(65), 7, 'a\u0000b', 'a\nb']) {
      const { status, body } = await ada.send<{ details: { field: string }[] }>('POST', path(id, '/keys'), { name });
      assert.deepEqual([status, body.details[0]?.field], [400, 'name'], JSON.stringify(name));
    }
    assert.equal((await ada.send<{ data: unknown[] }>('GET', path(id, '/keys'))).body.data.length, 1);
  });

  test('DELETE 204: dead at once; then 404', async () => {
    const id = await createApplication(ada);
    const { credential } = (await register(ada, id, 'sms', 'free')).body;
    const { keyLookup } = app.app.registry;
    const key = credential?.api_key ?? '';
    assert.ok(await keyLookup.lookUp(key));
    assert.ok(keyLookup.remembered(key));
    assert.equal((await ada.send('DELETE', path(id, `/keys/${credential?.id}`))).status, 204);
    assert.equal(keyLookup.remembered(key), undefined);
    assert.equal(await keyLookup.lookUp(key), null);
    assert.equal((await ada.send('DELETE', path(id, `/keys/${credential?.id}`))).status, 404);
  });

  test('409 INCOMPATIBLE_STATE: no key without the sms registration, no secret without a client, no 21st live key', async () => {
    const id = await createApplication(ada);
    for (const kind of ['/keys', '/client-secrets']) {
      const answer = await ada.send('POST', path(id, kind), { overlap_seconds: 0 });
      assert.equal(answer.status, 409);
      assert.equal(answer.body.code, 'INCOMPATIBLE_STATE');
    }
    await register(ada, id, 'sms', 'free');
    for (let i = 1; i < 20; i++) await ada.send('POST', path(id, '/keys'), { overlap_seconds: 3600 });
    assert.equal((await ada.send('POST', path(id, '/keys'), { overlap_seconds: 3600 })).status, 409);
  });

  test('400 for an overlap that is negative, over 30 days or not a number', async () => {
    const id = await createApplication(ada);
    for (const overlap_seconds of [-1, 2_592_001, '60', 1.5]) {
      assert.equal((await ada.send('POST', path(id, '/keys'), { overlap_seconds })).status, 400);
    }
  });
});

describe('client secrets', () => {
  test('POST 201 with the same client and a new secret; without overlap the credential version rises', async () => {
    const id = await createApplication(ada);
    const first = (await register(ada, id, 'verify', 'free')).body.credential;
    const { directory } = app.app.registry;
    const before = await directory.readClient(first?.client_id ?? '');
    const second = await ada.send('POST', path(id, '/client-secrets'), { overlap_seconds: 10 });
    assert.equal(second.status, 201);
    assert.equal(second.body.client_id, first?.client_id);
    assert.notEqual(second.body.client_secret, first?.client_secret);
    const overlapping = await directory.readClient(first?.client_id ?? '');
    assert.equal(overlapping?.client?.secrets.length, 2);
    assert.equal(overlapping?.client?.credentialVersion, before?.client?.credentialVersion);
    await ada.send('POST', path(id, '/client-secrets'), { overlap_seconds: 0 });
    const rotated = await directory.readClient(first?.client_id ?? '');
    assert.equal(rotated?.client?.secrets.length, 1);
    assert.equal(rotated?.client?.credentialVersion, (before?.client?.credentialVersion ?? 0) + 1);
  });

  test('DELETE 204: the secret and all tokens end at once, the other secret works on; then 404', async () => {
    const id = await createApplication(ada);
    const first = (await register(ada, id, 'verify', 'free')).body.credential;
    const second = (await ada.send('POST', path(id, '/client-secrets'), { overlap_seconds: null })).body;
    const clientOf = (secret: unknown) => ({ client_id: String(first?.client_id), client_secret: String(secret) });
    const token = await getToken(app, clientOf(first?.client_secret), 'verify:manage');
    const useToken = () => send(app, 'GET', '/verify/v1/verifications', { headers: bearer(token) });
    assert.equal((await useToken()).status, 200);
    const [newest, oldest] = await secretsOf(id);
    assert.equal(newest?.last_four, String(second.client_secret).slice(-4));
    assert.equal((await ada.send('DELETE', path(id, `/client-secrets/${oldest?.id}`))).status, 204);
    assert.equal((await useToken()).status, 401);
    await assert.rejects(getToken(app, clientOf(first?.client_secret), 'verify:manage'));
    assert.ok(await getToken(app, clientOf(second.client_secret), 'verify:manage'), 'the other secret works');
    assert.equal((await ada.send('DELETE', path(id, `/client-secrets/${oldest?.id}`))).status, 404);
    assert.deepEqual(
      (await secretsOf(id)).map(({ id: secretId }) => secretId),
      [newest?.id],
    );
  });

  test('the last one may be deleted too, and a new one made; one that has expired is a 404 and ends no token', async () => {
    const id = await createApplication(ada);
    const first = (await register(ada, id, 'verify', 'free')).body.credential;
    const [only] = await secretsOf(id);
    assert.equal((await ada.send('DELETE', path(id, `/client-secrets/${only?.id}`))).status, 204);
    assert.deepEqual(await secretsOf(id), []);
    const made = await ada.send('POST', path(id, '/client-secrets'), { overlap_seconds: null });
    assert.deepEqual([made.status, made.body.client_id], [201, first?.client_id]);
    const [expiring] = await secretsOf(id);
    await ada.send('POST', path(id, '/client-secrets'), { overlap_seconds: 5 });
    app.clock.advance(5000);
    const { directory } = app.app.registry;
    const versionOf = async () => (await directory.readClient(first?.client_id ?? ''))?.client?.credentialVersion;
    const before = await versionOf();
    assert.equal((await ada.send('DELETE', path(id, `/client-secrets/${expiring?.id}`))).status, 404);
    assert.equal(await versionOf(), before);
    assert.equal((await ada.send('DELETE', path(id, '/client-secrets/%00'))).status, 404);
  });
});

async function secretsOf(id: string) {
  const { body } = await ada.send<{ client: { secrets: { id: string; last_four: string }[] } }>('GET', path(id));
  return body.client.secrets;
}

describe("404: another account's application is not there", () => {
  test('another account’s application gets 404 on every call', async () => {
    const id = await createApplication(ada);
    const { body } = await register(ada, id, 'sms', 'free');
    const calls: [string, string, unknown?][] = [
      ['GET', path(id)],
      ['PATCH', path(id), { name: 'mine' }],
      ['DELETE', path(id)],
      ['POST', path(id, '/registrations'), { api: 'sms', plan: 'pro' }],
      ['GET', path(id, '/registrations')],
      ['DELETE', path(id, '/registrations/sms')],
      ['POST', path(id, '/keys'), { overlap_seconds: 0 }],
      ['GET', path(id, '/keys')],
      ['DELETE', path(id, `/keys/${body.credential?.id}`)],
      ['POST', path(id, '/client-secrets'), { overlap_seconds: 0 }],
      ['DELETE', path(id, '/client-secrets/sec_00000000000000000000000000')],
    ];
    const missing = await eve.send('GET', path('app_00000000000000000000000000'));
    for (const [method, url, payload] of calls) {
      const answer = await eve.send(method, url, payload);
      assert.equal(answer.status, 404, `${method} ${url}`);
      assert.equal(answer.body.message, missing.body.message);
      assert.equal(answer.body.code, 'NOT_FOUND');
      const anonymous = await send(app, method, url, { body: payload });
      assert.equal(anonymous.status, 401, `${method} ${url}`);
    }
    assert.equal((await ada.send<{ data: unknown[] }>('GET', path(id, '/keys'))).body.data.length, 1);
  });
});
