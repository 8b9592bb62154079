import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  type DeclaredErrors,
  errorMaps,
  readNetworkError,
  receiptErrorOf,
  receiptErrorsProblem,
} from './receipt-errors.ts';
import { receiptMeaning } from './receipt-meaning.ts';

function errorOf(code: string | null, errors: DeclaredErrors) {
  return receiptErrorOf({ code, network: null }, 'undelivered', errors);
}

test('the same number has another meaning at each provider', () => {
  assert.deepEqual(
    errorMaps.map((name) => [name, errorOf('001', name), errorOf('006', name)]),
    [
      ['gsm-map', 'invalid_destination', 'unreachable'],
      ['vonage', 'unknown', 'blocked_by_carrier'],
      ['twilio', 'unreachable', 'blocked_by_carrier'],
      ['8x8', 'unreachable', 'unknown'],
      ['infobip', 'invalid_destination', 'unreachable'],
    ],
  );
});

test('an undeclared code means nothing', () => {
  assert.equal(errorOf('001', null), 'unknown');
  assert.equal(errorOf(null, 'gsm-map'), 'unknown');
  assert.equal(errorOf('000', 'gsm-map'), 'unknown');
  assert.equal(errorOf('ABC', 'gsm-map'), 'unknown');
});

test('a delivered text or one without a known state has no error; an expired one has that error', () => {
  const error = { code: '001', network: null };
  assert.equal(receiptErrorOf(error, 'delivered', 'gsm-map'), null);
  assert.equal(receiptErrorOf(error, 'unknown', 'gsm-map'), null);
  assert.equal(receiptErrorOf({ code: null, network: null }, 'expired', null), 'expired');
  assert.equal(receiptErrorOf({ code: '027', network: null }, 'expired', 'gsm-map'), 'unreachable');
});

test("a carrier's own map: zeros and case do not count", () => {
  const own = { '6': 'blocked_by_carrier', E17: 'content_rejected' };
  assert.equal(receiptErrorsProblem(own), undefined);
  assert.equal(errorOf('006', own), 'blocked_by_carrier');
  assert.equal(errorOf('0006', own), 'blocked_by_carrier');
  assert.equal(errorOf('e17', own), 'content_rejected');
  assert.equal(errorOf('7', own), 'unknown');
});

test('the numbers of a GSM network are known without a map; those of another kind are the carrier’s', () => {
  const tlv = (...octets: number[]) => readNetworkError(Uint8Array.from(octets));
  const of = (network: ReturnType<typeof tlv>, errors: DeclaredErrors) =>
    receiptErrorOf({ code: '006', network }, 'undelivered', errors);
  assert.equal(of(tlv(3, 0, 1), null), 'invalid_destination');
  assert.equal(of(tlv(3, 0, 1), 'vonage'), 'invalid_destination', 'it comes before the text');
  assert.equal(of(tlv(8, 0, 1), null), 'unknown');
  assert.equal(of(tlv(8, 0, 1), { '1': 'sender_rejected' }), 'sender_rejected');
  assert.equal(of(tlv(3, 0, 0), 'vonage'), 'blocked_by_carrier', 'zero says nothing');
  assert.equal(of(tlv(3, 0), 'vonage'), 'blocked_by_carrier', 'a damaged TLV says nothing');
  assert.deepEqual(tlv(3, 1, 2), { type: 3, code: 258 });
});

test('own maps that cannot be used are named', () => {
  assert.match(receiptErrorsProblem({ '1': 'because' }) ?? '', /must give 1 one of these meanings/);
  assert.match(receiptErrorsProblem({ 'a b': 'unknown' }) ?? '', /not "a b"/);
  const many = Object.fromEntries(Array.from({ length: 257 }, (_, index) => [String(index), 'unknown']));
  assert.match(receiptErrorsProblem(many) ?? '', /at most 256/);
  assert.equal(receiptErrorsProblem('8x8'), undefined);
});

test('any code, any map: an error code and no exception', () => {
  const errors = fc.oneof(fc.constant(null), fc.constantFrom(...errorMaps), fc.dictionary(fc.string(), fc.string()));
  fc.assert(
    fc.property(fc.string({ maxLength: 300 }), errors, (code, map) => {
      assert.equal(typeof errorOf(code, map), 'string');
    }),
  );
});

test('the words of a receipt are explained as far as they are known', () => {
  const meaning = (words: string, errors: Parameters<typeof receiptMeaning>[1] = null) => receiptMeaning(words, errors);
  assert.equal(meaning('stat:UNDELIV err:069'), 'undelivered');
  assert.equal(meaning('stat:UNDELIV err:069', { '069': 'content_rejected' }), 'undelivered, content rejected');
  assert.equal(meaning('stat:UNDELIV network_error_code:3/27'), 'undelivered, absent subscriber, unreachable');
  assert.equal(meaning('message_state:8 err:006', 'gsm-map'), 'rejected by the carrier, unreachable');
  assert.equal(meaning('stat:DELIVRD err:000'), 'delivered');
  assert.equal(meaning('stat:HMM'), null);
  assert.equal(meaning('0x45: submit failed'), null);
});
