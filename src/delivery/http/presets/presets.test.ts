// What each preset makes of recorded answers and callbacks, as the providers document them. Whole rounds over sockets are
// in test/providers.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { africasTalking } from '../../../../test/providers/africas-talking.ts';
import type { Provider, ProviderCall, TakenText } from '../../../../test/providers/call.ts';
import { codeProviders } from '../../../../test/providers/codes/all.ts';
import { infobip } from '../../../../test/providers/infobip.ts';
import { plivo } from '../../../../test/providers/plivo.ts';
import type { DoubleAnswer } from '../../../../test/providers/provider.ts';
import { telnyx } from '../../../../test/providers/telnyx.ts';
import { twilio } from '../../../../test/providers/twilio.ts';
import { vonageSms } from '../../../../test/providers/vonage-sms.ts';
import type { SubmitResult } from '../../carrier/carrier.ts';
import { readAnswer } from '../answer.ts';
import { readInbound, readReceipts } from '../callbacks/reader.ts';
import type { CallbackRequest } from '../callbacks/request.ts';
import { descriptionProblems } from '../description-problems.ts';
import { checkHttpSettings, profileOf } from '../settings.ts';
import { presetNames, presets, secretFieldNames } from './presets.ts';

const providers: Provider[] = [twilio, vonageSms, infobip, telnyx, plivo, africasTalking];
const nowMs = Date.parse('2026-01-01T12:00:00Z');
const ours = 'msg_01kf2s9kqzc9wcf4a7r1s9w6f0';

function settingsOf({ preset, settings: own }: Pick<Provider, 'preset' | 'settings'>) {
  const { settings, problems } = checkHttpSettings({ preset, base: 'https://api.example.com', ...own });
  assert.deepEqual(problems, []);
  return settings;
}

const requestOf = ({ method, url, headers, body }: ProviderCall): CallbackRequest => ({
  method,
  url,
  headers,
  body: Buffer.from(body ?? ''),
});

test('there is a double for each preset', () => {
  const doubles = [...providers, ...codeProviders].map(({ preset }) => preset);
  assert.deepEqual(new Set(doubles), new Set<string>(presetNames));
});

test('a field is a secret in every preset that has it, or in none', () => {
  for (const { title, fields } of Object.values(presets))
    for (const [field, { secret = false }] of Object.entries(fields))
      assert.equal(secret, secretFieldNames.includes(field), `${field} of ${title}`);
});

