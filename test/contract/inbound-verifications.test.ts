// Verifications that the person's own text approves: `channel: "inbound"`, section 21 of the contract.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createInbound } from '../../src/compose/inbound.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { beginFeed, readFeed } from '../support/event-feed.ts';
import { createSender, type Sender } from '../support/texts.ts';
import { createVerifyCaller, type VerificationBody, type VerifyCaller } from '../support/verify-caller.ts';

const number = '+15005550199';
let app: TestApp;
let acme: VerifyCaller;
before(async () => {
  app = await createTestApp();
  acme = await createVerifyCaller(app);
});
after(() => app.close());

type Started = VerificationBody & { inbound?: { number: string; text: string } };

async function started(caller = acme, to = caller.newNumber()) {
  const { status, body } = await caller.start({ to, channel: 'inbound' });
  assert.equal(status, 200, JSON.stringify(body));
  const { inbound = { number: '', text: '' } } = body as Started;
  return { ...(body as Started), to, text: inbound.text };
}

const reply = (from: string, message: string, to = number, caller = acme) =>
  caller.send<{ verification_id?: string; id?: string }>('POST', '/sandbox/v1/inbox/replies', { from, to, message });
const statusOf = async (id: string) => (await acme.read(id)).body.status;

describe('a start', () => {
  test('200: nothing is sent, and the answer has the number and the text, which names the application', async () => {
    const { inbound, ...body } = await started();
    assert.deepEqual([inbound?.number, body.channel, body.status], [number, 'inbound', 'pending']);
    assert.match(inbound?.text ?? '', /^ACME \d{8}$/);
    assert.deepEqual(
      [body.sends, body.sent, body.delivery, body.resend_available_at, body.attempts_remaining],
      [0, false, null, null, 5],
    );
    assert.equal((await acme.texts(body.to, 0)).length, 0);
    assert.equal('inbound' in (await acme.read(body.id)).body, false);
  });

  test('a second one continues it with the same text; a code and a text supersede each other', async () => {
    const first = await started();
    const again = await started(acme, first.to);
    assert.deepEqual([again.id, again.text], [first.id, first.text]);
    const code = await acme.start({ to: first.to });
    assert.notEqual(code.body.id, first.id);
    assert.equal((await acme.read(first.id)).body.reason, 'superseded');
    const third = await started(acme, first.to);
    assert.notEqual(third.id, code.body.id);
    assert.equal((await reply(first.to, first.text)).body.verification_id, undefined);
    assert.equal((await reply(first.to, third.text)).body.verification_id, third.id);
  });

  test('parallel starts make one verification', async () => {
    const to = acme.newNumber();
    const all = await Promise.all(Array.from({ length: 6 }, () => started(acme, to)));
    assert.deepEqual([new Set(all.map(({ id }) => id)).size, new Set(all.map(({ text }) => text)).size], [1, 1]);
  });

  test('400 with a code or a payment', async () => {
    const payment = { amount: '10.00', currency: 'EUR', payee: 'Acme Shop' };
    for (const wrong of [{ code: '123456' }, { payment }]) {
      assert.equal((await acme.start({ to: acme.newNumber(), channel: 'inbound', ...wrong })).status, 400);
    }
  });
});

describe('the text', () => {
  test('approves at once, in any case and spacing, makes no record of a text, and one event', async () => {
    const cursor = await beginFeed(app, { authorization: acme.authorization });
    const { id, to, text } = await started();
    const answer = await reply(to, `  ${text.toLowerCase().replace(' ', '   ')} `);
    assert.deepEqual([answer.status, answer.body], [201, { verification_id: id }]);
    const { body } = await acme.read(id);
    assert.deepEqual([body.status, body.attempts], ['approved', 0]);
    const claims = JSON.parse(Buffer.from((body.proof ?? '').split('.')[1] ?? '', 'base64url').toString());
    assert.deepEqual([claims.amr, claims.phone_number, 'assurance' in claims], [['inbound'], to, false]);
    const events = await readFeed(app, { authorization: acme.authorization }, { cursor, subject: id });
    assert.deepEqual(
      events.body.data.map(({ type }) => type),
      ['verification.approved'],
    );
    const { count } = await app.db.database.query('select from inbound_text where sender = $1', [to]);
    assert.equal(count, 0);
  });

  test('of another number, of another verification, with more words, or to another number, approves nothing', async () => {
    const one = await started();
    const two = await started();
    const other = await createVerifyCaller(app);
    const theirs = await started(other, one.to);
    const refused: [string, string, string][] = [
      [two.to, one.text, 'a foreign phone'],
      [one.to, two.text, 'the text of another verification'],
      [one.to, `${one.text} please`, 'more words'],
      [one.to, one.text.slice(5), 'the digits alone'],
      [one.to, one.text.slice(0, -1), 'a digit less'],
    ];
    for (const [from, message, name] of refused) {
      const { status, body } = await reply(from, message);
      assert.deepEqual([status, body.verification_id], [201, undefined], name);
      assert.match(body.id ?? '', /^inb_/, `${name} is shown as a text`);
    }
    for (const { id } of [one, two]) assert.equal(await statusOf(id), 'pending');
    // Each application has its own text, and the phone can answer both.
    assert.equal((await reply(one.to, theirs.text)).body.verification_id, theirs.id);
    assert.equal(await statusOf(one.id), 'pending');
    assert.equal((await reply(one.to, one.text)).body.verification_id, one.id);
  });

  test('repeated or late, it approves nothing; two at once approve once', async () => {
    const one = await started();
    const both = await Promise.all([reply(one.to, one.text), reply(one.to, one.text)]);
    assert.equal(both.filter(({ body }) => body.verification_id === one.id).length, 1);
    assert.equal((await reply(one.to, one.text)).body.verification_id, undefined);
    const late = await started();
    app.clock.advance(600_000);
    assert.equal((await reply(late.to, late.text)).body.verification_id, undefined);
    assert.equal(await statusOf(late.id), 'expired');
    const canceled = await started();
    await acme.send('DELETE', `/verify/v1/verifications/${canceled.id}`);
    assert.equal((await reply(canceled.to, canceled.text)).body.verification_id, undefined);
  });

  test('through a carrier whose senders are not trusted, it approves nothing', async () => {
    const { id, to, text } = await started();
    const source = { key: 'acme#7', account: '7.1', confirmsOptOuts: false };
    const sent = { carrierMessageId: 'a-1', from: to, to: number, text, part: null };
    await app.db.database.query(
      `insert into carrier (id, name, kind, settings, version, generation, created_at, updated_at)
       values (7, 'acme', 'smpp', '{}', 1, 1, now(), now())`,
    );
    const { receiver } = createInbound({ ...app, database: app.db.database, wake: () => {} });
    await receiver.receive(source, [sent]);
    assert.equal(await statusOf(id), 'pending');
    await app.db.database.query(`update carrier set settings = '{"trusted_sender": true}' where id = 7`);
    await receiver.receive(source, [{ ...sent, carrierMessageId: 'a-2' }]);
    assert.equal(await statusOf(id), 'approved');
  });
});

