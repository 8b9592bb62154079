// Codes that the caller made: `code` in a start, as section 17 of the contract says.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createTestApp, type TestApp } from '../support/app.ts';
import { createVerifyCaller, type VerificationBody, type VerifyCaller } from '../support/verify-caller.ts';

let app: TestApp;
let acme: VerifyCaller;
before(async () => {
  app = await createTestApp();
  acme = await createVerifyCaller(app);
});
after(() => app.close());

const minuteMs = 60_000;
const shown = ({ sent, sends, status, attempts_remaining }: VerificationBody) => ({
  ...{ sent, sends, status, tries: attempts_remaining },
});

describe('200', () => {
  test('the text has the code, a check finds it right, and the proof is given', async () => {
    const to = acme.newNumber();
    const { status, body } = await acme.start({ to, code: '90417263' });
    assert.equal(status, 200);
    assert.deepEqual([body.code_length, body.sent, body.status], [8, true, 'pending']);
    assert.equal('code' in body, false);
    const [text] = await acme.texts(to, 1);
    assert.equal(acme.codeIn(text?.text ?? ''), '90417263');
    const wrong = await acme.check(body.id, '90417264');
    assert.deepEqual([wrong.body.valid, wrong.body.attempts_remaining], [false, 4]);
    const right = await acme.check(body.id, '90417263');
    assert.deepEqual([right.status, right.body.valid, right.body.status], [200, true, 'approved']);
    assert.equal(typeof right.body.proof, 'string');
    assert.equal((await acme.check(body.id, '90417263')).status, 409);
  });

  test('code_length may be given with it', async () => {
    const { status, body } = await acme.start({ to: acme.newNumber(), code: '1234', code_length: 4 });
    assert.deepEqual([status, body.code_length], [200, 4]);
  });

  test('the same code within 60 s is not sent again, later it is', async () => {
    const to = acme.newNumber();
    const first = (await acme.start({ to, code: '111222' })).body;
    await acme.check(first.id, '999999');
    app.clock.advance(minuteMs - 1);
    const repeated = (await acme.start({ to, code: '111222' })).body;
    assert.deepEqual(
      [repeated.id, shown(repeated)],
      [first.id, { sent: false, sends: 1, status: 'pending', tries: 4 }],
    );
    app.clock.advance(1);
    const again = (await acme.start({ to, code: '111222' })).body;
    assert.deepEqual([again.id, shown(again)], [first.id, { sent: true, sends: 2, status: 'pending', tries: 4 }]);
    assert.equal(again.expires_at, first.expires_at);
    const texts = await acme.texts(to, 2);
    assert.deepEqual(
      texts.map(({ text }) => acme.codeIn(text)),
      ['111222', '111222'],
    );
  });

  test('another code supersedes it and is sent at once, with the tries that were left', async () => {
    const to = acme.newNumber();
    const first = (await acme.start({ to, code: '111222' })).body;
    for (const code of ['000001', '000002']) await acme.check(first.id, code);
    const second = (await acme.start({ to, code: '333444' })).body;
    assert.notEqual(second.id, first.id);
    assert.deepEqual(shown(second), { sent: true, sends: 1, status: 'pending', tries: 3 });
    const over = (await acme.read(first.id)).body;
    assert.deepEqual([over.status, over.reason], ['canceled', 'superseded']);
    assert.equal((await acme.check(second.id, '111222')).body.valid, false);
    assert.equal((await acme.check(second.id, '333444')).body.valid, true);
  });

  test('a code that was superseded within 10 minutes is a late repeat; after that it is sent', async () => {
    const to = acme.newNumber();
    await acme.start({ to, code: '111111' });
    app.clock.advance(5 * minuteMs);
    const second = (await acme.start({ to, code: '222222' })).body;
    const late = (await acme.start({ to, code: '111111' })).body;
    assert.deepEqual([late.id, late.sent], [second.id, false]);
    app.clock.advance(9 * minuteMs);
    const third = (await acme.start({ to, code: '333333' })).body;
    assert.equal(third.sent, true);
    app.clock.advance(minuteMs - 1);
    assert.deepEqual([(await acme.start({ to, code: '111111' })).body.id], [third.id]);
    app.clock.advance(1);
    const fourth = (await acme.start({ to, code: '111111' })).body;
    assert.deepEqual([fourth.sent, fourth.id === third.id], [true, false]);
    assert.equal((await acme.check(fourth.id, '111111')).body.valid, true);
  });

  test('codes of ours and of the caller supersede each other', async () => {
    const to = acme.newNumber();
    const ours = (await acme.start({ to })).body;
    const theirs = (await acme.start({ to, code: '606060' })).body;
    assert.deepEqual([theirs.sent, theirs.id === ours.id], [true, false]);
    const again = (await acme.start({ to })).body;
    assert.deepEqual([again.sent, again.id === theirs.id], [true, false]);
    const late = (await acme.start({ to, code: '606060' })).body;
    assert.deepEqual([late.id, late.sent], [again.id, false]);
    assert.equal((await acme.check(again.id, '606060')).body.valid, false);
    const inbound = (await acme.start({ to, channel: 'inbound' })).body;
    const later = (await acme.start({ to, code: '606060' })).body;
    assert.deepEqual([later.id, later.channel, later.sent], [inbound.id, 'inbound', false]);
  });

  test('an idempotent replay sends nothing, and a code of another length is a wrong one', async () => {
    const to = acme.newNumber();
    const start = () =>
      acme.send<VerificationBody>(
        'POST',
        '/verify/v1/verifications',
        { to, channel: 'sms', code: '424242' },
        { 'idempotency-key': `given-${to}` },
      );
    const [first, replay] = [await start(), await start()];
    assert.deepEqual(replay.body, first.body);
    assert.equal((await acme.check(first.body.id, '4242421')).body.attempts_remaining, 4);
  });

  test('a test number takes the code of the caller', async () => {
    const to = '+15005550100';
    const { body } = await acme.start({ to, code: '808080' });
    assert.equal((await acme.check(body.id, '123456')).body.valid, false);
    assert.equal((await acme.check(body.id, '808080')).body.valid, true);
  });

  test('a handset shows dots for a verification that has ended', async () => {
    const to = acme.newNumber();
    const { body } = await acme.start({ to, code: '7654', autofill: { domain: 'example.com' } });
    const [before] = await acme.texts(to, 1);
    assert.match(before?.text ?? '', /7654/);
    await acme.check(body.id, '7654');
    const [text] = await acme.texts(to, 1);
    assert.equal(text?.text, before?.text.replaceAll('7654', '••••'));
    const lapsed = acme.newNumber();
    await acme.start({ to: lapsed, code: '765432', ttl_seconds: 60 });
    await acme.texts(lapsed, 1);
    app.clock.advance(minuteMs);
    assert.match((await acme.texts(lapsed, 1))[0]?.text ?? '', /••••••/);
  });
});

