// The document's schemas of the three APIs' bodies are as strict as the service: at each bound both take what is just
// inside and refuse what is just outside, and no text that a generator makes up divides them.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { problemsOf } from '../../src/http/request/validation.ts';
import { messagingChannels, sendingChannels } from '../../src/messages/channel.ts';
import { createSendRules } from '../../src/messages/send-rules.ts';
import { createStartRules } from '../../src/verify/start/rules.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { bearer, createRegistered, getToken, type TestApplication } from '../support/applications.ts';
import { send } from '../support/developer.ts';
import type { OpenApi } from './openapi-document.ts';

let app: TestApp;
let acme: TestApplication;
let document: OpenApi;
let tokens: { verify: Record<string, string>; messaging: Record<string, string> };
let isRight: (name: string, value: unknown) => boolean;
before(async () => {
  app = await createTestApp({ delivery: 'held' });
  acme = await createRegistered(app, undefined, 'enterprise');
  tokens = {
    verify: bearer(await getToken(app, acme.client, 'verify:manage')),
    messaging: bearer(await getToken(app, acme.client, 'messaging:send')),
  };
  document = (await send<OpenApi>(app, 'GET', '/openapi/apis.json')).body;
  isRight = createJudge(document);
});
after(() => app.close());

/** By the document alone, as a validator of a customer judges. RFC 3339 decides what a date-time is. */
function createJudge(described: OpenApi): (name: string, value: unknown) => boolean {
  const ajv = new Ajv2020({ strict: false, validateSchema: false });
  ajv.addFormat('date-time', (text: string) => {
    const [, day = '', time = ''] =
      /^(\d{4}-\d\d-\d\d)[Tt](\d\d:\d\d:\d\d)(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)$/.exec(text) ?? [];
    return day !== '' && time < '24:00:61' && new Date(`${day}T00:00:00Z`).toJSON()?.startsWith(day) === true;
  });
  ajv.addSchema({ components: described.components }, 'document');
  return (name, value) => {
    const validate = ajv.getSchema(`document#/components/schemas/${name}`);
    assert.ok(validate, `the document has no schema ${name}`);
    return validate(value) as boolean;
  };
}

const start = { to: '+447700900123', channel: 'sms' };
const text = { to: '+447700900123', from: 'ACME', message: 'Hello' };

interface Case {
  schema: string;
  path: string;
  headers: () => Record<string, string>;
  body: Record<string, unknown>;
  field: string;
  inside: unknown[];
  outside: unknown[];
}

const long = (length: number, character = 'a') => character.repeat(length);
const domain = (length: number) => `${`${long(60)}.`.repeat(2)}${long(length - 122 - 4)}.com`;

const numbers = {
  inside: ['+1234567', '+123456789012345', '+44 (7700) 900-123', `+1${' '.repeat(24)}234567`, '+1.2.3.4.5.6.7'],
  outside: [
    '+123456',
    '+1234567890123456',
    '447700900123',
    '+0447700900123',
    '+44 7700 900123 ',
    `+1${' '.repeat(25)}234567`,
  ],
};
const references = { inside: [null, '', long(128), long(128, '😀')], outside: [long(129), 'a\0b', 7] };
const texts = {
  inside: ['a', long(1530), long(670, '一'), '\n', '\u2028'],
  outside: ['', 'a\0', long(3061), 5, null],
};

