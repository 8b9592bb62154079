import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { anyCharacter } from '../../../test/support/any-character.ts';
import { inShort } from '../../../test/support/effort.ts';
import { measure, type Segments, split, textProblem } from './text.ts';

const gsmOne =
  '@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !"#¤%&\'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà';
const gsmTwo = '\f^{}\\[~]|€';

/** The rules again in the plainest way: characters with their costs, put into parts one by one. */
function naive(text: string): Segments & { parts: string[] } {
  const characters = Array.from(text);
  const gsm = characters.every((character) => gsmOne.includes(character) || gsmTwo.includes(character));
  const cost = (character: string) => (gsm ? (gsmTwo.includes(character) ? 2 : 1) : character.length);
  const total = characters.reduce((sum, character) => sum + cost(character), 0);
  const alone = gsm ? 160 : 70;
  const room = total <= alone ? alone : gsm ? 153 : 67;
  const parts = [''];
  let free = room;
  for (const character of characters) {
    if (cost(character) > free) {
      parts.push('');
      free = room;
    }
    parts[parts.length - 1] += character;
    free -= cost(character);
  }
  const encoding = gsm ? 'GSM-7' : 'UCS-2';
  return { count: parts.length, encoding, characters: characters.length, remaining: free, parts };
}

/** Octets of user data a part takes, its header with it: 6 octets, filled up to a septet's boundary in GSM-7. */
function octets(part: string, encoding: string, parts: number): number {
  const header = parts > 1 ? 6 : 0;
  if (encoding === 'UCS-2') return header + Buffer.from(part, 'utf16le').length;
  const septets = Array.from(part).reduce((sum, character) => sum + (gsmTwo.includes(character) ? 2 : 1), 0);
  return Math.ceil(((header > 0 ? 7 : 0) + septets) * (7 / 8));
}

const emoji = ['😀', '👍', '🇬', '\u{10ffff}', '𝒳'];
const others = [...'áçЖ日本語’…`\t\u001b', '\u0301', '\u200d', '\ufe0f'];

function texts(units: readonly string[], maxLength: number) {
  return fc.string({ unit: fc.constantFrom(...units), maxLength, size: 'max' });
}

/** Texts of each kind and of every length up to more than ten parts; the third is where pairs meet the boundaries. */
const anyText = fc.oneof(
  texts([...gsmOne, ...gsmTwo], 1700),
  texts(['a', '€', '{'], 900),
  texts(['Ж', 'a', ...emoji], 700),
  texts([...gsmOne, ...gsmTwo, ...others, ...emoji], 800),
  fc.string({ unit: anyCharacter, maxLength: 300, size: 'max' }),
);

test('properties: the join of the split is the text; count is its length; no part is over 140 octets; no pair is split', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      const { count, encoding } = measure(text);
      const parts = split(text);
      assert.equal(parts.join(''), text);
      assert.equal(parts.length, count);
      for (const part of parts) {
        assert.ok(octets(part, encoding, count) <= 140, `${octets(part, encoding, count)} octets`);
        assert.ok(text === '' || part !== '');
        assert.doesNotMatch(part, /^[\udc00-\udfff]|[\ud800-\udbff]$/);
      }
    }),
    { numRuns: inShort(300, 2000) },
  );
});

test('properties: measure and split agree with a naive implementation', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      const { parts, ...segments } = naive(text);
      assert.deepEqual(measure(text), segments);
      assert.deepEqual(split(text), parts);
    }),
    { numRuns: inShort(300, 2000) },
  );
});

test('properties: texts with unpaired surrogates are measured without fail, and refused', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0xd7f0, max: 0xe010 }), { maxLength: 300, size: 'max' }), (units) => {
      const text = String.fromCharCode(...units);
      assert.equal(split(text).join(''), text);
      assert.equal(split(text).length, measure(text).count);
      assert.equal(measure(text).characters, Array.from(text).length);
      // Encoding to UTF-8 replaces an unpaired surrogate, so such a text does not come back.
      const wellFormed = Buffer.from(text).toString() === text;
      const problem = textProblem(text);
      if (text.length > 0) assert.equal(problem?.includes('unpaired surrogate') ?? false, !wellFormed);
    }),
  );
});

