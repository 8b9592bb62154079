// Senders of applications (section 14 of the contract).
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createTestApp, type TestApp } from '../support/app.ts';
import { type Answer, send, signUp, type TestDeveloper } from '../support/developer.ts';
import { eventually } from '../support/eventually.ts';
import { createOperator } from '../support/operator.ts';
import { type Caller, createProduction, knowsCarrier, type Production, senderOf } from '../support/production.ts';
import { countMessages, createSender, type Refusal, type TextRecord, text } from '../support/texts.ts';

interface SenderRecord {
  id: string;
  sender: string;
  countries: string[];
  status: string;
  carriers?: string[];
  registration: string | null;
  per_second: number | null;
  reason: string | null;
  created_at: string;
  decided_at: string | null;
}

const british = '+447400123456';
const french = '+33612345678';
const american = '+12015550123';
const canadian = '+14165550123';
const puertoRican = '+17875550123';
const operatorPath = '/portal/v1/operator/senders';

const problemsOf = (answer: Answer<unknown>) => (answer.body as Refusal).details;
const pathOf = (id: string) => `/portal/v1/applications/${id}/senders`;

describe('in production', () => {
  let production: Production;
  let app: TestApp;
  let operator: TestDeveloper;
  before(async () => {
    production = await createProduction();
    ({ app, operator } = production);
  });
  after(() => app.close());

  const ask = (who: Caller, body: object) => who.developer.send<SenderRecord & Refusal>('POST', pathOf(who.id), body);
  const list = async (who: Caller) =>
    (await who.developer.send<{ data: SenderRecord[]; next_cursor: null }>('GET', pathOf(who.id))).body;

  test('a sender is asked for, waits, and is approved: then it may be used, on every node', async () => {
    const env = { HELIOGRAPH_ENV: 'production' };
    const other = await createTestApp({ env, delivery: 'held', db: app.db, clock: app.clock });
    await knowsCarrier(other);
    const acme = await production.createCaller({ apis: ['sms', 'messaging'] });
    const onOther = () =>
      send(other, 'POST', '/sms/v1/messages', { body: { ...text, to: british }, headers: acme.key });
    const refused = await acme.sms({ to: british });
    assert.deepEqual([refused.status, (await onOther()).status], [400, 400]);
    assert.deepEqual(
      problemsOf(refused).map(({ field }) => field),
      ['from'],
    );
    assert.match(problemsOf(refused)[0]?.message ?? '', /holds for GB; ask for it .*\/senders.* operator approves it/);

    const asked = await ask(acme, { sender: 'ACME', countries: ['GB', 'FR', 'GB'] });
    assert.equal(asked.status, 201);
    const { id, created_at } = asked.body;
    const waiting = { id, sender: 'ACME', countries: ['FR', 'GB'], status: 'pending', registration: null };
    const undecided = { per_second: null, reason: null, created_at, decided_at: null };
    assert.deepEqual(asked.body, { ...waiting, ...undecided });
    assert.deepEqual(await list(acme), { data: [asked.body], next_cursor: null });
    assert.equal((await acme.sms({ to: british })).status, 400, 'pending');

    const listed = await operator.send<{ data: Record<string, unknown>[] }>('GET', operatorPath);
    const about = { application_id: acme.id, application_name: 'ACME', account_email: acme.developer.email };
    assert.deepEqual(listed.body.data[0], { ...asked.body, carriers: [], ...about });

    const approval = { carriers: ['acme'], registration: 'REG-1', per_second: 7 };
    const approved = await operator.send<SenderRecord>('POST', `${operatorPath}/${id}/approve`, approval);
    const decided_at = new Date(app.clock.nowMs()).toISOString();
    assert.deepEqual(
      [approved.status, approved.body],
      [200, { ...waiting, ...undecided, status: 'approved', decided_at, ...approval }],
    );
    assert.deepEqual([(await acme.sms({ to: british })).status, (await onOther()).status], [201, 201]);
    assert.equal((await acme.messaging({ to: french })).status, 200);
    assert.deepEqual((await list(acme)).data[0]?.registration, 'REG-1');
    assert.equal((await acme.sms({ to: '+4915112345678' })).status, 400, 'another country');
    assert.equal((await acme.sms({ to: british, from: 'acme' })).status, 400, 'another name');
    await other.close();
  });

  test('a batch refuses the items whose sender is not held, and no other', async () => {
    const acme = await production.createCaller({ apis: ['messaging'] });
    await acme.hold('ACME', ['GB']);
    const items = [british, french, british].map((to) => ({ ...text, to }));
    const { status, body } = await send<{ data: { error?: Refusal }[]; summary: object }>(
      app,
      'POST',
      '/messaging/v1/messages/batch',
      { body: { messages: items }, headers: acme.token },
    );
    assert.deepEqual([status, body.summary], [200, { accepted: 2, rejected: 1 }]);
    assert.equal(body.data[1]?.error?.details[0]?.field, 'from');
    assert.equal(await countMessages(app, acme.id), 2);
  });

  test('a number is the same sender with and without its plus; countries none means all of them', async () => {
    const acme = await production.createCaller({ apis: ['sms'] });
    await acme.hold('+447400999999');
    for (const from of ['+447400999999', '447400999999'])
      for (const to of [british, american]) assert.equal((await acme.sms({ to, from })).status, 201);
    assert.equal((await acme.sms({ to: british, from: '447400999998' })).status, 400);
  });

  test('400: a name to the US, Canada or Puerto Rico, even one that was approved', async () => {
    const acme = await production.createCaller({ apis: ['sms'] });
    await acme.hold('ACME');
    for (const to of [american, canadian, puertoRican]) {
      const answer = await acme.sms({ to });
      assert.equal(answer.status, 400);
      assert.match(problemsOf(answer)[0]?.message ?? '', /must be a number: phones in (US|CA|PR)/);
    }
    assert.equal((await acme.sms({ to: '+18765550123' })).status, 201, 'Jamaica has +1 too');
  });

  test('rejected with a reason, or given up: it may be used no more, and be asked for again', async () => {
    const acme = await production.createCaller({ apis: ['sms'] });
    const id = await acme.hold('ACME');
    assert.equal((await acme.sms({ to: british })).status, 201);
    const rejected = await operator.send<SenderRecord>('POST', `${operatorPath}/${id}/reject`, {
      reason: 'A bank’s name',
    });
    assert.deepEqual([rejected.body.status, rejected.body.reason], ['rejected', 'A bank’s name']);
    assert.equal((await acme.sms({ to: british })).status, 400);
    assert.equal((await list(acme)).data[0]?.reason, 'A bank’s name');
    const again = await acme.hold('ACME');
    assert.equal((await acme.sms({ to: british })).status, 201);
    assert.equal((await acme.developer.send('DELETE', `${pathOf(acme.id)}/${again}`)).status, 204);
    assert.equal((await acme.developer.send('DELETE', `${pathOf(acme.id)}/${again}`)).status, 404);
    assert.equal((await acme.sms({ to: british })).status, 400);
    assert.equal((await operator.send('POST', `${operatorPath}/${id}/approve`, {})).status, 200, 'decided again');
    assert.equal((await acme.sms({ to: british })).status, 201);
  });

  test('a code has the first held sender of its country, by age; without one, a name that no application holds', async () => {
    const acme = await production.createCaller({ apis: ['verify'] });
    const senderTo = async (to: string) => {
      const { status, body } = await acme.start(to);
      assert.equal(status, 200, JSON.stringify(body));
      return senderOf(app, body.delivery?.message_id ?? '');
    };
    assert.equal(await senderTo('+447400000001'), 'Verify');
    const to = await acme.start(american);
    assert.deepEqual([to.status, problemsOf(to).map(({ field }) => field)], [400, ['to']]);
    await acme.hold('FIRST', ['FR']);
    await acme.hold('SECOND');
    await acme.hold('12015550199', ['US', 'GB']);
    assert.equal(await senderTo('+447400000002'), 'SECOND');
    assert.equal(await senderTo('+33612000001'), 'FIRST');
    assert.equal(await senderTo('+12015550124'), '12015550199', 'a name is passed over');
  });

  test('400 names the field', async () => {
    const acme = await production.createCaller({ apis: ['sms'] });
    for (const [body, field] of [
      [{ sender: 'Acme ü' }, 'sender'],
      [{ sender: '' }, 'sender'],
      [{ sender: 'x'.repeat(5000) }, 'sender'],
      [{}, 'sender'],
      [{ sender: 'ACME', countries: ['XX'] }, 'countries.0'],
      [{ sender: 'ACME', countries: ['GB', 'gb'] }, 'countries.1'],
      [{ sender: 'ACME', countries: 'GB' }, 'countries'],
      [{ sender: 'ACME', countries: Array(251).fill('GB') }, 'countries'],
    ] as const) {
      const answer = await ask(acme, body);
      assert.deepEqual([answer.status, problemsOf(answer)[0]?.field], [400, field], JSON.stringify(answer.body));
    }
    const { body } = await ask(acme, { sender: 'ACME' });
    for (const [decision, field] of [
      [{ carriers: ['nothere'] }, 'carriers.0'],
      [{ carriers: ['acme', '\0'] }, 'carriers.1'],
      [{ carriers: Array(21).fill('acme') }, 'carriers'],
      [{ per_second: 0 }, 'per_second'],
      [{ per_second: 1.5 }, 'per_second'],
      [{ registration: 'x'.repeat(129) }, 'registration'],
    ] as const) {
      const answer = await operator.send('POST', `${operatorPath}/${body.id}/approve`, decision);
      assert.deepEqual([answer.status, problemsOf(answer)[0]?.field], [400, field], JSON.stringify(answer.body));
    }
    assert.equal((await operator.send('POST', `${operatorPath}/${body.id}/reject`, {})).status, 400);
    assert.equal((await operator.send('GET', `${operatorPath}?status=x`)).status, 400);
    assert.equal((await list(acme)).data[0]?.status, 'pending');
  });

  test('a repeated wish, also of twenty at once, and one beyond a hundred get 409', async () => {
    const acme = await production.createCaller({ apis: ['sms'] });
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        ask(acme, { sender: 'ACME', countries: i % 2 ? ['GB', 'FR'] : ['FR', 'GB'] }),
      ),
    );
    assert.equal(answers.filter(({ status }) => status === 201).length, 1);
    assert.equal(answers.filter(({ body }) => body.code === 'ALREADY_EXISTS').length, 19);
    assert.equal((await ask(acme, { sender: '447700911222' })).status, 201);
    assert.equal((await ask(acme, { sender: '+447700911222' })).body.code, 'ALREADY_EXISTS', 'with its plus');
    await app.db.database.query(
      `insert into sender (id, application_id, sender, countries, status, created_at)
       select 'snd_' || i, $1, 'S' || i, '{}', 'rejected', to_timestamp(0) from generate_series(1, 99) i`,
      [acme.id],
    );
    const full = await ask(acme, { sender: 'ANOTHER' });
    assert.deepEqual([full.status, full.body.code], [409, 'INCOMPATIBLE_STATE']);
  });

  test('404: another account’s application and sender; operators’ routes for others', async () => {
    const acme = await production.createCaller({ apis: ['sms'] });
    const eve = await production.createCaller({ apis: ['sms'] });
    const { body } = await ask(acme, { sender: 'ACME' });
    const own = pathOf(acme.id);
    for (const [method, path, given] of [
      ['POST', own, { sender: 'EVE' }],
      ['GET', own, undefined],
      ['DELETE', `${own}/${body.id}`, undefined],
      ['DELETE', `${pathOf(eve.id)}/${body.id}`, undefined],
      ['POST', pathOf('%00'), { sender: 'EVE' }],
      ['DELETE', `${pathOf(eve.id)}/%00`, undefined],
      ['GET', operatorPath, undefined],
      ['POST', `${operatorPath}/${body.id}/approve`, {}],
      ['POST', `${operatorPath}/${body.id}/reject`, { reason: 'x' }],
    ] as const) {
      assert.equal((await eve.developer.send(method, path, given)).status, 404, `${method} ${path}`);
    }
    for (const id of ['snd_01jcq0000000000000000000zz', 'x', '%00']) {
      assert.equal((await operator.send('POST', `${operatorPath}/${id}/approve`, {})).status, 404);
    }
    assert.equal((await send(app, 'GET', own)).status, 401);
    assert.deepEqual((await list(acme)).data, [body]);
  });

  test('lists are paged, by status, newest first', async () => {
    const acme = await production.createCaller({ apis: ['sms'] });
    for (const sender of ['ONE', 'TWO', 'THREE']) await acme.hold(sender);
    const page = await operator.send<{ data: SenderRecord[]; next_cursor: string }>(
      'GET',
      `${operatorPath}?status=approved&limit=2`,
    );
    assert.deepEqual(
      page.body.data.map(({ sender }) => sender),
      ['THREE', 'TWO'],
    );
    const next = await operator.send<{ data: SenderRecord[] }>(
      'GET',
      `${operatorPath}?status=approved&limit=1&cursor=${page.body.next_cursor}`,
    );
    assert.deepEqual(
      next.body.data.map(({ sender }) => sender),
      ['ONE'],
    );
  });

  test('deleting the application deletes its senders', async () => {
    const acme = await production.createCaller({ apis: ['sms'] });
    await acme.hold('ACME');
    assert.equal((await acme.developer.send('DELETE', `/portal/v1/applications/${acme.id}`)).status, 204);
    const { count } = await app.db.database.query('select 1 from sender where application_id = $1', [acme.id]);
    assert.equal(count, 0);
  });
});

