// Section 7 of the contract: what is accepted, what is refused, and the record that comes back.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { rightNumber } from '../../src/messages/numbers/phone-number.ts';
import { rightSender } from '../../src/messages/numbers/sender.ts';
import { rightText } from '../../src/messages/text/text.ts';
import { dayMs } from '../../src/platform/clock.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { send } from '../support/developer.ts';
import { countMessages, createSender, type Refusal, type Sender, text } from '../support/texts.ts';

let app: TestApp;
let acme: Sender;
before(async () => {
  app = await createTestApp({ delivery: 'held' });
  acme = await createSender(app);
});
after(() => app.close());

const inMs = (ms: number) => new Date(app.clock.nowMs() + ms).toISOString();

/** What was refused, and what would be right; after making sure that nothing was sent. */
async function refusals(given: Record<string, unknown>): Promise<Refusal['details']> {
  const before = await countMessages(app, acme.id);
  const answer = await acme.sms(given);
  const { code, details, message } = answer.body as unknown as Refusal;
  assert.equal(answer.status, 400, JSON.stringify(given));
  assert.equal(code, 'INVALID_ARGUMENT');
  for (const { field } of details) assert.ok(message.includes(field));
  assert.equal(await countMessages(app, acme.id), before);
  return details;
}

/** What is wrong with the one field that is. */
async function refused(field: string, value: unknown, rest: Record<string, unknown> = {}): Promise<string> {
  const [problem, ...more] = await refusals({ ...rest, [field]: value });
  assert.deepEqual([problem?.field, more], [field, []]);
  return problem?.message ?? '';
}

describe('POST /sms/v1/messages 201', () => {
  test('Location, and the record with every field in its order', async () => {
    const { status, headers, body } = await acme.sms();
    assert.equal(status, 201);
    assert.equal(headers.get('location'), `/sms/v1/messages/${body.id}`);
    assert.match(headers.get('content-type') ?? '', /^application\/json\b/);
    assert.match(body.id, /^msg_[0-9a-z]{26}$/);
    const now = inMs(0);
    const expected = {
      id: body.id,
      to: '+447700900123',
      from: 'ACME',
      message: 'Hello',
      channel: 'sms',
      status: 'queued',
      segments: { count: 1, encoding: 'GSM-7', characters: 5, remaining: 155 },
      reference: null,
      error: null,
      created_at: now,
      updated_at: now,
      sent_at: null,
      delivered_at: null,
      expires_at: inMs(dayMs),
      possible_duplicates: 0,
    };
    assert.equal(JSON.stringify(body), JSON.stringify(expected));
    assert.equal(headers.get('idempotency-replayed'), null);
  });

  test('it is on disk, and its Location reads the same record, byte for byte', async () => {
    const made = await acme.sms({ message: 'Grüße 👋 €', reference: 'order 7 ✓' });
    assert.equal(made.status, 201);
    const read = await send(app, 'GET', made.headers.get('location') ?? '', { headers: acme.key });
    assert.equal(read.status, 200);
    assert.equal(JSON.stringify(read.body), JSON.stringify(made.body));
  });

  test('validity_seconds says when it expires, send_at when it leaves; then it is scheduled', async () => {
    const shortest = await acme.sms({ validity_seconds: 60 });
    assert.equal(shortest.body.expires_at, inMs(60_000));
    const longest = await acme.sms({ validity_seconds: 259_200, send_at: inMs(7 * dayMs) });
    assert.equal(longest.status, 201);
    assert.equal(longest.body.status, 'scheduled');
    assert.equal(longest.body.expires_at, inMs(7 * dayMs + 259_200_000));
    const elsewhere = inMs(3_600_000 + 7_200_000).replace('Z', '+02:00');
    const offset = await acme.sms({ send_at: elsewhere, validity_seconds: 60 });
    assert.equal(offset.body.expires_at, inMs(3_660_000));
    // Otherwise a retry with the same Idempotency-Key would be refused once the time has come.
    const passed = await acme.sms({ send_at: inMs(-60_000) });
    assert.deepEqual([passed.status, passed.body.status, passed.body.expires_at], [201, 'queued', inMs(dayMs)]);
  });

  test('null stands for an optional reference or send_at; unknown properties are ignored', async () => {
    const { status, body } = await acme.sms({ reference: null, send_at: null, colour: 'red', channel: 7, status: 'x' });
    assert.equal(status, 201);
    assert.deepEqual([body.reference, body.status, body.channel], [null, 'queued', 'sms']);
    assert.ok(!('colour' in body));
  });

  test('the longest reference, and each kind of sender', async () => {
    const reference = '😀'.repeat(128);
    assert.equal((await acme.sms({ reference })).body.reference, reference);
    for (const from of ['A', 'A&B. C-D_E+', '123', '+447700900999', '123456789012345']) {
      const { status, body } = await acme.sms({ from });
      assert.deepEqual([status, body.from], [201, from]);
    }
  });

  test('10 segments exactly; one character more is a 400 and nothing is truncated', async () => {
    for (const [character, most, encoding] of [
      ['x', 1530, 'GSM-7'],
      ['€', 760, 'GSM-7'],
      ['д', 670, 'UCS-2'],
      ['😀', 330, 'UCS-2'],
    ] as const) {
      const message = character.repeat(most);
      const { status, body } = await acme.sms({ message });
      assert.equal(status, 201, character);
      assert.deepEqual([body.segments.count, body.segments.encoding, body.message], [10, encoding, message]);
      const problem = await refused('message', message + character);
      assert.match(problem, /must fit in 10 segments/);
    }
  });

  test('smart_encoding sends plain characters instead, also where that is what makes it fit', async () => {
    const { status, body } = await acme.sms({ message: '“It’s” – here…', smart_encoding: true });
    assert.equal(status, 201);
    assert.equal(body.message, '"It\'s" - here...');
    assert.deepEqual(body.segments, { count: 1, encoding: 'GSM-7', characters: 16, remaining: 144 });
    const long = `${'x'.repeat(1500)}’`;
    assert.equal((await acme.sms({ message: long, smart_encoding: true })).status, 201);
    assert.match(await refused('message', long), /10 segments/);
    assert.match(await refused('message', '\u200b', { smart_encoding: true }), /at least one character/);
  });
});

