import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { rightChannel, sendingChannels } from '../../src/messages/channel.ts';
import { derivedCode } from '../../src/verify/code.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { send } from '../support/developer.ts';
import { beginFeed, readUntil } from '../support/event-feed.ts';
import { createVerifyCaller, type VerificationBody, type VerifyCaller } from '../support/verify-caller.ts';

let app: TestApp;
let acme: VerifyCaller;
before(async () => {
  app = await createTestApp();
  acme = await createVerifyCaller(app);
});
after(() => app.close());

describe('POST /verify/v1/verifications', () => {
  test('200 with Location and the record', async () => {
    const to = acme.newNumber();
    const answer = await acme.start({ to, reference: 'order 7' });
    assert.equal(answer.status, 200);
    const { body } = answer;
    assert.match(body.id, /^ver_[0-9a-z]{26}$/);
    assert.equal(answer.headers.get('location'), `/verify/v1/verifications/${body.id}`);
    assert.deepEqual(Object.keys(body), [
      'id',
      'to',
      'channel',
      'status',
      'reason',
      'code_length',
      'attempts',
      'attempts_remaining',
      'sends',
      'sent',
      'resend_available_at',
      'created_at',
      'updated_at',
      'expires_at',
      'approved_at',
      'delivery',
      'deliveries',
      'reference',
    ]);
    assert.deepEqual(
      [
        body.to,
        body.channel,
        body.status,
        body.reason,
        body.code_length,
        body.attempts,
        body.attempts_remaining,
        body.sends,
        body.sent,
      ],
      [to, 'sms', 'pending', null, 6, 0, 5, 1, true],
    );
    assert.equal(Date.parse(body.expires_at) - Date.parse(body.created_at), 600_000);
    assert.equal(Date.parse(body.resend_available_at ?? '') - Date.parse(body.created_at), 2000);
    assert.equal(body.delivery?.status, 'queued');
    assert.match(body.delivery?.message_id ?? '', /^msg_/);
    assert.equal(body.reference, 'order 7');
  });

  test('the code arrives as a text, once, and is in no answer', async () => {
    const to = acme.newNumber();
    const { body } = await acme.start({ to });
    const texts = await acme.texts(to, 1);
    assert.equal(texts.length, 1);
    assert.equal(texts[0]?.verification_id, body.id);
    const code = acme.codeIn(texts[0]?.text ?? '');
    assert.match(code, /^[0-9]{6}$/);
    assert.ok(!JSON.stringify(body).includes(code));
  });

  test('400: every bad field is listed', async () => {
    const answer = await acme.send('POST', '/verify/v1/verifications', {
      to: '0123',
      channel: 5,
      code_length: 3,
      ttl_seconds: 601,
      reference: 'x'.repeat(129),
      locale: 'not a locale',
      autofill: { domain: 'http://x' },
    });
    assert.equal(answer.status, 400);
    assert.equal(answer.body.code, 'INVALID_ARGUMENT');
    assert.deepEqual(
      (answer.body.details as { field: string }[]).map(({ field }) => field).sort((a, b) => a.localeCompare(b)),
      ['autofill.domain', 'channel', 'code_length', 'locale', 'reference', 'to', 'ttl_seconds'],
    );
  });

  test('400 UNSUPPORTED_CHANNEL names the ones that work', async () => {
    const answer = await acme.send('POST', '/verify/v1/verifications', { to: acme.newNumber(), channel: 'pigeon' });
    assert.equal(answer.status, 400);
    assert.equal(answer.body.code, 'UNSUPPORTED_CHANNEL');
    assert.ok(String(answer.body.message).includes(rightChannel([...sendingChannels, 'inbound'])));
  });

  test('a second start continues the first: same id, same code, same tries, same end; sent again after the wait', async () => {
    const to = acme.newNumber();
    const first = await acme.start({ to, reference: 'first' });
    await acme.check(first.body.id, await acme.wrongCode(first.body.id, to));
    const early = await acme.start({ to, reference: 'second' });
    assert.deepEqual(
      [early.body.id, early.body.sends, early.body.attempts_remaining, early.body.reference, early.body.expires_at],
      [first.body.id, 1, 4, 'first', first.body.expires_at],
    );
    app.clock.advance(2000);
    const again = await acme.start({ to });
    assert.deepEqual([again.body.id, again.body.sends, again.body.attempts_remaining], [first.body.id, 2, 4]);
    assert.deepEqual([first.body.sent, early.body.sent, again.body.sent], [true, false, true]);
    const texts = await acme.texts(to, 2);
    assert.equal(texts.length, 2);
    assert.equal(acme.codeIn(texts[0]?.text ?? ''), acme.codeIn(texts[1]?.text ?? ''));
  });

  test('at most 5 sends; after that the record comes back unsent', async () => {
    const to = acme.newNumber();
    let sends = 0;
    for (let i = 0; i < 8; i++) {
      sends = (await acme.start({ to })).body.sends;
      app.clock.advance(2000);
    }
    assert.equal(sends, 5);
    assert.equal((await acme.texts(to, 5)).length, 5);
  });

  test('another code_length cancels it (superseded) and starts anew with the tries that were left', async () => {
    const to = acme.newNumber();
    const first = await acme.start({ to });
    await acme.check(first.body.id, await acme.wrongCode(first.body.id, to));
    const second = await acme.start({ to, code_length: 8 });
    assert.notEqual(second.body.id, first.body.id);
    assert.equal(second.body.attempts_remaining, 4);
    const old = await acme.read(first.body.id);
    assert.deepEqual([old.body.status, old.body.reason], ['canceled', 'superseded']);
  });

  test('starts of free, pending, failed and blocked numbers at once: each gets its own answer', async () => {
    const pending = await acme.pending();
    const guessed = await acme.pending();
    await acme.check(guessed.id, guessed.wrong);
    await acme.send('DELETE', `/verify/v1/verifications/${guessed.id}`);
    const fresh = Array.from({ length: 20 }, () => acme.newNumber());
    const numbers = [...fresh.slice(0, 10), pending.to, '+15005550112', guessed.to, ...fresh.slice(10)];
    const answers = await Promise.all(numbers.map((to) => acme.start({ to })));
    assert.deepEqual(
      answers.map(({ body }) => body.to),
      numbers,
    );
    for (const [index, { status, body }] of answers.entries()) {
      assert.equal(status, 200);
      if (fresh.includes(numbers[index] ?? '')) assert.deepEqual([body.status, body.sent], ['pending', true]);
    }
    const of = (to: string) => answers[numbers.indexOf(to)]?.body;
    assert.deepEqual([of(pending.to)?.id, of(pending.to)?.sent], [pending.id, false]);
    assert.deepEqual([of('+15005550112')?.status, of('+15005550112')?.sent], ['blocked', false]);
    assert.deepEqual([of(guessed.to)?.status, of(guessed.to)?.sent, of(guessed.to)?.attempts], ['pending', true, 0]);
  });

  test('an expired one does not keep its number occupied', async () => {
    const to = acme.newNumber();
    const first = await acme.start({ to, ttl_seconds: 60 });
    app.clock.advance(60_000);
    const second = await acme.start({ to });
    assert.notEqual(second.body.id, first.body.id);
    assert.deepEqual([(await acme.read(first.body.id)).body.status, second.body.status], ['expired', 'pending']);
  });
});

