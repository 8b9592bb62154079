// "X-Correlation-ID: unique identifier of the request, to be quoted when reporting a problem" (SPEC.md, Limits): what one
// learns by quoting it.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createTestApp, type TestApp } from '../support/app.ts';
import { bearer, createRegistered, getToken, sendMany, type TestApplication } from '../support/applications.ts';
import { type Answer, asDeveloper, send, signUp } from '../support/developer.ts';
import { eventually } from '../support/eventually.ts';

interface Story {
  correlation_id: string;
  application_id: string;
  application_name: string;
  api: string;
  at: string;
  method: string;
  path: string | null;
  status: number;
  code: string | null;
  message: string | null;
  outcome: string | null;
  details: { field: string }[];
  duration_ms: number | null;
  limits: {
    admitted: boolean;
    limit: number | null;
    remaining: number | null;
    retry_after_seconds: number | null;
    refused_by: string | null;
  };
  record: { type: string; id: string; status: string } | null;
  records: { id: string }[];
  timeline: { at: string; event: string; detail: string }[];
}
interface Listed {
  data: { correlation_id: string; status: number; path: string | null; record_id: string | null }[];
  next_cursor: string | null;
}

let app: TestApp;
before(async () => {
  app = await createTestApp({ env: { HELIOGRAPH_PLANS: '{"enterprise":{"per_minute":100000,"burst":100000}}' } });
});
after(() => app.close());

const idOf = ({ headers }: { headers: Headers }) => headers.get('x-correlation-id') ?? '';
const storyOf = ({ developer }: TestApplication, id: string) =>
  developer.send<Story>('GET', `/portal/v1/requests/${id}`);
const listOf = ({ developer, id }: TestApplication, query = '') =>
  developer.send<Listed>('GET', `/portal/v1/applications/${id}/requests${query}`);
const sms = ({ apiKey }: TestApplication, body: object, headers: Record<string, string> = {}) =>
  send<{ id: string }>(app, 'POST', '/sms/v1/messages', { headers: { apikey: apiKey, ...headers }, body });
const hello = { to: '+447700900123', from: 'ACME', message: 'Hello' };
const events = ({ body }: Answer<Story>) => body.timeline.map(({ event }) => event);

/** Late enough that the session is over. */
async function later(acme: TestApplication, ms: number): Promise<TestApplication> {
  app.clock.advance(ms);
  const { email, password } = acme.developer;
  const signedIn = await send(app, 'POST', '/portal/v1/sessions', { body: { email, password } });
  return { ...acme, developer: asDeveloper(app, email, password, signedIn) };
}

/** Everything but what the record itself keeps is gone. */
const forgetTraces = () => app.db.database.query('delete from request_trace');

