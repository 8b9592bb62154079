import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { anyCharacter } from '../../../test/support/any-character.ts';
import { inShort } from '../../../test/support/effort.ts';
import { isGsm } from './gsm.ts';
import { offenders, smartEncode } from './smart-encoding.ts';
import { measure } from './text.ts';

const examples: [text: string, encoded: string][] = [
  ['“Hello” — it’s ‘here’…', "\"Hello\" - it's 'here'..."],
  ['«Bonjour» „Tag“ ‹a›', '"Bonjour" "Tag" \'a\''],
  ['10:00–12:00 −5 co‑op', '10:00-12:00 -5 co-op'],
  ['a\u00a0b\u2009c\u202fd\u3000e\tf', 'a b c d e f'],
  ['a\u2028b\u2029c', 'a\nb\nc'],
  ['so\u00adft\u200b \ufeffhyphen', 'soft hyphen'],
  ['½ cup, 2½ cups, ２½, 2\u200b½, 7⅞', '1/2 cup, 2 1/2 cups, 2 1/2, 2 1/2, 7 7/8'],
  ['• one\n• two', '- one\n- two'],
  ['© ®™ №5 3×4 ≤5 → it`s', "(c) (R)(TM) No.5 3x4 <=5 -> it's"],
  ['ﬁne cœur', 'fine coeur'],
  ['ＡＣＭＥ：＇ok｀！～', "ACME:'ok'!~"],
  // NFC: a letter and its mark are one character; ohm, ångström and kelvin are letters; U+037E is the semicolon.
  ['cafe\u0301 A\u030a n\u0303 5 \u2126 \u212b \u212a\u037e', 'café Å ñ 5 Ω Å K;'],
  ['©\ufe0f', '(c)'],
  ['Hello, €5 {ok}', 'Hello, €5 {ok}'],
  ['', ''],
];

for (const [text, encoded] of examples) {
  test(`${JSON.stringify(text)} is sent as ${JSON.stringify(encoded)}`, () => {
    assert.equal(smartEncode(text), encoded);
    assert.equal(measure(smartEncode(text)).encoding, 'GSM-7');
  });
}

test('a text that can not be brought into GSM-7 is only normalised', () => {
  assert.equal(smartEncode('“Hi”… 😀'), '“Hi”… 😀');
  assert.equal(smartEncode('“cafe\u0301” ç'), '“café” ç');
  assert.equal(smartEncode('👨‍👩‍👧'), '👨‍👩‍👧');
  assert.equal(smartEncode('papá 10²'), 'papá 10²');
});

test('a text that would take more segments in GSM-7 is only normalised', () => {
  assert.equal(smartEncode('…'.repeat(53)), '.'.repeat(159));
  assert.equal(smartEncode('…'.repeat(54)), '…'.repeat(54));
});

test('offenders are each character outside GSM-7, where it is in UTF-16 units, and what would stand there', () => {
  assert.deepEqual(offenders('Hello {€}\n'), []);
  assert.deepEqual(offenders('😀 “a” cafe\u0301 ç x\u0301\u200b 2½'), [
    { character: '😀', index: 0, substitute: null },
    { character: '“', index: 3, substitute: '"' },
    { character: '”', index: 5, substitute: '"' },
    { character: 'e\u0301', index: 10, substitute: 'é' },
    { character: 'ç', index: 13, substitute: null },
    { character: '\u0301', index: 16, substitute: null },
    { character: '\u200b', index: 17, substitute: '' },
    { character: '½', index: 20, substitute: ' 1/2' },
  ]);
  // No character before it that the phone shows is a digit.
  assert.deepEqual(offenders('2😀½').at(-1), { character: '½', index: 3, substitute: '1/2' });
  assert.deepEqual(offenders('\ud83dx'), [{ character: '\ud83d', index: 0, substitute: null }]);
});

test('properties: what is encoded is GSM-7 or plain NFC, costs no more segments, and is not changed again', () => {
  const unit = fc.oneof(
    {
      weight: 6,
      arbitrary: fc.constantFrom(...'abc 159{€é“”‘’–—…½⅞•\u00a0\u200d\t`´ﬁ→×ＡÅ', 'e\u0301', 'a\u0308', '\u0301'),
    },
    { weight: 1, arbitrary: fc.constantFrom('😀', 'ç', 'Ж', '👨‍👩‍👧', '\u0958') },
    { weight: 1, arbitrary: fc.string({ unit: anyCharacter, minLength: 1, maxLength: 1 }) },
  );
  const text = fc.oneof(
    fc.string({ unit, maxLength: 200, size: 'max' }),
    fc.string({ unit: fc.constantFrom(...'ab1“…½\u00a0\u200b', 'e\u0301'), maxLength: 400, size: 'max' }),
  );
  fc.assert(
    fc.property(text, (given) => {
      const encoded = smartEncode(given);
      const normalized = given.normalize('NFC');
      assert.ok(isGsm(encoded) || encoded === normalized);
      assert.ok(measure(encoded).count <= measure(normalized).count);
      assert.equal(smartEncode(encoded), encoded);

      const found = offenders(given);
      assert.equal(found.length === 0, isGsm(given));
      for (const { character, index, substitute } of found) {
        assert.equal(given.slice(index, index + character.length), character);
        assert.ok(!isGsm(character));
        assert.ok(substitute === null || isGsm(substitute));
      }
      // Between the offenders all is GSM-7: none was left out.
      let end = 0;
      for (const { character, index } of found) {
        assert.ok(isGsm(given.slice(end, index)));
        end = index + character.length;
      }
      assert.ok(isGsm(given.slice(end)));
    }),
    { numRuns: inShort(200, 3000) },
  );
});

test('every character of the basic plane that has a substitute gets one of GSM-7', () => {
  for (let unit = 1; unit < 0xd800; unit++) {
    const [offender] = offenders(String.fromCharCode(unit));
    const substitute = offender?.substitute;
    if (typeof substitute === 'string') assert.ok(isGsm(substitute), `U+${unit.toString(16)}`);
  }
});

/** How many UTF-16 units were handed to `normalize` while something was done. */
function normalizedUnits(act: () => void): number {
  const original = String.prototype.normalize;
  let units = 0;
  String.prototype.normalize = function (this: string, form?: string) {
    units += this.length;
    return original.call(this, form);
  };
  try {
    act();
  } finally {
    String.prototype.normalize = original;
  }
  return units;
}

test('the work on a run of marks grows with its length, not with the square of it', () => {
  for (const marks of ['\u0301', '\u0345\u0334', '\u0316\u0301']) {
    const text = `e${marks.repeat(10_000)}`;
    assert.ok(normalizedUnits(() => offenders(text)) <= 3 * text.length);
    assert.ok(normalizedUnits(() => smartEncode(text)) <= 3 * text.length);
  }
});

test('a text with more marks on a letter than any language writes stays as it is', () => {
  const text = `e${'\u0345\u0334'.repeat(16)}`;
  assert.equal(smartEncode(text), text);
  assert.equal(smartEncode('e\u0345\u0334'), 'e\u0345\u0334'.normalize('NFC'));
});