for (const provider of providers) {
  describe(provider.preset, () => {
    const settings = settingsOf(provider);
    const { description, secrets, values } = profileOf(settings);
    const answerOf = ({ status, headers = {}, body }: DoubleAnswer, segments = 1): SubmitResult => {
      const small = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
      const bytes = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body ?? ''));
      return readAnswer(description, { status, headers: small, body: bytes }, { messageId: ours, segments }).result;
    };
    const text: TakenText = { id: 'abc-1', ours, to: '447700900123', from: 'ACME', text: 'Hi', callback: undefined };
    const url = `https://sms.example/carriers/v1/a/receipts/t?m=${ours}`;
    const receiptOf = (state: string, error?: string) => {
      const call = provider.receipt(text, { url, state, ...(error !== undefined && { error }), nowMs });
      assert.ok(description.receipt, 'it has receipts');
      return readReceipts(requestOf(call), description.receipt);
    };

    test('its description has no problem', () => {
      const known = { secrets: Object.keys(secrets), values: Object.keys(values) };
      const optional = Object.keys(presets[settings.preset ?? 'twilio'].fields);
      const problems = descriptionProblems(description, 'describe', {
        secrets: [...known.secrets, ...optional],
        values: [...known.values, ...optional],
      });
      assert.deepEqual(problems, []);
    });

    for (const { what, answer, error } of provider.refusals) {
      test(`an answer: ${what}`, () => {
        const result = answerOf(answer);
        assert.ok(result.outcome === 'never' || (result.outcome === 'retry' && result.elsewhere), result.outcome);
        assert.equal(result.error, error);
      });
    }
    test('an answer: throttled', () => assert.equal(answerOf(provider.throttled).outcome, 'throttled'));
    test('an answer: the account is refused', () => {
      const request = {
        method: 'POST',
        path: '/',
        headers: {},
        body: provider.preset === 'vonage-sms' ? 'api_secret=x' : '{}',
      };
      const { reported, ...result } = answerOf(provider.answer(request));
      assert.match(reported ?? '', /^HTTP \d{3}/);
      assert.deepEqual(result, { outcome: 'retry', error: 'carrier_unavailable', elsewhere: true, account: true });
    });
    for (const status of [500, 502, 503, 504]) {
      test(`an answer: ${status} leaves the text in doubt`, () =>
        assert.equal(answerOf({ status, body: 'Bad gateway' }).outcome, 'in_doubt'));
    }
    test('an answer: a success that cannot be read leaves the text in doubt', () => {
      for (const body of ['', '{', '[]', 'null', '{}', '<html>']) {
        for (const status of [200, 201, 202])
          assert.equal(answerOf({ status, body }).outcome, 'in_doubt', `${status} ${body}`);
      }
    });

    for (const { state, error, status, code } of provider.states) {
      test(`a receipt: ${state} ${error ?? ''}`, () => {
        const [receipt, ...more] = receiptOf(state, error) ?? [];
        assert.equal(more.length, 0);
        assert.deepEqual([receipt?.outcome, receipt?.error], [status, code ?? null]);
        assert.equal(receipt?.carrierMessageId, 'abc-1');
        assert.deepEqual(receipt?.numbers, ['447700900123']);
      });
    }
    test('a receipt on the way, or in a word that is not known, says nothing', () => {
      const pending = Object.entries(description.receipt?.state.map ?? {}).filter(([, to]) => to === 'pending');
      for (const [state] of [...pending, ['surprise'] as const]) assert.deepEqual(receiptOf(state), [], state);
    });
    test('an inbound text', () => {
      assert.ok(description.inbound, 'it takes inbound texts');
      const [inbound] = readInbound(requestOf(provider.inbound(url, nowMs)), description.inbound) ?? [];
      assert.deepEqual([inbound?.from, inbound?.text, inbound?.part], ['+447700900999', 'STOP & go', null]);
    });
    test('nonsense is no receipt and no inbound text', () => {
      for (const body of ['', '{', 'null', '5', '[1]', '{"results":5}', 'a=%ZZ&&&=', '{"data":{"payload":[]}}']) {
        for (const type of ['application/json', 'application/x-www-form-urlencoded', undefined]) {
          const request = requestOf({
            method: 'POST',
            url,
            headers: type === undefined ? {} : { 'content-type': type },
            body,
          });
          assert.equal((description.receipt && readReceipts(request, description.receipt))?.length ?? 0, 0, body);
          assert.equal((description.inbound && readInbound(request, description.inbound))?.length ?? 0, 0, body);
        }
      }
    });
  });
}

