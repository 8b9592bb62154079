import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defaultAlphabet, escapeSeptet, extensionAlphabet, isGsm, septetsOf } from './gsm.ts';
import { measure } from './text.ts';

/** The default alphabet again, as the Unicode consortium's GSM0338.TXT gives it: code points by septet, eight a row. */
const byCodePoint = `
  0040 00A3 0024 00A5 00E8 00E9 00F9 00EC  00F2 00C7 000A 00D8 00F8 000D 00C5 00E5
  0394 005F 03A6 0393 039B 03A9 03A0 03A8  03A3 0398 039E 001B 00C6 00E6 00DF 00C9
  0020 0021 0022 0023 00A4 0025 0026 0027  0028 0029 002A 002B 002C 002D 002E 002F
  0030 0031 0032 0033 0034 0035 0036 0037  0038 0039 003A 003B 003C 003D 003E 003F
  00A1 0041 0042 0043 0044 0045 0046 0047  0048 0049 004A 004B 004C 004D 004E 004F
  0050 0051 0052 0053 0054 0055 0056 0057  0058 0059 005A 00C4 00D6 00D1 00DC 00A7
  00BF 0061 0062 0063 0064 0065 0066 0067  0068 0069 006A 006B 006C 006D 006E 006F
  0070 0071 0072 0073 0074 0075 0076 0077  0078 0079 007A 00E4 00F6 00F1 00FC 00E0`
  .trim()
  .split(/\s+/)
  .map((hex) => Number.parseInt(hex, 16));

const extension: [codePoint: number, septet: number][] = [
  [0x000c, 0x0a],
  [0x005e, 0x14],
  [0x007b, 0x28],
  [0x007d, 0x29],
  [0x005c, 0x2f],
  [0x005b, 0x3c],
  [0x007e, 0x3d],
  [0x005d, 0x3e],
  [0x007c, 0x40],
  [0x20ac, 0x65],
];

test('the default alphabet has 128 septets, each at its index', () => {
  assert.equal(byCodePoint.length, 128);
  assert.deepEqual(
    Array.from(defaultAlphabet, (character) => character.codePointAt(0)),
    byCodePoint,
  );
  assert.equal(byCodePoint[escapeSeptet], 0x1b);
});

test('the extension table has ten characters, each with its septet', () => {
  assert.deepEqual(
    Array.from(extensionAlphabet, ([character, septet]) => [character.codePointAt(0), septet]),
    extension,
  );
});

test('of all 65,536 units, 127 cost one septet, ten cost two, and no other is in GSM-7', () => {
  const expected = new Uint8Array(0x10000);
  for (const codePoint of byCodePoint) expected[codePoint] = 1;
  for (const [codePoint] of extension) expected[codePoint] = 2;
  expected[0x1b] = 0;
  assert.deepEqual(septetsOf, expected);
});

test('a text of any one character of GSM-7 is GSM-7, with its septets taken from 160', () => {
  for (const codePoint of byCodePoint) {
    if (codePoint === 0x1b) continue;
    const character = String.fromCodePoint(codePoint);
    assert.deepEqual(
      measure(character),
      { count: 1, encoding: 'GSM-7', characters: 1, remaining: 159 },
      `U+${codePoint.toString(16)}`,
    );
    assert.ok(isGsm(character));
  }
  for (const [codePoint] of extension) {
    const character = String.fromCodePoint(codePoint);
    assert.deepEqual(
      measure(character),
      { count: 1, encoding: 'GSM-7', characters: 1, remaining: 158 },
      `U+${codePoint.toString(16)}`,
    );
    assert.ok(isGsm(character));
  }
});

test('the characters that are often taken for GSM-7 are not', () => {
  for (const character of ['ç', '`', '\u001b', '\t', '\u0000', 'á', 'ê', 'Á', 'À', 'α', 'Ж', '°', '’', '–', '\u00a0']) {
    assert.equal(isGsm(character), false, JSON.stringify(character));
    assert.deepEqual(measure(character), { count: 1, encoding: 'UCS-2', characters: 1, remaining: 69 });
    assert.equal(isGsm(`Hello${character}World`), false);
  }
  assert.ok(isGsm(''));
});
