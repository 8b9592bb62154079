// Find: whatever a person has of a record leads to it. Developers find only what is theirs; operators find everything, see
// masked numbers until they open a record, and the audit log says who opened what.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { dayMs } from '../../src/platform/clock.ts';
import { newId, uuidOf } from '../../src/platform/ids.ts';
import type { FindPage, Found } from '../../src/portal/find/found.ts';
import type { OpenedRecord } from '../../src/portal/find/record-opening.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { bearer, createRegistered, getToken, type TestApplication } from '../support/applications.ts';
import { type Answer, send, type TestDeveloper } from '../support/developer.ts';
import { createOperator } from '../support/operator.ts';

const number = '+447700900123';
const masked = '+4477•••••123';

let app: TestApp;
let operator: TestDeveloper;
let acme: TestApplication;
let other: TestApplication;
let text: { id: string; correlationId: string };
let started: { id: string; correlationId: string };
let refused: string;

const correlationOf = ({ headers }: Answer) => headers.get('x-correlation-id') ?? '';

async function sendText({ apiKey }: TestApplication, to = number) {
  const answer = await send(app, 'POST', '/sms/v1/messages', {
    body: { to, from: 'ACME', message: 'Hello' },
    headers: { apikey: apiKey },
  });
  return { id: String(answer.body.id), correlationId: correlationOf(answer), status: answer.status };
}

before(async () => {
  app = await createTestApp({ delivery: 'held' });
  operator = await createOperator(app);
  acme = await createRegistered(app);
  other = await createRegistered(app, ['sms']);
  text = await sendText(acme);
  app.clock.advance(1000);
  const token = await getToken(app, acme.client, 'verify:manage');
  const start = await send(app, 'POST', '/verify/v1/verifications', {
    body: { channel: 'sms', to: number },
    headers: bearer(token),
  });
  started = { id: String(start.body.id), correlationId: correlationOf(start) };
  app.clock.advance(1000);
  refused = (await sendText(other, 'nonsense')).correlationId;
});
after(() => app.close());

const find = (who: TestDeveloper, q: string, more = '') =>
  who.send<FindPage>('GET', `/portal/v1/find?q=${encodeURIComponent(q)}${more}`);
const findInAll = (q: string, more = '') =>
  operator.send<FindPage>('GET', `/portal/v1/operator/find?q=${encodeURIComponent(q)}${more}`);
const open = (id: string) => operator.send<OpenedRecord>('POST', `/portal/v1/operator/records/${id}/open`);
const idsOf = ({ body }: Answer<FindPage>) => body.data.map(({ id }) => id);
const ofType = (type: string, { body }: Answer<FindPage>): Found[] => body.data.filter((each) => each.type === type);

