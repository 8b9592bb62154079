// Codes by voice and WhatsApp in the sandbox: sections 6 and 21 of the contract.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createTestApp, type TestApp } from '../support/app.ts';
import { eventually } from '../support/eventually.ts';
import { createVerifyCaller, type VerifyCaller } from '../support/verify-caller.ts';

let app: TestApp;
let acme: VerifyCaller;
before(async () => {
  app = await createTestApp();
  acme = await createVerifyCaller(app);
});
after(() => app.close());

const digits = 'zero one two three four five six seven eight nine'.split(' ');
const testNumber = (end: string) => `+150055501${end}`;

/** The code that a call says in English. */
function heard(text: string): string {
  const [, said = ''] = /is: ([a-z, ]+)\. Once more: \1\.$/.exec(text) ?? [];
  return said
    .split(', ')
    .map((word) => digits.indexOf(word))
    .join('');
}

async function until(id: string, status: string): Promise<void> {
  await eventually(`the last send to be ${status}`, async () => {
    app.clock.advance(100);
    return (await acme.read(id)).body.delivery?.status === status;
  });
}

describe('voice', () => {
  test('the phone rings, and a voice says the code digit by digit, twice; it is approved by it', async () => {
    const to = acme.newNumber();
    const { body } = await acme.start({ to, channel: 'voice' });
    assert.deepEqual([body.channel, body.status, body.sends, body.sent], ['voice', 'pending', 1, true]);
    const [call] = await acme.texts(to, 1);
    assert.deepEqual([call?.channel, call?.language, call?.segments.count], ['voice', 'en', 10]);
    const code = heard(call?.text ?? '');
    assert.match(code, /^[0-9]{6}$/, call?.text);
    await until(body.id, 'delivered');
    const checked = await acme.check(body.id, code);
    assert.deepEqual([checked.body.valid, checked.body.channel], [true, 'voice']);
    assert.deepEqual(
      checked.body.deliveries.map(({ channel, status, error }) => [channel, status, error]),
      [['voice', 'delivered', null]],
    );
  });

  test('the voice speaks the language of the verification', async () => {
    const to = acme.newNumber();
    await acme.start({ to, channel: 'voice', locale: 'de-AT' });
    const [call] = await acme.texts(to, 1);
    assert.equal(call?.language, 'de');
    assert.match(
      call?.text ?? '',
      /^Ihr Code für ACME ist: (?:null|eins|zwei|drei|vier|fünf|sechs|sieben|acht|neun), /,
    );
  });

  for (const [end, code] of [
    ['15', 'no_answer'],
    ['16', 'busy'],
    ['11', 'unreachable'],
  ] as const) {
    test(`a call to ${testNumber(end)} is undelivered: ${code}; a text arrives there`, async () => {
      const { body } = await acme.start({ to: testNumber(end), channel: 'voice' });
      await eventually('the call to ring out', async () => {
        app.clock.advance(1000);
        return (await acme.read(body.id)).body.delivery?.status === 'undelivered';
      });
      const { deliveries } = (await acme.read(body.id)).body;
      assert.deepEqual(
        deliveries.map(({ channel, error }) => [channel, error?.code]),
        [['voice', code]],
      );
      if (code === 'unreachable') return;
      const texted = await acme.start({ to: testNumber(end) });
      assert.equal(texted.body.id, body.id);
      await until(body.id, 'delivered');
    });
  }
});

describe('whatsapp', () => {
  test('the message arrives with the code', async () => {
    const to = acme.newNumber();
    const { body } = await acme.start({ to, channel: 'whatsapp', autofill: { domain: 'example.com' } });
    const [message] = await acme.texts(to, 1);
    assert.equal(message?.channel, 'whatsapp');
    assert.doesNotMatch(message?.text ?? '', /example\.com/, 'a line for the browser belongs to a text alone');
    assert.equal((await acme.check(body.id, acme.codeIn(message?.text ?? ''))).body.valid, true);
  });

  test('a number without WhatsApp fails for good', async () => {
    const { body } = await acme.start({ to: testNumber('17'), channel: 'whatsapp' });
    await until(body.id, 'failed');
    const { delivery } = (await acme.read(body.id)).body;
    assert.deepEqual(delivery?.error, {
      code: 'not_on_channel',
      message: 'The number does not use this channel.',
      permanent: true,
    });
  });
});