describe('POST /verify/v1/verifications/{id}', () => {
  test('right code: 200 approved, valid true, with a proof; then 409 for any well-formed code', async () => {
    const { id, code, wrong } = await acme.pending();
    const answer = await acme.check(id, code);
    assert.equal(answer.status, 200);
    assert.deepEqual([answer.body.status, answer.body.valid, answer.body.reason], ['approved', true, null]);
    assert.equal(typeof answer.body.proof, 'string');
    assert.equal(Date.parse(answer.body.approved_at ?? ''), app.clock.nowMs());
    for (const later of [code, wrong]) {
      const again = await acme.check(id, later);
      assert.equal(again.status, 409);
      assert.equal((again.body as unknown as { code: string }).code, 'VERIFICATION_ALREADY_APPROVED');
    }
  });

  test('wrong code, tries left: 200 pending, incorrect_code, one try less; the last try: failed', async () => {
    const { id, code, wrong } = await acme.pending();
    for (const remaining of [4, 3, 2, 1]) {
      const { status, body } = await acme.check(id, wrong);
      assert.deepEqual(
        [status, body.status, body.valid, body.reason, body.attempts_remaining],
        [200, 'pending', false, 'incorrect_code', remaining],
      );
    }
    const last = await acme.check(id, wrong);
    assert.deepEqual(
      [last.body.status, last.body.valid, last.body.reason, last.body.attempts_remaining],
      ['failed', false, 'max_attempts_reached', 0],
    );
    const right = await acme.check(id, code);
    assert.deepEqual([right.status, right.body.status, right.body.valid], [200, 'failed', false]);
  });

  test('already expired: 200 with that status; the right code does not help', async () => {
    const { id, code } = await acme.pending();
    app.clock.advance(600_000);
    const { status, body } = await acme.check(id, code);
    assert.deepEqual([status, body.status, body.valid, body.reason], [200, 'expired', false, 'ttl_elapsed']);
  });

  test('already canceled: 200 with that status', async () => {
    const { id, code } = await acme.pending();
    await acme.send('DELETE', `/verify/v1/verifications/${id}`);
    const { body } = await acme.check(id, code);
    assert.deepEqual([body.status, body.valid, body.reason], ['canceled', false, 'canceled_by_client']);
  });

  test('400, spending no try: code missing, a number, empty, not digits, fewer than 4 or more than 10', async () => {
    const { id } = await acme.pending();
    for (const body of [
      {},
      { code: 123456 },
      { code: '' },
      { code: '12345a' },
      { code: '123' },
      { code: '12345678901' },
      { code: '１２３４５６' },
      { code: '1'.repeat(60_000) },
      { code: null },
    ]) {
      const answer = await acme.send('POST', `/verify/v1/verifications/${id}`, body);
      assert.equal(answer.status, 400, JSON.stringify(body));
      assert.equal((answer.body.details as { field: string }[])[0]?.field, 'code');
    }
    assert.equal((await acme.read(id)).body.attempts_remaining, 5);
  });

  test('4 to 10 digits of another length are a wrong code, also of a test number; approved before, a 409', async () => {
    const { id, code } = await acme.pending();
    for (const [index, other] of ['1234', '1234567890', code.slice(0, 5)].entries()) {
      const { status, body } = await acme.check(id, other);
      assert.deepEqual(
        [status, body.status, body.valid, body.reason, body.attempts_remaining],
        [200, 'pending', false, 'incorrect_code', 4 - index],
      );
    }
    assert.equal((await acme.check(id, code)).body.status, 'approved');
    assert.equal((await acme.check(id, '1234')).status, 409);
    const test = await acme.start({ to: '+15005550106' });
    const wrong = await acme.check(test.body.id, '12345678');
    assert.deepEqual([wrong.body.status, wrong.body.attempts_remaining], ['pending', 4]);
    assert.equal((await acme.check(test.body.id, '123456')).body.status, 'approved');
  });

  test('the code that another length would have had is wrong', async () => {
    const { id } = await acme.pending();
    const { body } = await acme.check(id, derivedCode(app.keys, id, app.keys.version, 8));
    assert.deepEqual([body.status, body.valid], ['pending', false]);
  });

  test("404 for an unknown id and for another application's", async () => {
    const { id, code } = await acme.pending();
    const other = await createVerifyCaller(app);
    assert.equal((await acme.check('ver_00000000000000000000000000', '123456')).status, 404);
    assert.equal((await other.check(id, code)).status, 404);
    assert.equal((await other.read(id)).status, 404);
    assert.equal((await other.send('DELETE', `/verify/v1/verifications/${id}`)).status, 404);
    assert.equal((await acme.check(id, code)).body.valid, true);
  });

  test('15 wrong codes a day for a number, over all its verifications; then blocked (too_many_failures)', async () => {
    const to = acme.newNumber();
    const tries: number[] = [];
    for (let round = 0; round < 4; round++) {
      const { body } = await acme.start({ to });
      tries.push(body.attempts_remaining);
      const wrong = await acme.wrongCode(body.id, to);
      // The second verification leaves a try unused: the fourth gets what is left of fifteen.
      const wrongs = round === 1 ? 4 : 5;
      for (let i = 0; i < wrongs; i++) await acme.check(body.id, wrong);
      if (wrongs < 5) await acme.send('DELETE', `/verify/v1/verifications/${body.id}`);
    }
    assert.deepEqual(tries, [5, 5, 5, 1]);
    const { body } = await acme.start({ to });
    assert.deepEqual([body.status, body.reason, body.delivery], ['blocked', 'too_many_failures', null]);
    app.clock.advance(86_400_001);
    // A day later the token is over as well.
    acme = await createVerifyCaller(app, acme);
    assert.equal((await acme.start({ to })).body.status, 'pending');
  });
});