describe('GET /portal/v1/requests/{correlation_id}', () => {
  test('a sent text: the decision of the limits, the record, and how it got to the phone', async () => {
    const acme = await createRegistered(app, ['sms'], 'free');
    const sent = await sms(acme, hello);
    const id = idOf(sent);
    await eventually('it is delivered', async () => {
      app.clock.advance(1000);
      return (await storyOf(acme, id)).body.record?.status === 'delivered';
    });
    const story = await storyOf(acme, id);
    assert.equal(story.status, 200);
    const { body } = story;
    assert.deepEqual(
      [body.correlation_id, body.application_id, body.application_name, body.api, body.method, body.path, body.status],
      [id, acme.id, 'ACME', 'sms', 'POST', '/sms/v1/messages', 201],
    );
    assert.deepEqual(body.limits, {
      admitted: true,
      limit: 60,
      remaining: 59,
      retry_after_seconds: null,
      refused_by: null,
    });
    assert.deepEqual(body.record, { type: 'message', id: sent.body.id, status: 'delivered' });
    assert.ok((body.duration_ms ?? -1) >= 0);
    for (const event of ['received', 'admitted', 'accepted', 'answered', 'sent', 'delivered']) {
      assert.ok(events(story).includes(event), event);
    }
    assert.deepEqual(events(story).slice(0, 2), ['received', 'admitted']);
    assert.equal(events(story).at(-1), 'delivered');
  });

  test('what was refused: which field, which limit, how long to wait', async () => {
    const acme = await createRegistered(app, ['sms'], 'free');
    const wrong = await storyOf(acme, idOf(await sms(acme, { ...hello, to: 'me' })));
    assert.deepEqual([wrong.body.status, wrong.body.code], [400, 'INVALID_ARGUMENT']);
    assert.equal(wrong.body.details[0]?.field, 'to');
    assert.equal(wrong.body.record, null);
    assert.equal(events(wrong).at(-1), 'answered');

    await sendMany(app, 60, { path: '/sms/v1/messages', headers: { apikey: acme.apiKey } });
    const limited = await sms(acme, hello);
    assert.equal(limited.status, 429);
    const { body } = await storyOf(acme, idOf(limited));
    assert.deepEqual([body.status, body.code], [429, null]);
    assert.equal(body.limits.admitted, false);
    assert.equal(body.limits.retry_after_seconds, Number(limited.headers.get('retry-after')));
    assert.equal(body.limits.refused_by, 'minute');
    assert.match(body.timeline.find(({ event }) => event === 'refused')?.detail ?? '', /minute/);
  });

  test('a verification: its start, its check, and a start that sends the same code again', async () => {
    const acme = await createRegistered(app, ['verify'], 'free');
    const headers = bearer(await getToken(app, acme.client, 'verify:manage'));
    const start = () =>
      send<{ id: string }>(app, 'POST', '/verify/v1/verifications', {
        headers,
        body: { to: '+15005550101', channel: 'sms' },
      });
    const started = await start();
    const again = await start();
    const path = `/verify/v1/verifications/${started.body.id}`;
    const check = (code: string, key = '') =>
      send(app, 'POST', path, { headers: { ...headers, ...(key && { 'Idempotency-Key': key }) }, body: { code } });
    const wrong = await check('000000', 'once');
    const repeated = await check('000000', 'once');
    const checked = await check('123456');
    assert.equal(checked.status, 200);
    const record = { type: 'verification', id: started.body.id, status: 'approved' };

    for (const request of [started, again]) {
      const story = await storyOf(acme, idOf(request));
      assert.deepEqual(story.body.record, record);
      assert.ok(events(story).includes('accepted'), 'its text is in the story');
      assert.ok(events(story).includes('approved'));
    }
    // What came of a check stays, though the verification is approved now.
    for (const [request, outcome] of [
      [wrong, 'Wrong code, 4 attempts left'],
      [repeated, 'Replayed the response to the first request with this Idempotency-Key'],
      [checked, 'Correct code, verification approved'],
    ] as const) {
      const story = await storyOf(acme, idOf(request));
      assert.deepEqual([story.body.record, story.body.path], [record, path]);
      assert.deepEqual([story.body.outcome, story.body.message], [outcome, null]);
      assert.deepEqual(events(story), ['received', 'admitted', 'answered']);
      assert.ok(story.body.timeline.at(-1)?.detail.endsWith(`: ${outcome}`), outcome);
      assert.doesNotMatch(JSON.stringify(story.body), /123456|000000/);
    }
  });

  test('kept with the record it made, when all else is forgotten', async () => {
    const acme = await createRegistered(app, ['sms', 'verify', 'messaging'], 'enterprise');
    const verify = bearer(await getToken(app, acme.client, 'verify:manage'));
    const messaging = bearer(await getToken(app, acme.client, 'messaging:send'));
    const text = await sms(acme, hello);
    const started = await send<{ id: string }>(app, 'POST', '/verify/v1/verifications', {
      headers: verify,
      body: { to: '+447700900124', channel: 'sms' },
    });
    const batch = await send(app, 'POST', '/messaging/v1/messages/batch', {
      headers: messaging,
      body: { messages: [hello, hello, hello] },
    });
    const refused = await sms(acme, {});
    await app.app.metering.flush();
    await forgetTraces();
    const owner = await later(acme, 40 * 86_400_000);
    for (const [request, api, path, status, records] of [
      [text, 'sms', '/sms/v1/messages', 201, 1],
      [started, 'verify', '/verify/v1/verifications', 200, 1],
      [batch, 'messaging', '/messaging/v1/messages/batch', 200, 3],
    ] as const) {
      const story = await storyOf(owner, idOf(request));
      assert.equal(story.status, 200, api);
      assert.deepEqual(
        [story.body.api, story.body.path, story.body.status, story.body.records.length],
        [api, path, status, records],
      );
      assert.equal(story.body.limits.admitted, true);
      assert.ok(events(story).includes('accepted'));
    }
    assert.equal((await storyOf(owner, idOf(refused))).status, 404);
  });

  test('404: unknown, malformed, another account', async () => {
    const acme = await createRegistered(app, ['sms'], 'free');
    const id = idOf(await sms(acme, hello));
    const stranger = await signUp(app);
    for (const [developer, wanted] of [
      [stranger, id],
      [acme.developer, `${id.slice(0, -1)}${id.endsWith('0') ? '1' : '0'}`],
      [acme.developer, 'req_'],
      [acme.developer, '%00'],
      [acme.developer, idOf(await send(app, 'GET', '/healthz'))],
    ] as const) {
      assert.equal((await developer.send('GET', `/portal/v1/requests/${wanted}`)).status, 404, wanted);
    }
    assert.equal((await storyOf(acme, id)).status, 200);
  });
});

