import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { anyCharacter } from '../../../test/support/any-character.ts';
import { inShort } from '../../../test/support/effort.ts';
import { senderProblem } from '../../messages/numbers/sender.ts';
import { isGsm } from '../../messages/text/gsm.ts';
import { gsmName, safeName, senderName } from './sender-name.ts';

test('sender: up to 11 characters of the name, whole words where it can, accents left out', () => {
  const expected: [string, string][] = [
    ['ACME', 'ACME'],
    ['Acme Ltd.', 'Acme Ltd.'],
    ['Acme Shop', 'Acme Shop'],
    ['Acme Corporation', 'Acme'],
    ['Acmecorporation', 'Acmecorpora'],
    ['Marks & Spencer', 'Marks'],
    ['H&M', 'H&M'],
    ['a-b_c&d+e f', 'a-b_c&d+e f'],
    ['Booking.com', 'Booking.com'],
    ['Café Zoë', 'Cafe Zoe'],
    ['Æther Straße', 'Aether'],
    ['Łódź Øl', 'Lodz Ol'],
    ['Işık', 'Isik'],
    ['ЛINE 日本', 'INE'],
    ["Joe's Bar", 'Joes Bar'],
    ['Joe’s Bar', 'Joes Bar'],
    ['Rock/Pop', 'Rock Pop'],
    ['  +Plus+  ', 'Plus'],
    ['1Password', '1Password'],
    ['365', 'Verify'],
    ['Яндекс', 'Verify'],
    ['日本', 'Verify'],
    ['😀', 'Verify'],
    ['...', 'Verify'],
    ['12345678901a', 'Verify'],
  ];
  for (const [app, label] of expected) assert.equal(senderName(app), label, app);
});

test('property: whatever the name, the label is one that a text may be sent from', () => {
  const name = fc.oneof(
    fc.string({ unit: anyCharacter, maxLength: 64, size: 'max' }),
    fc.string({ unit: fc.constantFrom(...'aZ09 .-_&+é日\n'), maxLength: 30, size: 'max' }),
  );
  fc.assert(
    fc.property(name, (app) => {
      const label = senderName(app);
      assert.equal(senderProblem(label), undefined);
      assert.match(label, /[A-Za-z]/);
      assert.equal(label, label.trim());
    }),
    { numRuns: inShort(600, 3000) },
  );
});

test('a name keeps what names are made of', () => {
  for (const name of [
    'Acme',
    'Café Ñandú & Söhne',
    'Yahoo!',
    'AC/DC 24/7',
    'Forever 21',
    'Studio 365',
    'Web 2.0',
    'Acme S.A',
    '日本銀行',
    'हिन्दी',
    'می‌خواهم',
    '👨‍👩‍👧 Family',
    '❤️‍🔥',
    '3M',
    '$',
  ]) {
    assert.equal(safeName(name), name.normalize('NFC'), name);
  }
  assert.equal(safeName('Cafe\u0301'), 'Café');
  assert.equal(safeName(' Acme \t Ltd. '), 'Acme Ltd');
});