describe('GET, DELETE and lists', () => {
  test('GET 200 reads it, with the delivery as it is now and the proof until it expires', async () => {
    const caller = await createVerifyCaller(app);
    const { id, code } = await caller.pending();
    await caller.check(id, code);
    assert.equal(typeof (await caller.read(id)).body.proof, 'string');
    app.clock.advance(599_999);
    assert.equal(typeof (await caller.read(id)).body.proof, 'string');
    app.clock.advance(1);
    assert.equal((await caller.read(id)).body.proof, undefined);
  });

  test('DELETE 200 with the canceled record; its unsent text is canceled with it; 409 when terminal', async () => {
    const held = await createTestApp({ delivery: 'held' });
    const caller = await createVerifyCaller(held);
    const { body } = await caller.start({ to: caller.newNumber() });
    const canceled = await caller.send('DELETE', `/verify/v1/verifications/${body.id}`);
    assert.equal(canceled.status, 200);
    assert.deepEqual([canceled.body.status, canceled.body.reason], ['canceled', 'canceled_by_client']);
    assert.equal((canceled.body.delivery as { status: string }).status, 'canceled');
    const again = await caller.send('DELETE', `/verify/v1/verifications/${body.id}`);
    assert.equal(again.status, 409);
    assert.equal(again.body.code, 'INCOMPATIBLE_STATE');
    await held.close();
  });

  test('lists by to, status and reference; an expired one is listed as expired', async () => {
    const caller = await createVerifyCaller(app);
    const to = caller.newNumber();
    const first = await caller.start({ to, reference: 'a', ttl_seconds: 60 });
    app.clock.advance(60_000);
    const second = await caller.start({ to, reference: 'b' });
    const ids = async (query: string) =>
      (await caller.send<{ data: { id: string }[] }>('GET', `/verify/v1/verifications?${query}`)).body.data.map(
        ({ id }) => id,
      );
    assert.deepEqual(await ids(`to=${encodeURIComponent(to)}`), [second.body.id, first.body.id]);
    assert.deepEqual(await ids('status=expired'), [first.body.id]);
    assert.deepEqual(await ids('status=pending'), [second.body.id]);
    assert.deepEqual(await ids('reference=a'), [first.body.id]);
    assert.deepEqual(await ids('limit=1'), [second.body.id]);
  });
});