describe('POST /sms/v1/messages 400: every bad field, and what would be right', () => {
  test('to', async () => {
    for (const to of [
      '',
      '447700900123',
      '+0447700900',
      '+44770',
      '+4477009001234567',
      '+44 7700 900123 ',
      ' +447700900123',
    ]) {
      assert.match(await refused('to', to), /like \+447700900123/, to);
    }
  });

  test('from', async () => {
    for (const from of ['', '12', '1234567890123456', 'TwelveLetter', 'Ä', 'A\n', '++123', 'A/B']) {
      assert.match(await refused('from', from), /like ACME/, from);
    }
  });

  test('message: empty, NUL, an unpaired surrogate', async () => {
    assert.match(await refused('message', ''), /at least one character/);
    assert.match(await refused('message', 'a\0b'), /NUL/);
    for (const message of ['a\ud83d', '\ude00b', '\ude00\ud83d']) {
      assert.match(await refused('message', message), /unpaired surrogate/);
    }
  });

  test('reference: too long, or what no database could give back as it was', async () => {
    assert.equal(await refused('reference', 'x'.repeat(129)), 'must have at most 128 characters');
    for (const reference of ['a\0b', '\ud800', '\udc00x']) {
      assert.match(await refused('reference', reference), /must not contain/);
    }
  });

  test('validity_seconds', async () => {
    for (const validity_seconds of [59, 259_201, 0, -60, 60.5, '60', null, true]) {
      const problem = await refused('validity_seconds', validity_seconds);
      assert.equal(problem, 'must be a whole number of seconds from 60 to 259200');
    }
  });

  test('send_at: more than 7 days ahead, no RFC 3339 time, or a day or hour that there is not', async () => {
    const date = inMs(dayMs).slice(0, 10);
    const wrong = [
      '',
      'tomorrow',
      date,
      `${date}T10:00:00`,
      `${date} 10:00:00Z`,
      `${date}T24:00:00Z`,
      `${date}T10:60:00Z`,
    ];
    wrong.push(inMs(7 * dayMs + 1), '2020-02-30T10:00:00Z', '2021-02-29T10:00:00Z', `${date}T10:00:00+24:00`);
    wrong.push(`${date}T10:00:00+01:60`, '2020-13-01T00:00:00Z', '2020-00-10T00:00:00Z', '9999-12-31T23:59:59Z');
    for (const send_at of wrong) {
      assert.match(await refused('send_at', send_at), /up to 7 days ahead, like 20/, send_at);
    }
  });

  test('wrong types are refused, nothing is coerced', async () => {
    const wrong = { to: 447700900123, from: true, message: ['x'], reference: 5, send_at: 0, smart_encoding: 'true' };
    for (const [field, value] of Object.entries(wrong)) {
      assert.match(await refused(field, value), /^must be /, field);
    }
  });

  test('several at once', async () => {
    const problems = await refusals({ to: 'x', from: 7, message: '', validity_seconds: 1, send_at: 'x', reference: 1 });
    assert.deepEqual(problems.map(({ field }) => field).sort(), [
      'from',
      'message',
      'reference',
      'send_at',
      'to',
      'validity_seconds',
    ]);
    const headers = acme.key;
    const empty = await send<Refusal>(app, 'POST', '/sms/v1/messages', { body: {}, headers });
    assert.deepEqual(empty.body.details, [
      { field: 'to', message: `is required: ${rightNumber}` },
      { field: 'from', message: `is required: ${rightSender}` },
      { field: 'message', message: `is required: ${rightText}` },
    ]);
    for (const body of [[], 'x', 7, null, [text]]) {
      const answer = await send<Refusal>(app, 'POST', '/sms/v1/messages', { body, headers });
      assert.equal(answer.status, 400);
      assert.equal(answer.body.details[0]?.field, 'body');
    }
  });
});