test('a check of such a verification is a 409 and spends no try', async () => {
  const { id, to, text } = await started();
  for (const code of ['123456', text.slice(-8), text.slice(-6)]) {
    const { status, body } = await acme.check(id, code);
    assert.deepEqual([status, (body as unknown as { code: string }).code], [409, 'INCOMPATIBLE_STATE']);
  }
  assert.equal((await acme.send('POST', '/verify/v1/checks', { to, code: '123456' })).status, 409);
  assert.equal((await acme.read(id)).body.attempts, 0);
});

describe('the story of the verification shows what it refused, and why', () => {
  let owner: Sender;
  let caller: VerifyCaller;
  before(async () => {
    owner = await createSender(app, { apis: ['verify'] });
    const { client_id: clientId, client_secret: clientSecret } = owner.client;
    caller = await createVerifyCaller(app, { clientId, clientSecret } as VerifyCaller);
  });

  async function refusedBy(id: string): Promise<string[]> {
    const path = `/portal/v1/applications/${owner.id}/verifications/${id}`;
    const { body } = await owner.developer.send<{ timeline: { event: string; detail: string }[] }>('GET', path);
    return body.timeline.filter(({ event }) => event === 'refused').map(({ detail }) => detail);
  }

  test('a text of another number, a repeated one, and a late one', async () => {
    const { id, to, text } = await started(caller);
    await reply(to, 'an ordinary text', number, caller);
    assert.deepEqual(await refusedBy(id), []);
    await reply(caller.newNumber(), text, number, caller);
    assert.deepEqual(await refusedBy(id), [
      'A text with the right words came from another number, so it approves nothing',
    ]);
    await reply(to, text, number, caller);
    await reply(to, text.toUpperCase(), number, caller);
    assert.deepEqual((await refusedBy(id)).slice(1), [
      'The text came again after it had approved the verification, so it approves nothing',
    ]);
    const late = await started(caller);
    app.clock.advance(600_000);
    caller = await createVerifyCaller(app, caller);
    await reply(late.to, late.text, number, caller);
    assert.deepEqual(await refusedBy(late.id), [
      'The text came after the verification had ended, so it approves nothing',
    ]);
  });

  test('one through a carrier whose senders are not trusted, and one to another number', async () => {
    const { id, to, text } = await started(caller);
    const source = { key: 'other#77', account: '77.1', confirmsOptOuts: false };
    const { receiver } = createInbound({ ...app, database: app.db.database, wake: () => {} });
    const sent = { from: to, to: number, text, part: null };
    await receiver.receive(source, [{ ...sent, carrierMessageId: 'b-1' }]);
    await receiver.receive(source, [{ ...sent, to: '+447800900199', carrierMessageId: 'b-2' }]);
    assert.deepEqual(await refusedBy(id), [
      'The text came through a carrier whose senders are not trusted, so it approves nothing',
      'The text came to another number than the one in the verification, so it approves nothing',
    ]);
    assert.equal((await reply(to, text, number, caller)).body.verification_id, id);
  });

  test('no more than twenty of them; the rows hold no text and go with their verifications', async () => {
    const { id, to, text } = await started(caller);
    for (let count = 0; count < 22; count++) await reply(caller.newNumber(), text, number, caller);
    assert.equal((await refusedBy(id)).length, 20);
    const { rows } = await app.db.database.query<{ row: string }>('select t::text as row from awaited_text t');
    for (const { row } of rows) assert.ok(!row.includes(text.slice(-8)) && !row.includes(to.slice(1)));
    app.clock.advance(400 * 86_400_000);
    await app.delivery.maintenance.runAll();
    assert.equal((await app.db.database.query('select from awaited_text')).count, 0);
  });
});