test('resend_available_at is null once no resend will come, in every answer, in lists and in events', async () => {
  const numbers = { canceled: acme.newNumber(), expired: acme.newNumber() };
  const key = { authorization: acme.authorization };
  const cursor = await beginFeed(app, key);
  const approved = await acme.pending();
  const sentOut = await acme.pending();
  const sends: (string | null)[] = [];
  for (let send = 2; send <= 5; send++) {
    app.clock.advance(2000);
    const { body } = await acme.start({ to: sentOut.to });
    assert.deepEqual([body.id, body.sends, body.sent], [sentOut.id, send, true]);
    sends.push(body.resend_available_at);
  }
  assert.deepEqual([sends.slice(0, 3).includes(null), sends.at(-1)], [false, null], 'null after the fifth send');
  const canceled = (await acme.start({ to: numbers.canceled })).body;
  const expired = (await acme.start({ to: numbers.expired, ttl_seconds: 60 })).body;
  assert.notEqual(canceled.resend_available_at, null);
  assert.equal((await acme.check(approved.id, approved.code)).body.resend_available_at, null);
  const path = `/verify/v1/verifications/${canceled.id}`;
  assert.equal((await acme.send<VerificationBody>('DELETE', path)).body.resend_available_at, null);
  app.clock.advance(60_000);
  assert.equal((await acme.check(expired.id, '000000')).body.resend_available_at, null);
  const ended = [approved.to, sentOut.to, numbers.canceled, numbers.expired];
  for (const to of ended) {
    const list = await acme.send<{ data: VerificationBody[] }>(
      'GET',
      `/verify/v1/verifications?to=${encodeURIComponent(to)}`,
    );
    assert.deepEqual(
      list.body.data.map(({ resend_available_at }) => resend_available_at),
      [null],
    );
    const [{ id = '' } = {}] = list.body.data;
    assert.equal((await acme.read(id)).body.resend_available_at, null);
  }
  // Verifications of other tests expire meanwhile, and have events, too.
  for (const subject of [approved.id, canceled.id]) {
    const [event] = await readUntil(app, key, cursor, 1, { subject });
    assert.equal((event?.data as VerificationBody | undefined)?.resend_available_at, null);
  }
});