describe('of all other identified requests the newest 1,000 per application for 24 h', () => {
  test('the newest first, page by page; a path where there is nothing is not repeated', async () => {
    const acme = await createRegistered(app, ['sms'], 'enterprise');
    const sent = await sms(acme, hello);
    await send(app, 'GET', '/sms/v1/my-secret', { headers: { apikey: acme.apiKey } });
    const first = await listOf(acme, '?limit=1');
    assert.deepEqual(
      first.body.data.map(({ status, path, record_id }) => [status, path, record_id]),
      [[404, null, null]],
    );
    const second = await listOf(acme, `?limit=1&cursor=${first.body.next_cursor}`);
    assert.deepEqual(
      second.body.data.map(({ correlation_id, record_id }) => [correlation_id, record_id]),
      [[idOf(sent), sent.body.id]],
    );
    assert.equal(second.body.next_cursor, null);
  });

  test('by API and by status: one, a class, or all errors', async () => {
    const acme = await createRegistered(app, ['sms', 'verify'], 'pro');
    const headers = bearer(await getToken(app, acme.client, 'verify:manage'));
    const good = idOf(await sms(acme, hello));
    const bad = idOf(await sms(acme, {}));
    const lost = idOf(await send(app, 'GET', '/verify/v1/verifications/ver_00000000000000000000000000', { headers }));
    const ids = async (query: string) => (await listOf(acme, query)).body.data.map((each) => each.correlation_id);
    assert.deepEqual(await ids('?status=2xx'), [good]);
    assert.deepEqual(await ids('?status=error'), [lost, bad]);
    assert.deepEqual(await ids('?status=4xx&limit=1'), [lost]);
    assert.deepEqual(await ids('?status=400'), [bad]);
    assert.deepEqual(await ids('?status=5xx'), []);
    assert.deepEqual(await ids('?api=verify'), [lost]);
    assert.deepEqual(await ids('?api=verify&status=2xx'), []);
    for (const query of ['?status=good', '?status=6xx', '?status=99', '?api=mail']) {
      assert.equal((await listOf(acme, query)).status, 400, query);
    }
  });

  test('1,000 and no more, for a day and no longer; another application keeps its own', async () => {
    const acme = await createRegistered(app, ['sms'], 'enterprise');
    const quiet = await createRegistered(app, ['sms'], 'enterprise');
    const kept = idOf(await sms(quiet, {}));
    const first = idOf(await sms(acme, {}));
    await app.app.metering.flush();
    // In several goes: what is written and what still waits are counted together.
    for (let go = 0; go < 3; go++) {
      await sendMany(app, 400, { path: '/sms/v1/nothing', headers: { apikey: acme.apiKey } });
      await app.app.metering.flush();
    }
    const { rows } = await app.db.database.query<{ count: number }>(
      'select count(*) as count from request_trace where application_id = $1',
      [acme.id],
    );
    assert.equal(rows[0]?.count, 1000);
    assert.equal((await storyOf(acme, first)).status, 404);
    assert.equal((await storyOf(quiet, kept)).status, 200);
    const owner = await later(quiet, 86_400_000 + 1000);
    assert.equal((await storyOf(owner, kept)).status, 404);
    assert.deepEqual((await listOf(owner)).body.data, []);
  });

  test('a credential is nowhere in it', async () => {
    const acme = await createRegistered(app, ['sms'], 'enterprise');
    await send(app, 'GET', `/sms/v1/messages/${acme.apiKey}`, { headers: { apikey: acme.apiKey } });
    await app.app.metering.flush();
    const { rows } = await app.db.database.query<{ row: string }>(
      'select t::text as row from request_trace t where application_id = $1',
      [acme.id],
    );
    assert.equal(rows.length, 1);
    assert.doesNotMatch(rows[0]?.row ?? '', /hg_sandbox/);
  });
});