const starting = {
  schema: 'VerificationToStart',
  path: '/verify/v1/verifications',
  headers: () => tokens.verify,
  body: start,
};
const sending = { schema: 'SmsToSend', path: '/sms/v1/messages', headers: () => ({ apikey: acme.apiKey }), body: text };
const messaging = {
  schema: 'MessageToSend',
  path: '/messaging/v1/messages',
  headers: () => tokens.messaging,
  body: text,
};
const cases: Case[] = [
  { ...starting, field: 'to', ...numbers },
  { ...starting, field: 'channel', inside: [...sendingChannels], outside: ['', 'SMS', 'pigeon', null, 1] },
  { ...starting, field: 'reference', ...references },
  {
    ...starting,
    field: 'locale',
    inside: [null, 'de', 'pt-BR', 'zh-Hant-TW', 'de-CH-1996', `en-x-${long(8)}-${long(8)}-${long(8)}-${long(3)}`],
    outside: [
      '',
      'd',
      'de_DE',
      'de-',
      'de--AT',
      long(9),
      `de-${long(9)}`,
      `en-x-${long(8)}-${long(8)}-${long(8)}-${long(4)}`,
    ],
  },
  { ...starting, field: 'code_length', inside: [4, 10], outside: [3, 11, 4.5, '6', null] },
  { ...starting, field: 'ttl_seconds', inside: [60, 600], outside: [59, 601, '60', null] },
  {
    ...starting,
    field: 'autofill',
    inside: [
      null,
      { domain: 'example.com' },
      { domain: 'EXAMPLE.com' },
      { android_hash: 'FA+9qCX9VSu' },
      { domain: domain(136) },
    ],
    outside: [
      ...[
        {},
        [],
        'example.com',
        { domain: 'example' },
        { domain: 'https://example.com' },
        { domain: '1.2.3.4' },
        { domain: 5 },
      ],
      ...[{ android_hash: 'FA+9qCX9VS' }, { android_hash: 'FA+9qCX9VSuX' }, { domain: domain(137) }],
      ...[
        { domain: 'example.com', android_hash: 'FA+9qCX9VSu' },
        { domain: 'example.com', android_hash: 'short' },
      ],
      ...[{ domain: 'example.com', android_hash: null }, { domain: `${long(64)}.com` }, { domain: 'bücher.example' }],
    ],
  },
  ...[sending, messaging].flatMap((shared): Case[] => [
    { ...shared, field: 'to', ...numbers },
    {
      ...shared,
      field: 'from',
      inside: ['A', 'ACME Shop-1', '1.2-3_4&5+a', '123', '+123456789012345', '123456789012345'],
      outside: [
        '',
        '12',
        '1234567890123456',
        '+1234567890123456',
        long(12),
        '1 2',
        '123 456',
        'ÄCME',
        'АСМЕ',
        'ACME\n',
        null,
      ],
    },
    { ...shared, field: 'message', ...texts },
    { ...shared, field: 'reference', ...references },
    { ...shared, field: 'validity_seconds', inside: [60, 259_200], outside: [59, 259_201, 60.5, null] },
    {
      ...shared,
      field: 'send_at',
      inside: [null, '2026-01-31T18:00:00Z', '2024-02-29T00:00:00.123456789+05:30', '1999-12-31T23:59:59-23:59'],
      outside: [
        '',
        '2026-01-31',
        '2026-02-30T12:00:00Z',
        '2026-01-31T24:00:00Z',
        '2026-01-31t12:00:00z',
        'now',
        1_700_000_000,
      ],
    },
    { ...shared, field: 'smart_encoding', inside: [true, false], outside: ['true', null, 1] },
    { ...shared, field: 'priority', inside: ['normal'], outside: ['', 'highest', null] },
  ]),
  { ...messaging, field: 'channel', inside: [...messagingChannels], outside: ['', 'SMS', 'pigeon', null] },
  ...['sms', 'messaging'].map(
    (api): Case => ({
      ...(api === 'sms' ? sending : messaging),
      schema: 'TextToPreview',
      path: `/${api}/v1/messages/preview`,
      body: { message: 'Hello' },
      field: 'message',
      inside: ['a', long(3060), long(3060, '😀')],
      outside: ['', long(3061), long(3061, '😀'), 'a\0', null],
    }),
  ),
  {
    ...starting,
    schema: 'NumberToExplain',
    path: '/verify/v1/guard/explain',
    body: { to: start.to },
    field: 'to',
    ...numbers,
  },
];