describe('production that is open', () => {
  test('any sender but a name to the US; codes carry the application’s name', async () => {
    const { app, createCaller } = await createProduction({ env: { HELIOGRAPH_SENDERS: 'open' } });
    const acme = await createCaller();
    assert.equal((await acme.sms({ to: british, from: 'ANYBODY' })).status, 201);
    assert.equal((await acme.sms({ to: american, from: 'ANYBODY' })).status, 400);
    assert.equal((await acme.sms({ to: american, from: '12015550199' })).status, 201);
    const { body } = await acme.start('+447400000001');
    assert.equal(await senderOf(app, body.delivery?.message_id ?? ''), 'ACME');
    await acme.hold('HELD');
    const second = await acme.start('+447400000002');
    assert.equal(await senderOf(app, second.body.delivery?.message_id ?? ''), 'HELD');
    await app.close();
  });
});

describe('in the sandbox', () => {
  let app: TestApp;
  before(async () => {
    app = await createTestApp({ delivery: 'held' });
  });
  after(() => app.close());

  test('every sender is there, and one that is asked for is approved at once', async () => {
    const acme = await createSender(app);
    for (const from of ['ACME', 'BANK', '80123']) assert.equal((await acme.sms({ to: american, from })).status, 201);
    const asked = await acme.developer.send<SenderRecord>('POST', pathOf(acme.id), { sender: 'BANK' });
    assert.deepEqual([asked.status, asked.body.status], [201, 'approved']);
    const { body } = await acme.sms({ from: 'OTHER' });
    assert.equal((body as TextRecord).from, 'OTHER');
  });

  test('an operator’s limit for a sender holds in the worker', async () => {
    const busy = await createTestApp();
    const operator = await createOperator(busy);
    const acme = await createSender(busy, { apis: ['sms'] });
    const asked = await acme.developer.send<SenderRecord>('POST', pathOf(acme.id), { sender: 'ACME' });
    const approved = await operator.send('POST', `${operatorPath}/${asked.body.id}/approve`, { per_second: 2 });
    assert.equal(approved.status, 200);
    const held = async () => (await busy.db.database.query('select 1 from delivery_schedule')).count;
    const arrived = async () => (await busy.db.database.query('select 1 from handset_text')).count;
    let sent = 0;
    // The worker reads limits every two seconds. Then two texts leave, since the clock stands still, and no third.
    await eventually('the worker to hold a text back', async () => {
      const { status } = await acme.sms();
      assert.equal(status, 201);
      sent++;
      return (await held()) > 0;
    });
    await eventually('all to leave at their pace', async () => {
      busy.clock.advance(1000);
      return (await arrived()) === sent && (await held()) === 0;
    });
    await busy.close();
  });

  test('a developer without the application gets 404', async () => {
    const acme = await createSender(app);
    const eve = await signUp(app);
    assert.equal((await eve.send('GET', pathOf(acme.id))).status, 404);
  });
});
