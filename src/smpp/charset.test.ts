import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { anyCharacter } from '../../test/support/any-character.ts';
import { measure } from '../messages/text/text.ts';
import { type Coding, charsetOf, chooseCharset, decodeText, encodeText, fits, unitsOf } from './charset.ts';

const gsmOne =
  '@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !"#¤%&\'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà';
const gsmTwo = '\f^{}\\[~]|€';
const gsmText = fc.string({ unit: fc.constantFrom(...gsmOne, ...gsmTwo), maxLength: 400 });
const anyText = fc.oneof(gsmText, fc.string({ unit: anyCharacter, maxLength: 200 }), fc.string({ unit: 'grapheme' }));
const codings: Coding[] = ['gsm7', 'gsm7packed', 'latin1', 'ascii', 'ucs2'];

function hex(text: string, coding: Coding, headerOctets = 0): string {
  return encodeText(text, coding, headerOctets).toString('hex');
}

test('a text that fits decodes to itself, after a header of any length', () => {
  const headers = fc.constantFrom(0, 6, 7, 12);
  fc.assert(
    fc.property(anyText, fc.constantFrom(...codings), headers, (text, coding, header) => {
      // Leaves out texts that do not survive: a packed text that ends in a carriage return, which is also the padding, and a
      // text that begins with a byte order mark.
      fc.pre(fits(text, coding) && text.isWellFormed() && !text.startsWith('\ufeff') && text.charCodeAt(0) !== 0xfffe);
      fc.pre(!(coding === 'gsm7packed' && text.endsWith('\r')));
      assert.equal(decodeText(encodeText(text, coding, header), coding, header), text);
    }),
  );
});

test('any octets decode without an error', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), fc.constantFrom(...codings), (octets, coding) => {
      assert.ok(decodeText(octets, coding).length <= 2 * octets.length + 1, 'the text is no longer than its octets');
    }),
  );
});

test('any text encodes without an error; what does not fit becomes a question mark', () => {
  fc.assert(
    fc.property(anyText, fc.constantFrom(...codings), (text, coding) => {
      assert.ok(encodeText(text, coding).length <= 2 * text.length, 'no character takes more than two octets');
    }),
  );
  assert.equal(encodeText('ça', 'gsm7').toString('latin1'), '?a');
  assert.equal(encodeText('€', 'latin1').toString('latin1'), '?');
});

test('GSM-7, one octet for each septet: @ is 0x00, _ is 0x11, € is an escape and 0x65', () => {
  assert.equal(hex('@_€', 'gsm7'), '00111b65');
  assert.equal(hex('hello', 'gsm7'), '68656c6c6f');
});

test('GSM-7 packed: the example that every description has, and seven free bits are a carriage return', () => {
  assert.equal(hex('hellohello', 'gsm7packed'), 'e8329bfd4697d9ec37');
  assert.equal(hex('1234567', 'gsm7packed'), '31d98c56b3dd1a');
  assert.equal(hex('12345678', 'gsm7packed'), '31d98c56b3dd70');
});

test('packed after a header: one fill bit after 6 octets, none after 7', () => {
  assert.equal(hex('A', 'gsm7packed', 6), '82');
  assert.equal(hex('A', 'gsm7packed', 7), '41');
  // 153 septets and a header of 6 octets, 152 and one of 7: both fill the 140 octets of a part.
  assert.equal(encodeText('a'.repeat(153), 'gsm7packed', 6).length, 134);
  assert.equal(encodeText('a'.repeat(152), 'gsm7packed', 7).length, 133);
});

test('UCS-2 is big-endian without a mark; both marks are understood', () => {
  assert.equal(hex('Ж😀', 'ucs2'), '0416d83dde00');
  assert.equal(decodeText(Buffer.from('feff0416', 'hex'), 'ucs2'), 'Ж');
  assert.equal(decodeText(Buffer.from('fffe1604', 'hex'), 'ucs2'), 'Ж');
  assert.equal(decodeText(Buffer.from('041600', 'hex'), 'ucs2'), 'Ж', 'an odd octet is left out');
});

test('in Latin-1 and ASCII @ is 0x40', () => {
  assert.equal(hex('@é', 'latin1'), '40e9');
  assert.equal(hex('@', 'ascii'), '40');
});

test('the units agree with what is billed', () => {
  fc.assert(
    fc.property(gsmText, (text) => {
      const units = [...text].reduce((sum, character) => sum + unitsOf(character.charCodeAt(0), 'gsm7'), 0);
      assert.equal(units, encodeText(text, 'gsm7').length);
      if (units <= 160) assert.equal(measure(text).remaining, 160 - units);
    }),
  );
});

test('an escape at the end, or before an unknown character, is a space', () => {
  assert.equal(decodeText(Uint8Array.of(0x41, 0x1b), 'gsm7'), 'A ');
  assert.equal(decodeText(Uint8Array.of(0x1b, 0x41), 'gsm7'), ' A');
});

test('the first charset of the settings that can carry the whole text', () => {
  assert.equal(chooseCharset('Olá', ['gsm7/0', 'ucs2/8']), 'ucs2/8', 'GSM-7 has no á');
  assert.equal(chooseCharset('Hej på dig', ['gsm7/0', 'ucs2/8']), 'gsm7/0');
  assert.equal(chooseCharset('ça va', ['gsm7/0', 'latin1/3', 'ucs2/8']), 'latin1/3');
  assert.deepEqual(charsetOf('latin1/3'), { coding: 'latin1', dataCoding: 3 });
  assert.equal(chooseCharset('hi', ['ascii/1', 'ucs2/8']), 'ascii/1');
  assert.equal(chooseCharset('😀', ['gsm7/0', 'latin1/0']), undefined, 'no charset is better than a wrong text');
});
