import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Receipt } from '../carrier/carrier.ts';
import { type Candidate, choose } from './matching.ts';

const phone = '+447700900123';
const otherPhone = '+447700900456';
const ownNumber = '+12025550143';

const text = (id: string, changes: Partial<Candidate> = {}): Candidate => ({
  id,
  part: 0,
  to: phone,
  from: ownNumber,
  unsent: false,
  awaiting: true,
  key: 'a',
  textId: null,
  partId: null,
  ...changes,
});

function chosen(numbers: string[], ...candidates: Candidate[]): string | undefined {
  const receipt: Receipt = {
    carrierMessageId: 'a',
    keys: ['a'],
    numbers,
    messageId: null,
    outcome: 'delivered',
    error: null,
  };
  const match = choose(receipt, new Map([['a', candidates]]));
  return typeof match === 'object' ? match.id : match;
}

describe('the numbers in a receipt', () => {
  test("the phone's number matches in either field, with and without prefixes", () => {
    for (const numbers of [['447700900123'], ['12025550143', '447700900123'], ['07700900123'], []]) {
      assert.equal(chosen(numbers, text('one')), 'one', `${numbers}`);
    }
    assert.equal(chosen(['447700900456'], text('one')), undefined, "another phone's number does not match");
  });

  test('only our own sender: it is for the one text with this id', () => {
    for (const numbers of [['12025550143'], ['12025550143', '12025550143'], ['2025550143']]) {
      assert.equal(chosen(numbers, text('one')), 'one', `${numbers}`);
    }
    assert.equal(chosen(['12025550143'], text('one'), text('two')), undefined, 'two texts have this id');
    assert.equal(chosen(['12025550143', '447700900456'], text('one')), undefined, 'another phone is named, too');
    assert.equal(
      chosen(['12025550143'], text('one', { from: 'ACME' })),
      undefined,
      'it is not the sender of this text',
    );
    assert.equal(chosen(['12025550143'], text('one', { from: '12025550143' })), 'one', 'a sender without its plus');
  });

  test('a masked number matches the phone that has its visible digits', () => {
    for (const number of ['4477009**123', '44770090****', '447700900123']) {
      assert.equal(chosen([number], text('one')), 'one', number);
      assert.equal(chosen([number, '12025550143'], text('one')), 'one', `${number} and our sender`);
    }
    assert.equal(chosen(['4477008**123'], text('one')), undefined, 'a digit differs');
    const two = [text('one'), text('two', { to: otherPhone })];
    assert.equal(chosen(['4477009**456'], ...two), 'two');
    assert.equal(chosen(['44770090****'], ...two), 'ambiguous', 'it matches both texts');
  });

  test('a masked number that hides its length matches nothing', () => {
    assert.equal(chosen(['4477***23'], text('one')), 'one');
    assert.equal(chosen(['4477***99'], text('one')), 'one');
    assert.equal(chosen(['4477***23', '12025550143'], text('one')), 'one', 'beside it there is only our sender');
    assert.equal(chosen(['4477***23', '447700900456'], text('one')), undefined);
  });
});