test('a name loses links, codes, and what could be read as an autofill line', () => {
  const expected: [string, string][] = [
    ['Acme evil.com', 'Acme'],
    ['Go to https://evil.com/a?b now', 'Go to now'],
    ['Acme http://localhost', 'Acme'],
    ['Acme www.x', 'Acme'],
    ['www.evil.com', ''],
    ['https://evil.com', ''],
    ['bit.ly/x', ''],
    ['Acme (evil.co.uk)', 'Acme'],
    ['Acme пример.рф', 'Acme'],
    ['Acme i❤.ws', 'Acme'],
    ['Acme evil。com', 'Acme'],
    ['Acme evil．com', 'Acme'],
    ['Acme e\u200bvil.\u200bcom', 'Acme'],
    ['Acme evil.c\u200dom', 'Acme'],
    ['Acme mailto:me', 'Acme'],
    ['Acme tel:12', 'Acme'],
    ['a@evil.com', 'a'],
    ['@evil.com', 'evil com'],
    ['Booking.com', 'Booking com'],
    ['Dr.Oetker', 'Dr Oetker'],
    ['Acme 1234', 'Acme'],
    ['123456', ''],
    ['Acme 12-34', 'Acme'],
    ['Acme 1 2 3 4', 'Acme'],
    ['Acme 192.0.2.1', 'Acme'],
    ['Acme ١٢٣٤', 'Acme'],
    ['Acme １２３４', 'Acme'],
    ['Acme 1️⃣2️⃣3️⃣4️⃣', 'Acme'],
    ['Acme 12@34', 'Acme'],
    ['Acme 12\u200b34', 'Acme'],
    ['Acme 12 evil.com 34', 'Acme'],
    ['Acme\n@evil.com #9999', 'Acme'],
    ['@acme #1', 'acme 1'],
    ['＠acme', 'acme'],
    ['\u202eemcA\u202c', 'emcA'],
    ['A\u0000c\u0007me', 'A c me'],
    ['Acme\ud83d', 'Acme'],
    ['\u0301\u0302Acme', 'Acme'],
    ['Acme –', 'Acme'],
    ['...', ''],
    ['\u200b', ''],
    ['!?', ''],
  ];
  for (const [app, name] of expected) assert.equal(safeName(app), name, JSON.stringify(app));
});

const pieces =
  'evil.com|.|com|www.|http://|:|/|12|1|34|٣|３|@|#|\u202e|\u200b|\u200d|\ud83d|😀|❤️|👨‍👩‍👧|ê|Ł|e\u0301|Я|日|।| |\n|-|…|’|No.|№|․|{code}|$&|Ab';
const hostile = fc.array(fc.constantFrom(...pieces.split('|')), { maxLength: 14 }).map((parts) => parts.join(''));
const anyName = fc.oneof(hostile, fc.string({ unit: anyCharacter, maxLength: 64, size: 'max' }));

function assertSafe(name: string): void {
  assert.doesNotMatch(name, /[\p{L}\p{N}][.．。｡․]\p{L}{2}|:\/\/|www\./iu);
  assert.doesNotMatch(name, /\p{N}[^\p{L}\p{N}]?\p{N}[^\p{L}\p{N}]?\p{N}[^\p{L}\p{N}]?\p{N}/u);
  assert.doesNotMatch(name, /[@#\p{Cc}\p{Cs}\u202a-\u202e\u2066-\u2069\u200b\u2028]/u);
  assert.equal(name, name.trim());
}

test('property: a safe name is safe, and safe from itself', () => {
  fc.assert(
    fc.property(anyName, (app) => {
      const name = safeName(app);
      assertSafe(name);
      assert.equal(safeName(name), name);
    }),
    { numRuns: inShort(800, 5000) },
  );
});

test('in GSM-7: look-alikes and plain letters, signs left out, but never a letter', () => {
  const expected: [string, string | undefined][] = [
    ['Acme', 'Acme'],
    ['Joe’s “Bar”', `Joe's "Bar"`],
    ['Fête Ñandú', 'Fete Ñandu'],
    ['Żabka Łódź', 'Zabka Lodz'],
    ['Rocket 🚀 Shop', 'Rocket Shop'],
    ['Яндекс Go', undefined],
    ['日本', undefined],
    ['😀', undefined],
    ['evil.😀com', 'evil com'],
    ['12😀😀34', undefined],
    ['Ab evil․😀com', 'Ab'],
  ];
  for (const [name, plain] of expected) assert.equal(gsmName(name), plain, name);
});

test('property: a name in GSM-7 is in GSM-7, and as safe', () => {
  fc.assert(
    fc.property(anyName, (app) => {
      const plain = gsmName(safeName(app));
      if (plain === undefined) return;
      assert.ok(isGsm(plain));
      assertSafe(plain);
    }),
    { numRuns: inShort(800, 5000) },
  );
});