describe('another channel continues a pending verification', () => {
  test('at once, with the same id, code and tries; delivery shows the newest, deliveries all', async () => {
    const { id, to, code, wrong } = await acme.pending();
    await acme.check(id, wrong);
    const { body: called } = await acme.start({ to, channel: 'voice' });
    assert.deepEqual(
      [called.id, called.channel, called.sends, called.sent, called.attempts_remaining],
      [id, 'voice', 2, true, 4],
    );
    assert.equal(heard((await acme.texts(to, 2))[0]?.text ?? ''), code);
    const read = (await acme.read(id)).body;
    assert.deepEqual(
      read.deliveries.map(({ channel }) => channel),
      ['sms', 'voice'],
    );
    assert.equal(read.delivery?.message_id, read.deliveries[1]?.message_id);
    const { body: list } = await acme.send<{ data: object[] }>(
      'GET',
      `/verify/v1/verifications?to=${encodeURIComponent(to)}`,
    );
    assert.deepEqual((list.data[0] as typeof read).deliveries, read.deliveries);
    assert.equal((await acme.check(id, code)).body.deliveries.length, 2);
  });

  test('a channel that had the code waits like any resend', async () => {
    const { id, to } = await acme.pending();
    await acme.start({ to, channel: 'whatsapp' });
    const early = await acme.start({ to });
    assert.deepEqual([early.body.id, early.body.sent, early.body.channel], [id, false, 'whatsapp']);
    assert.equal(early.body.deliveries.length, 2);
    app.clock.advance(2000);
    const again = await acme.start({ to });
    assert.deepEqual([again.body.id, again.body.sent, again.body.channel, again.body.sends], [id, true, 'sms', 3]);
  });

  test('starts by several channels at once make one verification and one send for each', async () => {
    const to = acme.newNumber();
    const channels = ['sms', 'voice', 'whatsapp', 'voice', 'sms', 'whatsapp'];
    const answers = await Promise.all(channels.map((channel) => acme.start({ to, channel })));
    const ids = new Set(answers.map(({ body }) => body.id));
    assert.equal(ids.size, 1);
    const { deliveries } = (await acme.read([...ids][0] ?? '')).body;
    assert.deepEqual(new Set(deliveries.map(({ channel }) => channel)), new Set(['sms', 'voice', 'whatsapp']));
    assert.deepEqual([deliveries.length, answers.filter(({ body }) => body.sent).length], [3, 3]);
  });

  test('a code of the caller goes by the other channel too', async () => {
    const to = acme.newNumber();
    const { body } = await acme.start({ to, code: '482913' });
    const { body: called } = await acme.start({ to, code: '482913', channel: 'voice' });
    assert.deepEqual([called.id, called.sent], [body.id, true]);
    const [call] = await acme.texts(to, 2);
    assert.equal(heard(call?.text ?? ''), '482913');
    await acme.check(body.id, '482913');
    await eventually('the code to be erased', async () => {
      const [shown] = await acme.texts(to, 2);
      return shown?.text.includes('•, •, •, •, •, •') === true;
    });
  });
});

test('400 for an unknown channel names those that work, inbound included, also beside other bad fields', async () => {
  type Refused = { code: string; details: { field: string; message: string }[] };
  const start = (body: object) =>
    acme.send<Refused>('POST', '/verify/v1/verifications', { to: acme.newNumber(), ...body });
  const named = { field: 'channel', message: 'must be sms, voice, whatsapp or inbound' };
  const alone = await start({ channel: 'pigeon' });
  assert.deepEqual([alone.status, alone.body.code, alone.body.details], [400, 'UNSUPPORTED_CHANNEL', [named]]);
  const { body } = await start({ channel: 'pigeon', reference: '\0' });
  assert.deepEqual(body.code, 'INVALID_ARGUMENT');
  assert.deepEqual(body.details.at(-1), named);
});

test('a code by voice leaves no trace in clear', async () => {
  const to = acme.newNumber();
  await acme.start({ to, channel: 'voice' });
  const code = heard((await acme.texts(to, 1))[0]?.text ?? '');
  const { rows } = await app.db.database.query<{ row: string }>(
    'select m::text as row from message m where recipient = $1',
    [to],
  );
  assert.equal(rows.length, 1);
  assert.ok(!rows[0]?.row.includes(code) && !rows[0]?.row.includes(digits[Number(code[0])] ?? ''));
});