describe('400', () => {
  const field = async (body: object) => {
    const answer = await acme.send<{ details?: { field: string }[] }>('POST', '/verify/v1/verifications', {
      ...{ to: acme.newNumber(), channel: 'sms' },
      ...body,
    });
    return [answer.status, ...(answer.body.details ?? []).map((each) => each.field)];
  };

  test('a code that is not 4 to 10 digits', async () => {
    for (const code of ['', '123', '12345678901', '12a4', ' 1234', '１２３４', 123456, ['1234'], {}])
      assert.deepEqual(await field({ code }), [400, 'code'], JSON.stringify(code));
  });

  test('code_length that differs from it', async () => {
    assert.deepEqual(await field({ code: '1234', code_length: 6 }), [400, 'code_length']);
  });
});

test('per_number counts each code, and a blocked start supersedes nothing', async () => {
  const guarded = await createTestApp({ env: { HELIOGRAPH_GUARD: JSON.stringify({ per_number: 2 }) } });
  const caller = await createVerifyCaller(guarded);
  const to = caller.newNumber();
  await caller.start({ to, code: '111111' });
  const second = (await caller.start({ to, code: '222222' })).body;
  const third = (await caller.start({ to, code: '333333' })).body;
  assert.deepEqual([third.status, third.reason, third.sent], ['blocked', 'destination_limit', false]);
  assert.equal((await caller.read(second.id)).body.status, 'pending');
  assert.equal((await caller.check(second.id, '222222')).body.valid, true);
  await guarded.close();
});
