// Two independent calculators from npm as oracles. Where one of them disagrees with us, GSM 03.38 (3GPP TS 23.038 and
// 23.040) decides. The classes of disagreement, each pinned by a test below: 1. sms-segments-calculator keeps a
// grapheme cluster (base and combining marks, emoji joined by U+200D, flags, Hangul jamo) in one part, so it may count
// more parts. The specification knows characters only, and the phone shows the joined text. It agrees wherever no
// cluster meets a boundary, and never counts fewer. 2. split-sms takes any high surrogate and the unit behind it for a
// pair, also when that unit is no low surrogate. Such texts are not well-formed UTF-16; we refuse to send them. 3.
// `characters`: sms-segments-calculator counts septets in GSM-7 and grapheme clusters in UCS-2, split-sms counts a pair
// as one, as we do. No specification names such a number; the contract's is code points. 4. sms-segments-calculator
// reports no remaining room; it is derived from its last segment's bits.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { test } from 'node:test';
import fc from 'fast-check';
import { SegmentedMessage } from 'sms-segments-calculator';
import { inShort } from '../../../test/support/effort.ts';
import { measure, split, textProblem } from './text.ts';

/** It has no types of its own. */
interface SplitSms {
  split(text: string): {
    characterSet: 'GSM' | 'Unicode';
    parts: { content: string }[];
    length: number;
    remainingInPart: number;
  };
}
const splitSms = createRequire(import.meta.url)('split-sms') as SplitSms;

const gsm = Array.from(
  'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789@£$¥èéùìòÇ\n\rØøÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !"#¤%&\'()*+,-./:;<=>?¡ÄÖÑÜ§¿äöñüà',
);
const escaped = Array.from('\f^{}\\[~]|€');
const alphabets = {
  latin: Array.from('áâãçêíóôõúýÁÂÃÊÍÓÔÕÚčďěňřšťůžąęłśźżğış`“”‘’–—…•°'),
  greek: Array.from('αβγδεζηθικλμνξοπρστυφχψω'),
  cyrillic: Array.from('абвгдежзийклмнопрстуфхцчшщъыьэюя'),
  chinese: Array.from('你好世界短信測試漢字かなカナ'),
  emoji: Array.from('😀🎉🚀🍕🐶💡🧪🪐𝒳𠮷'),
};

/** Texts of one alphabet or of several, with and without characters of GSM-7, up to more than ten parts. */
const mixed = fc
  .record({
    alphabet: fc.subarray([gsm, escaped, ...Object.values(alphabets)], { minLength: 1 }),
    maxLength: fc.constantFrom(20, 80, 170, 350, 800, 1700),
  })
  .chain(({ alphabet, maxLength }) =>
    fc.string({ unit: fc.constantFrom(...alphabet.flat()), minLength: 1, maxLength, size: 'max' }),
  );
const inGsm = fc.string({ unit: fc.constantFrom(...gsm, ...escaped), minLength: 1, maxLength: 1700, size: 'max' });

test('split-sms finds the same encoding, parts, characters and remaining room', () => {
  fc.assert(
    fc.property(fc.oneof(mixed, inGsm), (text) => {
      const ours = measure(text);
      const theirs = splitSms.split(text);
      assert.equal(ours.encoding, theirs.characterSet === 'GSM' ? 'GSM-7' : 'UCS-2');
      assert.deepEqual(
        split(text),
        theirs.parts.map(({ content }) => content),
      );
      assert.equal(ours.count, theirs.parts.length);
      assert.equal(ours.characters, theirs.length);
      assert.equal(ours.remaining, theirs.remainingInPart);
    }),
    { numRuns: inShort(25, 2000) },
  );
});

test('sms-segments-calculator finds the same encoding, count, characters and remaining room', () => {
  fc.assert(
    fc.property(fc.oneof(mixed, inGsm), (text) => {
      const ours = measure(text);
      const theirs = new SegmentedMessage(text);
      assert.equal(ours.encoding, theirs.encodingName);
      assert.equal(ours.count, theirs.segmentsCount);
      assert.equal(ours.characters, theirs.numberOfUnicodeScalars);
      const freeBits = theirs.segments.at(-1)?.freeSizeInBits() ?? 0;
      assert.equal(ours.remaining, Math.floor(freeBits / (ours.encoding === 'GSM-7' ? 7 : 16)));
    }),
    { numRuns: inShort(15, 500) },
  );
});

test('class 1: with grapheme clusters sms-segments-calculator counts as many parts or more, never fewer', () => {
  const clusters = ['e\u0301', '👨‍👩‍👧‍👦', '🇬🇧', '👍🏽', '❤️', 'नि', '각', 'a', 'Ж', '😀'];
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom(...clusters), minLength: 1, maxLength: 150, size: 'max' }),
      (text) => {
        const theirs = new SegmentedMessage(text);
        assert.equal(measure(text).encoding, theirs.encodingName);
        assert.ok(theirs.segmentsCount >= measure(text).count);
      },
    ),
    { numRuns: inShort(15, 300) },
  );
  // 134 units fill two parts; the family of 11 would straddle them.
  const family = `${'Ж'.repeat(61)}👨‍👩‍👧‍👦${'Ж'.repeat(62)}`;
  assert.equal(family.length, 134);
  assert.equal(measure(family).count, 2);
  assert.equal(new SegmentedMessage(family).segmentsCount, 3);
});

test('class 2: split-sms takes a high surrogate with any unit behind it for a pair; we refuse the text', () => {
  const text = `${'a'.repeat(66)}\ud83db`;
  assert.equal(measure(text).characters, 68);
  assert.equal(splitSms.split(text).length, 67);
  assert.match(textProblem(text) ?? '', /unpaired surrogate/);
});

test('class 3: sms-segments-calculator’s number of characters is septets in GSM-7 and clusters in UCS-2', () => {
  assert.equal(measure('a€').characters, 2);
  assert.equal(new SegmentedMessage('a€').numberOfCharacters, 3);
  assert.equal(measure('🇬🇧').characters, 2);
  assert.equal(new SegmentedMessage('🇬🇧').numberOfCharacters, 1);
});