describe('operators, in all accounts', () => {
  test('a correlation id leads to the story of its request, whether it made a text, a code or nothing', async () => {
    for (const [id, application, status] of [
      [text.correlationId, acme, '201'],
      [started.correlationId, acme, '200'],
      [refused, other, '400 INVALID_ARGUMENT'],
    ] as const) {
      const [found] = (await findInAll(`X-Correlation-ID: ${id}`)).body.data;
      assert.deepEqual(
        [found?.type, found?.id, found?.application_id, found?.status],
        ['request', id, application.id, status],
      );
      const opened = await open(id);
      assert.equal(opened.status, 200);
      assert.equal(opened.body.request?.correlation_id, id);
      assert.equal(opened.body.request?.application_name, 'ACME');
    }
  });

  test('a request that counted as no usage, like a 503, is found by its trace', async () => {
    await findInAll(refused);
    await app.db.database.query('delete from usage_minute');
    assert.deepEqual(idsOf(await findInAll(refused)), [refused]);
  });

  test('a number in any spelling finds its texts and verifications, masked until one is opened', async () => {
    for (const spelling of [number, '0044 7700 900-123', '447700900123', '+44 (0)7700 900123']) {
      const found = await findInAll(spelling);
      assert.deepEqual(idsOf(found), [started.id, text.id], spelling);
      assert.deepEqual(
        found.body.data.map(({ to }) => to),
        [masked, masked],
      );
      assert.equal(JSON.stringify(found.body).includes(number), false);
    }
    const opened = await open(text.id);
    assert.deepEqual([opened.body.type, opened.body.message?.to], ['message', number]);
    assert.equal((await open(started.id)).body.verification?.to, number);
  });

  test('a national spelling is read in the countries that the service sends to', async () => {
    assert.deepEqual(idsOf(await findInAll('07700 900123')), []);
    const day = new Date(app.clock.nowMs()).toISOString().slice(0, 10);
    await app.db.database.query(
      `insert into total_day (day, carrier, country, sender, application_id, node, revision, sent)
       values ($1, 'acme#1', 'GB', 'ACME', $2, '', 1, 10)`,
      [day, uuidOf(acme.id)],
    );
    assert.deepEqual(idsOf(await findInAll('07700 900123')), [started.id, text.id]);
  });

  test("a carrier's id finds its text in whatever form the carrier wrote it; a code's text leads to its verification", async () => {
    const { rows } = await app.db.database.query<{ id: string }>(
      'select id from message where verification_id is not null',
    );
    await app.db.database.query(
      `insert into sent_text (account, receipt_key, message_id, sent_at) values
         ('a@127.0.0.1', 'sm-77', $1, now()), ('b@127.0.0.1', '#ff', $2, now())`,
      [uuidOf(text.id), rows[0]?.id],
    );
    assert.deepEqual(idsOf(await findInAll('sm-77')), [text.id]);
    assert.deepEqual(idsOf(await findInAll('FF')), [started.id]);
    assert.deepEqual(idsOf(await findInAll('255')), [started.id]);
    assert.deepEqual(idsOf(await find(acme.developer, 'sm-77')), [], 'developers do not find by it');
  });

  test('applications, accounts and the ids of their parts', async () => {
    const named = await findInAll('acm');
    assert.deepEqual(new Set(ofType('application', named).map(({ id }) => id)), new Set([acme.id, other.id]));
    const byEmail = ofType('account', await findInAll(acme.developer.email));
    assert.equal(byEmail.length, 1);
    assert.deepEqual(idsOf(await findInAll(byEmail[0]?.id ?? '')), [byEmail[0]?.id]);
    for (const [id, type] of [
      [acme.id, 'application'],
      [acme.keyId, 'key'],
      [acme.client.client_id, 'client'],
    ] as const) {
      const [found] = (await findInAll(id)).body.data;
      assert.deepEqual([found?.type, found?.id, found?.application_id], [type, id, acme.id]);
    }
  });

  test('each opening is in the audit log, which the owners of the account read; a search is not', async () => {
    await findInAll(number);
    await open(text.id);
    const { body } = await operator.send<{ data: Record<string, unknown>[] }>(
      'GET',
      '/portal/v1/operator/audit?limit=1',
    );
    const [entry] = body.data;
    assert.deepEqual(
      [entry?.act, entry?.target, entry?.details],
      ['message.opened', { type: 'message', id: text.id }, { application_id: acme.id }],
    );
    const own = await acme.developer.send<{ data: Record<string, unknown>[] }>('GET', '/portal/v1/audit?limit=1');
    assert.equal(own.body.data[0]?.act, 'message.opened');
    assert.equal(JSON.stringify(body).includes(number), false, 'the log has no number');
    assert.equal(app.logLines.join('').includes('7700900123'), false, 'no log line has what was searched for');
  });

  test('what does not exist is not found, opened or written down', async () => {
    for (const prefix of ['msg', 'ver', 'req'] as const) {
      const id = newId(prefix, app.clock);
      assert.deepEqual(idsOf(await findInAll(id)), []);
      assert.equal((await open(id)).status, 404);
    }
    for (const id of ['nope', '%00', acme.id]) assert.equal((await open(id)).status, 404, id);
    const { body } = await operator.send<{ data: { target: { id: string } }[] }>(
      'GET',
      '/portal/v1/operator/audit?limit=5',
    );
    assert.ok(body.data.every(({ target }) => target.id !== acme.id));
  });
});