const boundaries: [name: string, text: string, expected: Segments][] = [
  ['the contract’s example', 'Hello', { count: 1, encoding: 'GSM-7', characters: 5, remaining: 155 }],
  ['nothing', '', { count: 1, encoding: 'GSM-7', characters: 0, remaining: 160 }],
  ['160 septets', 'a'.repeat(160), { count: 1, encoding: 'GSM-7', characters: 160, remaining: 0 }],
  ['161 septets', 'a'.repeat(161), { count: 2, encoding: 'GSM-7', characters: 161, remaining: 145 }],
  ['2 · 153', 'a'.repeat(306), { count: 2, encoding: 'GSM-7', characters: 306, remaining: 0 }],
  ['2 · 153 + 1', 'a'.repeat(307), { count: 3, encoding: 'GSM-7', characters: 307, remaining: 152 }],
  ['9 · 153', 'a'.repeat(1377), { count: 9, encoding: 'GSM-7', characters: 1377, remaining: 0 }],
  ['10 · 153', 'a'.repeat(1530), { count: 10, encoding: 'GSM-7', characters: 1530, remaining: 0 }],
  ['10 · 153 + 1', 'a'.repeat(1531), { count: 11, encoding: 'GSM-7', characters: 1531, remaining: 152 }],
  ['80 escapes', '€'.repeat(80), { count: 1, encoding: 'GSM-7', characters: 80, remaining: 0 }],
  ['81 escapes', '€'.repeat(81), { count: 2, encoding: 'GSM-7', characters: 81, remaining: 143 }],
  [
    'an escape as the last of 160',
    `${'a'.repeat(158)}€`,
    { count: 1, encoding: 'GSM-7', characters: 159, remaining: 0 },
  ],
  [
    'an escape over the end of 160',
    `${'a'.repeat(159)}€`,
    { count: 2, encoding: 'GSM-7', characters: 160, remaining: 145 },
  ],
  [
    'an escape over the end of a part, which loses a septet',
    `${'a'.repeat(152)}€${'a'.repeat(151)}`,
    { count: 2, encoding: 'GSM-7', characters: 304, remaining: 0 },
  ],
  [
    'escapes only: each part holds 152',
    '€'.repeat(760),
    { count: 10, encoding: 'GSM-7', characters: 760, remaining: 1 },
  ],
  ['70 units', 'Ж'.repeat(70), { count: 1, encoding: 'UCS-2', characters: 70, remaining: 0 }],
  ['71 units', 'Ж'.repeat(71), { count: 2, encoding: 'UCS-2', characters: 71, remaining: 63 }],
  ['2 · 67', 'Ж'.repeat(134), { count: 2, encoding: 'UCS-2', characters: 134, remaining: 0 }],
  ['2 · 67 + 1', 'Ж'.repeat(135), { count: 3, encoding: 'UCS-2', characters: 135, remaining: 66 }],
  ['10 · 67', 'Ж'.repeat(670), { count: 10, encoding: 'UCS-2', characters: 670, remaining: 0 }],
  ['10 · 67 + 1', 'Ж'.repeat(671), { count: 11, encoding: 'UCS-2', characters: 671, remaining: 66 }],
  ['an emoji as the last of 70', `${'a'.repeat(68)}😀`, { count: 1, encoding: 'UCS-2', characters: 69, remaining: 0 }],
  [
    'an emoji over the end of 70',
    `${'a'.repeat(69)}😀`,
    { count: 2, encoding: 'UCS-2', characters: 70, remaining: 63 },
  ],
  [
    'an emoji over the end of a part, which loses a unit',
    `${'a'.repeat(66)}😀${'a'.repeat(65)}`,
    { count: 2, encoding: 'UCS-2', characters: 132, remaining: 0 },
  ],
  ['emoji only: each part holds 66', '😀'.repeat(330), { count: 10, encoding: 'UCS-2', characters: 330, remaining: 1 }],
  [
    'one character outside GSM-7 makes the whole text UCS-2, where € costs one unit',
    `${'€'.repeat(69)}’`,
    { count: 1, encoding: 'UCS-2', characters: 70, remaining: 0 },
  ],
];