for (const provider of codeProviders) {
  describe(provider.preset, () => {
    const settings = settingsOf(provider);
    const { description, secrets, values } = profileOf(settings);
    const { receipt } = description;
    assert.ok(receipt, 'it has receipts');
    const answerOf = ({ status, headers = {}, body }: DoubleAnswer): SubmitResult => {
      const small = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
      const bytes = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body ?? ''));
      return readAnswer(description, { status, headers: small, body: bytes }, { messageId: ours, segments: 1 }).result;
    };
    const code = { id: 'abc-1', ours, to: '447700900123', code: '1234', callback: undefined };
    const url = `https://sms.example/carriers/v1/a/receipts/t?m=${ours}`;
    const receiptOf = (state: string, error?: string) =>
      readReceipts(
        requestOf(provider.receipt(code, { url, state, nowMs, ...(error !== undefined && { error }) })),
        receipt,
      );

    test('it sends by its channel alone, and its description has no problem', () => {
      assert.deepEqual(settings.channels, [provider.channel]);
      const known = { secrets: Object.keys(secrets), values: Object.keys(values) };
      assert.deepEqual(descriptionProblems(description, 'describe', known), []);
    });
    for (const { what, answer, error } of provider.refusals) {
      test(`an answer: ${what}`, () => {
        const result = answerOf(answer);
        assert.ok(result.outcome === 'never' || (result.outcome === 'retry' && result.elsewhere), result.outcome);
        assert.equal(result.error, error);
      });
    }
    test('an answer: throttled', () => assert.equal(answerOf(provider.throttled).outcome, 'throttled'));
    test('an answer: 5xx, or a success that cannot be read, leaves the code in doubt', () => {
      for (const status of [500, 502, 503, 504]) assert.equal(answerOf({ status, body: 'Bad' }).outcome, 'in_doubt');
      for (const body of ['', '{', '[]', 'null', '{}', '<html>'])
        for (const status of [200, 201]) assert.equal(answerOf({ status, body }).outcome, 'in_doubt', body);
    });
    test('receipts', () => {
      for (const state of [...provider.pending, 'surprise']) assert.deepEqual(receiptOf(state), [], state);
      for (const { state, error, status, code: ourCode } of provider.failed) {
        const [{ outcome, error: read, numbers } = assert.fail(state), ...more] = receiptOf(state, error) ?? [];
        assert.deepEqual([outcome, read, numbers, more], [status, ourCode, ['447700900123'], []]);
      }
      assert.equal(receiptOf(provider.arrived[0] ?? '')?.[0]?.outcome, 'delivered');
    });
  });
}

test('Vonage gives each part an id, and its text has as many', () => {
  const { description } = profileOf(settingsOf(vonageSms));
  const messages = ['a', 'b', 'c'].map((id) => ({ 'message-id': id, status: '0' }));
  const body = Buffer.from(JSON.stringify({ 'message-count': '3', messages }));
  const { result } = readAnswer(description, { status: 200, headers: {}, body }, { messageId: ours, segments: 3 });
  assert.deepEqual(
    result.long?.parts.map(({ part, receiptKey }) => [part, receiptKey]),
    [
      [1, 'a'],
      [2, 'b'],
      [3, 'c'],
    ],
  );
});

test('Plivo gives one id, and reports on each part by its number', () => {
  const { description } = profileOf(settingsOf(plivo));
  const body = Buffer.from(JSON.stringify({ message_uuid: ['u'] }));
  const { result } = readAnswer(description, { status: 202, headers: {}, body }, { messageId: ours, segments: 2 });
  assert.deepEqual(
    result.long?.parts.map(({ receiptKey }) => receiptKey),
    ['u/1', 'u/2'],
  );
  const call = plivo.receipt(
    { id: 'u', ours, to: '447700900123', from: 'ACME', text: '', callback: undefined },
    { url: 'https://a.example/', state: 'delivered', nowMs, part: '2 of 2' },
  );
  assert.ok(description.receipt, 'it has receipts');
  assert.deepEqual(readReceipts(requestOf(call), description.receipt)?.[0]?.keys, ['u/2', 'u']);
});

test('parts of an inbound text of Vonage are joined by a number', () => {
  const { description } = profileOf(settingsOf(vonageSms));
  const part = (reference: string) =>
    new URLSearchParams({
      msisdn: '447700900999',
      to: '447700900001',
      messageId: 'x',
      text: 'a',
      concat: 'true',
      'concat-ref': reference,
      'concat-part': '2',
      'concat-total': '3',
    });
  const read = (reference: string) => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const request = {
      method: 'POST',
      url: 'https://a.example/',
      headers,
      body: Buffer.from(part(reference).toString()),
    };
    assert.ok(description.inbound, 'it takes inbound texts');
    return readInbound(request, description.inbound)?.[0]?.part;
  };
  assert.deepEqual(read('77'), { reference: 77, width: 16, part: 2, total: 3 });
  assert.deepEqual(read('A5'), read('A5'));
  assert.notDeepEqual(read('A5'), read('A6'));
});