describe('at each bound', () => {
  for (const { schema, path, headers, body, field, inside, outside } of cases) {
    test(`${path} ${field}`, async () => {
      for (const [values, right] of [
        [inside, true],
        [outside, false],
      ] as const) {
        const judge = async (value: unknown) => {
          const given = { ...body, [field]: value };
          const shown = JSON.stringify(value).slice(0, 60);
          assert.equal(isRight(schema, given), right, `the schema ${right ? 'refuses' : 'takes'} ${shown}`);
          const answer = await send(app, 'POST', path, { headers: headers(), body: given });
          const told = `the service answers ${answer.status} to ${shown}: ${JSON.stringify(answer.body)}`;
          assert.equal(answer.status < 300, right, told);
          if (!right) assert.equal(answer.status, 400, told);
        };
        await Promise.all(values.map(judge));
      }
    });
  }

  test('what a body must have, and what it may have beside', async () => {
    for (const { schema, path, headers, body } of [starting, sending, messaging]) {
      for (const name of Object.keys(body)) {
        const { [name as keyof typeof body]: _, ...without } = body as Record<string, unknown>;
        assert.equal(isRight(schema, without), false, name);
        assert.equal((await send(app, 'POST', path, { headers: headers(), body: without })).status, 400, name);
      }
      const more = { ...body, colour: 'red' };
      assert.equal(isRight(schema, more), true);
      assert.ok((await send(app, 'POST', path, { headers: headers(), body: more })).status < 300);
    }
  });

  test('a batch takes what it refuses by itself', async () => {
    const path = '/messaging/v1/messages/batch';
    const batch = (messages: unknown[]) => send(app, 'POST', path, { headers: tokens.messaging, body: { messages } });
    const items = [{ to: 'no number' }, { to: long(100) }, { from: '' }, { message: '' }, { channel: 'pigeon' }];
    const wrong = items.map((each) => ({ ...text, ...each }));
    assert.equal(isRight('SendMessagesRequest', { messages: wrong }), true);
    const { status, body } = await batch(wrong);
    assert.deepEqual([status, (body as { summary: object }).summary], [200, { accepted: 0, rejected: items.length }]);
    for (const [count, right] of [
      [0, false],
      [1, true],
      [100, true],
      [101, false],
    ] as const) {
      const messages = Array.from({ length: count }, () => text);
      assert.equal(isRight('SendMessagesRequest', { messages }), right, `${count} texts`);
      assert.equal((await batch(messages)).status === 200, right, `${count} texts`);
    }
  });
});

describe('for any text', () => {
  const near = (...alphabet: string[]) => fc.string({ unit: fc.constantFrom(...alphabet), maxLength: 40 });
  const anyText = fc.string({ unit: 'binary', maxLength: 40 }).filter((each) => each.isWellFormed());
  const values: Record<string, fc.Arbitrary<unknown>> = {
    to: fc.oneof(anyText, near('+', '1', '2', '0', ' ', '-', '(', ')', '.')),
    channel: fc.oneof(anyText, fc.constantFrom(...messagingChannels)),
    reference: anyText,
    locale: fc.oneof(anyText, near('a', 'B', '1', '-'), near('de', 'AT', '-', 'x')),
    autofill: fc.oneof(
      fc.record({ domain: fc.oneof(anyText, near('a', 'B', '1', '.', '-'), fc.domain()) }),
      fc.record({ android_hash: fc.oneof(anyText, fc.base64String({ maxLength: 12 })) }),
      fc.record({ domain: fc.domain(), android_hash: anyText }),
    ),
    from: fc.oneof(anyText, near('A', 'z', '1', ' ', '+'), near('+', '1', '2')),
    message: anyText,
    send_at: fc.oneof(
      anyText,
      fc.date({ noInvalidDate: true, min: new Date(0), max: new Date('2026-02-01') }).map((date) => date.toISOString()),
      near('2026-01-31', 'T', '12:00:00', 'Z', '+01:00', '.5'),
    ),
  };
  /** A Punycode label that decodes to nothing is refused, which no pattern can say. */
  const isBeyondSchemas = (value: unknown) => /xn--/i.test(JSON.stringify(value));

  test('the rules of the service and the schema of the document agree', () => {
    const startRules = createStartRules('sandbox', () => sendingChannels).schema;
    const { sms, messaging: message } = createSendRules(app.clock, 'sandbox');
    for (const [schema, rules, right, fields] of [
      ['VerificationToStart', startRules, start, ['to', 'reference', 'locale', 'autofill']],
      ['SmsToSend', sms, text, ['to', 'from', 'message', 'reference', 'send_at']],
      ['MessageToSend', message, text, ['to', 'from', 'message', 'reference', 'send_at']],
    ] as const) {
      for (const field of fields) {
        fc.assert(
          fc.property(values[field] ?? fc.anything(), (value) => {
            fc.pre(!isBeyondSchemas(value));
            const given = { ...right, [field]: value };
            assert.equal(isRight(schema, given), problemsOf(rules, structuredClone(given)).length === 0);
          }),
          { numRuns: 300 },
        );
      }
    }
  });
});
