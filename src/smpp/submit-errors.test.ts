import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { readSubmitErrors, refusalOf, statusWords, submitErrorsProblem } from './submit-errors.ts';

test('throttled and a full queue are no fault of the text: no attempt is counted', () => {
  assert.deepEqual(refusalOf(0x58), { outcome: 'throttled' });
  assert.deepEqual(refusalOf(0x14), { outcome: 'throttled' });
});

test('temporary errors, and errors of the session or the account, are tried again', () => {
  const again = { outcome: 'retry', error: 'carrier_unavailable' };
  for (const status of [0x08, 0x64, 0x02, 0x03, 0x04, 0x05, 0x0d]) {
    assert.deepEqual(refusalOf(status), again, statusWords(status));
  }
  // A refused account opens the breaker at once.
  for (const status of [0x0e, 0x0f])
    assert.deepEqual(refusalOf(status), { ...again, account: true }, statusWords(status));
});

test('refusals of the route: another carrier may take the text', () => {
  for (const status of [0x45, 0x15, 0x53, 0x102, 0xfe, 0xff, 0x66, 0x0a, 0x400, 0x4ff]) {
    const refusal = refusalOf(status);
    assert.ok(refusal.outcome === 'retry' && refusal.elsewhere === true, statusWords(status));
  }
  assert.deepEqual(refusalOf(0x0a), { outcome: 'retry', error: 'sender_rejected', elsewhere: true });
});

test('statuses that refuse the text for good', () => {
  for (const status of [
    0x01, 0x0b, 0x43, 0x48, 0x49, 0x50, 0x51, 0x61, 0x62, 0x65, 0xc0, 0xc1, 0xc2, 0xc3, 0xc4, 0x101, 0x104,
  ]) {
    assert.equal(refusalOf(status).outcome, 'never', statusWords(status));
  }
  assert.deepEqual(refusalOf(0x0b), { outcome: 'never', error: 'invalid_destination' });
});

test('any status has an outcome and a name; an unknown one goes elsewhere once', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 0xffffffff }), (status) => {
      assert.ok(refusalOf(status), 'an outcome');
      assert.match(statusWords(status), /^0x[0-9a-f]{2,8}: .+$/);
    }),
  );
  assert.deepEqual(refusalOf(0x9999), { outcome: 'retry', error: 'unknown', elsewhere: true });
});

test('names', () => {
  assert.equal(statusWords(0x58), '0x58: throttled');
  assert.equal(statusWords(0x0b), '0x0b: invalid destination');
  assert.equal(statusWords(0), '0x00: ok');
  assert.equal(statusWords(0x410), "0x410: the carrier's own error");
  assert.equal(statusWords(0xffffffff), '0xffffffff: unknown status');
});

test("a carrier's own meanings come first", () => {
  const settings = {
    '0x0000000b': 'elsewhere:invalid_destination',
    '1034': 'never:content_rejected',
    '0x58': 'retry:carrier_unavailable',
    '0x45': 'throttled',
  };
  assert.equal(submitErrorsProblem(settings), undefined);
  const overrides = readSubmitErrors(settings);
  assert.deepEqual(refusalOf(0x0b, overrides), { outcome: 'retry', error: 'invalid_destination', elsewhere: true });
  assert.deepEqual(refusalOf(0x40a, overrides), { outcome: 'never', error: 'content_rejected' });
  assert.deepEqual(refusalOf(0x58, overrides), { outcome: 'retry', error: 'carrier_unavailable' });
  assert.deepEqual(refusalOf(0x45, overrides), { outcome: 'throttled' });
  assert.deepEqual(refusalOf(0x14, overrides), { outcome: 'throttled' }, 'the others stay');
});

test('meanings that cannot be used are named', () => {
  const problem = (settings: Record<string, string>) => submitErrorsProblem(settings) ?? '';
  assert.match(problem({ eleven: 'throttled' }), /must have command_statuses as keys, .*not "eleven"/);
  assert.match(problem({ '0x0': 'throttled' }), /must not have the key 0/);
  assert.match(problem({ '11': 'never' }), /must give 11 a meaning: throttled, retry:<code>/);
  assert.match(problem({ '11': 'never:because' }), /must give 11 a meaning/);
  assert.match(problem({ '11': 'always:unknown' }), /must give 11 a meaning/);
  const many = Object.fromEntries(Array.from({ length: 257 }, (_, index) => [String(index + 1), 'throttled']));
  assert.match(problem(many), /at most 256/);
});

test('reading never throws, and keeps only what fits', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string({ maxLength: 10 }), fc.string({ maxLength: 32 })), (settings) => {
      const read = readSubmitErrors(settings);
      if (submitErrorsProblem(settings) === undefined) assert.ok(read.size <= Object.keys(settings).length, 'bounded');
    }),
  );
});