for (const [name, text, expected] of boundaries) {
  test(`boundary: ${name}`, () => {
    assert.deepEqual(measure(text), expected);
    assert.equal(split(text).length, expected.count);
  });
}

test('a pair at the boundary goes to the next part whole', () => {
  const escapes = split(`${'a'.repeat(152)}€${'b'.repeat(151)}`);
  assert.deepEqual(escapes, ['a'.repeat(152), `€${'b'.repeat(151)}`]);
  const surrogates = split(`${'a'.repeat(66)}😀${'b'.repeat(65)}`);
  assert.deepEqual(surrogates, ['a'.repeat(66), `😀${'b'.repeat(65)}`]);
  // Two low surrogates are no pair, so a part may end between them.
  assert.deepEqual(
    split(`${'Ж'.repeat(66)}\udc00\udc00bcd`).map((part) => part.length),
    [67, 4],
  );
});

test('ten segments exactly can be sent, one unit more can not', () => {
  for (const text of ['a'.repeat(1530), '€'.repeat(760), 'Ж'.repeat(670), '😀'.repeat(330)]) {
    assert.equal(measure(text).count, 10);
    assert.equal(textProblem(text), undefined);
  }
  for (const text of ['a'.repeat(1531), '€'.repeat(761), 'Ж'.repeat(671), '😀'.repeat(331)]) {
    assert.match(textProblem(text) ?? '', /^must fit in 10 segments .*, this text would be 11 segments$/);
  }
  // 1,530 septets and 670 units in all, but the pairs don't fit the boundaries.
  assert.match(textProblem('€'.repeat(765)) ?? '', /would be 11 segments$/);
  assert.match(textProblem('😀'.repeat(335)) ?? '', /would be 11 segments$/);
  assert.equal(
    textProblem('a'.repeat(153 * 41)),
    'must fit in 10 segments (1530 septets in GSM-7), this text would be 41 segments',
  );
  assert.equal(
    textProblem('Ж'.repeat(67 * 12 + 1)),
    'must fit in 10 segments (670 UTF-16 units in UCS-2), this text would be 13 segments',
  );
});

test('what can not be sent is refused with its reason', () => {
  assert.equal(textProblem(''), 'must have at least one character');
  assert.equal(textProblem('a\u0000b'), 'must not contain a NUL character (at index 1)');
  assert.equal(textProblem('ab\ud83d'), 'must not contain an unpaired surrogate (at index 2)');
  assert.equal(textProblem('\ude00ab'), 'must not contain an unpaired surrogate (at index 0)');
  assert.equal(textProblem('\ud83d\ud83d\ude00'), 'must not contain an unpaired surrogate (at index 0)');
  assert.equal(textProblem('😀\ude00'), 'must not contain an unpaired surrogate (at index 2)');
  // The fault of the character comes before the length: shortening alone would not mend it.
  assert.match(textProblem(`${'Ж'.repeat(700)}\u0000`) ?? '', /NUL/);
  for (const text of [' ', 'Hello', '😀', '👨‍👩‍👧', '\n', '\ufffd', '\ud7ff\ue000'])
    assert.equal(textProblem(text), undefined);
});

test('segments that the caller passes are not measured again', () => {
  assert.equal(textProblem('Hello', { count: 10, encoding: 'GSM-7', characters: 5, remaining: 0 }), undefined);
  assert.match(
    textProblem('Hello', { count: 12, encoding: 'GSM-7', characters: 5, remaining: 0 }) ?? '',
    /would be 12 segments$/,
  );
});
