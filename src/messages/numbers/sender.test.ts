import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { inShort } from '../../../test/support/effort.ts';
import { senderProblem } from './sender.ts';

test('names of 1 to 11 letters, digits, spaces and . - _ & + with at least one letter', () => {
  for (const from of [
    'A',
    'z',
    'ACME',
    'Acme Ltd.',
    'a-b_c&d+e f',
    '12345678901a'.slice(1),
    '+1a',
    ' a ',
    'A'.repeat(11),
  ]) {
    assert.equal(senderProblem(from), undefined, from);
  }
});

test('numbers of 3 to 15 digits with an optional plus', () => {
  for (const from of ['123', '80123', '+123', '0123', '1'.repeat(15), `+${'1'.repeat(15)}`, '+447700900123']) {
    assert.equal(senderProblem(from), undefined, from);
  }
});

test('anything else is refused, with what would be right', () => {
  const wrong = ['', ' ', '12', '+12', '1'.repeat(16), `+${'1'.repeat(16)}`, 'A'.repeat(12), '...', '1-2-3', '++123'];
  const strange = ['Café', 'АСМЕ', 'ACME!', 'A@b', 'A\n', '123\n', 'A\tb', 'A/B', '１２３', 'A😀', "O'Neil", 'A\u0000'];
  for (const from of [...wrong, ...strange]) {
    assert.match(senderProblem(from) ?? '', /^must be 1 to 11 letters .* like ACME, or 3 to 15 digits/, from);
  }
  assert.match(senderProblem('Café') ?? '', /; "é" is not allowed$/);
  assert.match(senderProblem('A😀') ?? '', /; "😀" is not allowed$/);
  assert.match(senderProblem('A'.repeat(12)) ?? '', /; this has 12 characters$/);
  assert.match(senderProblem('12') ?? '', /; this has 2 characters and no letter$/);
});

test('property: the rule of the contract, by counting characters', () => {
  const text = fc.string({ unit: fc.constantFrom(...'aZ09 .-_&++5é!\n'), maxLength: 18, size: 'max' });
  fc.assert(
    fc.property(text, (from) => {
      const characters = [...from];
      const isName =
        characters.length >= 1 &&
        characters.length <= 11 &&
        characters.every((character) => 'aZ09 .-_&+5'.includes(character)) &&
        characters.some((character) => 'aZ'.includes(character));
      const digits = from.startsWith('+') ? characters.slice(1) : characters;
      const isNumber =
        digits.length >= 3 && digits.length <= 15 && digits.every((character) => '095'.includes(character));
      assert.equal(senderProblem(from) === undefined, isName || isNumber);
    }),
    { numRuns: inShort(1500, 5000) },
  );
});