describe('developers, in their own account', () => {
  test('they find their records with the whole number, and their applications', async () => {
    const found = await find(acme.developer, '00447700900123');
    assert.deepEqual(idsOf(found), [started.id, text.id]);
    assert.deepEqual(
      found.body.data.map(({ to }) => to),
      [number, number],
    );
    for (const id of [text.id, started.id, text.correlationId, acme.id, acme.keyId]) {
      assert.deepEqual(idsOf(await find(acme.developer, id)), [id]);
    }
    assert.deepEqual(idsOf(await find(acme.developer, 'ACME')), [acme.id]);
  });

  test('nothing of another account is found, by whatever is known of it', async () => {
    const known = [number, text.id, started.id, text.correlationId, acme.id, acme.keyId, acme.client.client_id];
    for (const q of known) assert.deepEqual(idsOf(await find(other.developer, q)), [], q);
    const { body } = await operator.send<FindPage>('GET', `/portal/v1/operator/find?q=${acme.developer.email}`);
    const account = body.data.find(({ type }) => type === 'account')?.id ?? '';
    assert.deepEqual(idsOf(await find(acme.developer, account)), [], 'accounts are for operators');
  });

  test("the operators' routes do not exist for them", async () => {
    const { developer } = other;
    assert.equal((await developer.send('GET', '/portal/v1/operator/find?q=x')).status, 404);
    assert.equal((await developer.send('POST', `/portal/v1/operator/records/${text.id}/open`)).status, 404);
    assert.equal((await send(app, 'GET', '/portal/v1/find?q=x')).status, 401);
  });
});

describe('bounds', () => {
  test('a text that is too long, empty or holds a NUL is refused by name', async () => {
    for (const q of ['', 'x'.repeat(129), 'a\0b']) {
      const { status, body } = await find(acme.developer, q);
      assert.equal(status, 400, JSON.stringify(q.slice(0, 5)));
      assert.equal((body as unknown as { details: { field: string }[] }).details[0]?.field, 'q');
    }
    for (const q of ['%', '_', '\\', "'; drop table message --", '٣٤', '\u{1f600}', '+', '00', '+0', '9'.repeat(128)]) {
      assert.equal((await find(acme.developer, q)).status, 200, q);
      assert.equal((await findInAll(q)).status, 200, q);
    }
  });

  test('many records of a number come in pages, in their order, each once; those of before the retention do not', async () => {
    const to = '+447700900777';
    const agoMs = [0, 0, 1, 8, 8, 20, 20].map((days) => days * dayMs);
    const made = await Promise.all(agoMs.map((ms, index) => storeText(index % 2 === 0 ? acme : other, to, ms)));
    await storeText(acme, to, 70 * dayMs);
    const seen: string[] = [];
    let cursor = '';
    do {
      const { status, body } = await findInAll(to, `&limit=2${cursor && `&cursor=${cursor}`}`);
      assert.equal(status, 200);
      assert.ok(body.data.length <= 2);
      assert.deepEqual(body.indexing, []);
      seen.push(...body.data.map(({ id }) => id));
      cursor = body.next_cursor ?? '';
    } while (cursor !== '');
    assert.deepEqual(seen, made.toSorted().toReversed());
    assert.deepEqual(
      new Set(idsOf(await find(acme.developer, to))),
      new Set(made.filter((_, index) => index % 2 === 0)),
    );
  });
});

/** A text of some time ago. */
async function storeText({ id: applicationId }: TestApplication, to: string, agoMs: number): Promise<string> {
  const atMs = app.clock.nowMs() - agoMs;
  const id = newId('msg', { ...app.clock, nowMs: () => atMs });
  await app.db.database.query(
    `insert into message (id, application_id, api, channel, recipient, sender, status, encoding, segment_count, characters,
       remaining, correlation_id, created_at, updated_at, expires_at, carrier)
     values ($1, $2, 0, 0, $3, 'ACME', 3, 0, 1, 5, 155, $2, now(), now(), now(), 'sandbox')`,
    [uuidOf(id), uuidOf(applicationId), to],
  );
  return id;
}
