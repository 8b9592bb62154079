import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type IdForm, type IdForms, receiptKeyOf, receiptKeysOf, wouldFit } from './receipt-keys.ts';

const forms = fc.constantFrom<IdForm>('exact', 'hex', 'dec');
const anyForms = fc.record<IdForms>({ response: forms, receipt: forms });
const value = fc.bigInt({ min: 0n, max: 2n ** 128n });

function matches(responseId: string, receiptId: string, pair: IdForms): boolean {
  return receiptKeysOf(receiptId, pair)[0] === receiptKeyOf(responseId, pair);
}

test('the habits seen: hex and decimal, padded, zeros on one side, 19 digits, a first id of 0', () => {
  assert.ok(matches('77d9aa31', '2010753585', { response: 'hex', receipt: 'dec' }), 'hexadecimal, then decimal');
  assert.ok(matches('39f99dd5', '0972660181', { response: 'hex', receipt: 'dec' }), 'an African operator');
  assert.ok(matches('0C000000A1B2C3D4', '0864691131167982548', { response: 'hex', receipt: 'dec' }), 'padded');
  assert.ok(matches('1129', '0001129', { response: 'dec', receipt: 'dec' }), 'zeros on one side');
  assert.ok(
    matches('6815318231241064449', '6815318231241064449', { response: 'exact', receipt: 'exact' }),
    '19 digits',
  );
  assert.ok(matches('0', '0', { response: 'dec', receipt: 'dec' }), 'a first id of 0');
  assert.ok(matches('0', '0000000000', { response: 'hex', receipt: 'dec' }), 'and one with zeros');
  assert.ok(matches('AbC1', 'abc1', { response: 'hex', receipt: 'hex' }), 'case');
});

test('exact is exact: another case or a zero more is another id', () => {
  const exact: IdForms = { response: 'exact', receipt: 'exact' };
  assert.ok(!matches('Ab-1_x', 'ab-1_x', exact), 'another case');
  assert.ok(!matches('12', '012', exact), 'a zero more');
  assert.ok(matches('550e8400-e29b-41d4-a716-446655440000', '550e8400-e29b-41d4-a716-446655440000', exact), 'a UUID');
});

test('an id that is no number under a numeric form is compared as written', () => {
  assert.ok(matches('msg-17', 'msg-17', { response: 'hex', receipt: 'dec' }), 'as written');
});

test('each value is found in each pair of numeric forms', () => {
  const numeric = fc.constantFrom<IdForm>('hex', 'dec');
  const write = (id: bigint, form: IdForm, zeros: number) => '0'.repeat(zeros) + id.toString(form === 'hex' ? 16 : 10);
  fc.assert(
    fc.property(value, numeric, numeric, fc.nat(12), fc.nat(12), (id, response, receipt, a, b) => {
      assert.ok(matches(write(id, response, a), write(id, receipt, b), { response, receipt }), 'found');
    }),
  );
});

test('no hexadecimal id is mistaken for a decimal one', () => {
  const pair: IdForms = { response: 'hex', receipt: 'dec' };
  assert.notEqual(receiptKeyOf('64', pair), '100');
  assert.ok(!receiptKeysOf('256', pair).includes(receiptKeyOf('256', pair)), 'the hexadecimal 256 is 598');
});

test('a text sent under an older setting is found: it was kept as the carrier wrote it', () => {
  const exact: IdForms = { response: 'exact', receipt: 'exact' };
  const stored = receiptKeyOf('77d9aa31', exact);
  assert.ok(receiptKeysOf('2010753585', { response: 'hex', receipt: 'dec' }).includes(stored), 'from exact to hex→dec');
  const numeric = receiptKeyOf('77d9aa31', { response: 'hex', receipt: 'dec' });
  assert.ok(receiptKeysOf('2010753585', exact).includes(numeric), 'and back');
});

test('keys of any id: at least one, at most six, short, and none is empty unless the id is', () => {
  fc.assert(
    fc.property(
      fc.oneof(fc.string({ maxLength: 200 }), fc.stringMatching(/^[0-9a-f]{0,90}$/)),
      anyForms,
      (id, pair) => {
        const keys = receiptKeysOf(id, pair);
        assert.ok(keys.length >= 1 && keys.length <= 6, 'a bounded number');
        assert.ok(
          keys.every((key) => key.length <= 78),
          'each is short',
        );
        const isEmpty = id.slice(0, 64).trim() === '';
        assert.equal(keys.includes(''), isEmpty);
        assert.equal(receiptKeyOf(id, pair) === '', isEmpty);
      },
    ),
  );
});

test('the hint names the pair that would fit', () => {
  const known =
    (...ids: string[]) =>
    (id: string) =>
      ids.includes(id);
  assert.deepEqual(wouldFit('2010753585', known('77d9aa31')), { response: 'hex', receipt: 'dec' });
  assert.deepEqual(wouldFit('2010753585', known('77D9AA31')), { response: 'hex', receipt: 'dec' });
  assert.deepEqual(wouldFit('0972660181', known('39f99dd5')), { response: 'hex', receipt: 'dec' });
  assert.deepEqual(wouldFit('77d9aa31', known('2010753585')), { response: 'dec', receipt: 'hex' });
  assert.deepEqual(wouldFit('0001129', known('1129')), { response: 'dec', receipt: 'dec' });
  assert.deepEqual(wouldFit('1129', known('0000001129')), { response: 'dec', receipt: 'dec' });
  assert.deepEqual(wouldFit('0ABC', known('abc')), { response: 'hex', receipt: 'hex' });
  assert.equal(wouldFit('5', known('6')), undefined);
  assert.equal(wouldFit('', known('')), undefined);
});