describe('test numbers of the sandbox', () => {
  test('00 to 09: delivered, the code is the first n digits of 1234567890, no resend wait, no daily cap', async () => {
    const to = '+15005550104';
    const first = await acme.start({ to, code_length: 7 });
    const again = await acme.start({ to, code_length: 7 });
    assert.deepEqual([again.body.id, again.body.sends], [first.body.id, 2]);
    assert.equal((await acme.check(first.body.id, '1234567')).body.status, 'approved');
    for (let round = 0; round < 4; round++) {
      const { body } = await acme.start({ to });
      assert.equal(body.attempts_remaining, 5);
      for (let i = 0; i < 5; i++) await acme.check(body.id, '000000');
    }
    assert.equal((await acme.start({ to })).body.status, 'pending');
  });

  test('12: blocked (block_list); 13: expires after 2 s', async () => {
    const blocked = await acme.start({ to: '+15005550112' });
    assert.deepEqual([blocked.status, blocked.body.status, blocked.body.reason], [200, 'blocked', 'block_list']);
    assert.equal(blocked.body.sent, false);
    assert.ok(!('sent' in (await acme.read(blocked.body.id)).body));
    const { body } = await acme.check(blocked.body.id, '123456');
    assert.deepEqual([body.status, body.valid], ['blocked', false]);
    const short = await acme.start({ to: '+15005550113' });
    app.clock.advance(2000);
    assert.equal((await acme.check(short.body.id, '123456')).body.status, 'expired');
  });
});

test('production without a carrier: 503 UNAVAILABLE, and nothing is started', async () => {
  const production = await createTestApp({ env: { HELIOGRAPH_ENV: 'production' } });
  const caller = await createVerifyCaller(production);
  const answer = await caller.send('POST', '/verify/v1/verifications', { to: '+447400123456', channel: 'sms' });
  assert.equal(answer.status, 503);
  assert.ok(answer.headers.get('retry-after'));
  assert.equal((await send(production, 'GET', '/sandbox/v1/inbox')).status, 404);
  await production.close();
});

test('a NUL character is never a 500, wherever it stands', async () => {
  const unknown = await Promise.all([
    acme.send('GET', '/verify/v1/verifications/%00'),
    acme.send('DELETE', '/verify/v1/verifications/%00'),
    acme.send('POST', '/verify/v1/verifications/%00', { code: '123456' }),
  ]);
  for (const { status } of unknown) assert.equal(status, 404);
  const answers = await Promise.all([
    acme.send('GET', '/verify/v1/verifications?reference=%00'),
    acme.send('POST', '/verify/v1/verifications', { to: acme.newNumber(), channel: 'sms', reference: 'a\0b' }),
    send(app, 'POST', '/portal/v1/sessions', { body: { email: 'a\0@example.com', password: 'x' } }),
  ]);
  for (const { status } of answers) assert.equal(status, 400);
});

test('400 lists a channel that does not work beside the other bad fields; an overlong id is 404', async () => {
  const answer = await acme.send('POST', '/verify/v1/verifications', { to: '1', channel: 'x'.repeat(100) });
  assert.equal(answer.status, 400);
  assert.deepEqual(
    (answer.body.details as { field: string }[]).map(({ field }) => field),
    ['to', 'channel'],
  );
  assert.equal((await acme.read('v'.repeat(65))).status, 404);
});
