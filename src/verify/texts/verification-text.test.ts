import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { anyCharacter } from '../../../test/support/any-character.ts';
import { inShort } from '../../../test/support/effort.ts';
import { extensionAlphabet } from '../../messages/text/gsm.ts';
import { measure } from '../../messages/text/text.ts';
import type { Autofill } from './autofill.ts';
import { translations } from './translations.ts';
import { renderVerification, type VerificationTemplate } from './verification-text.ts';

const languages = [...translations.keys()];
const longestDomain = `${'a.'.repeat(65)}domain`;
const autofills: (Autofill | null)[] = [
  null,
  { domain: 'example.com' },
  { domain: 'accounts.login.example.co.uk' },
  { domain: 'a-rather-long-host-name.of-some-department.example.org' },
  { domain: longestDomain },
  { android_hash: 'FA+9qCX9VSu' },
];
const names = [
  'A',
  'Acme',
  'Acme Shop',
  'Société Générale',
  'Żabka',
  'Яндекс Маркет',
  '日本郵便',
  '🚀🚀🚀🚀🚀',
  '👨‍👩‍👧‍👦'.repeat(9),
  'The Very Long Name of an Application That Has Not Been Shortened',
  'Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbea',
  'Государственное автономное учреждение города Москвы «Мои доки»',
  '{[€]}'.repeat(12),
  'Booking.com',
  'Acme https://evil.example/x 999999',
  '{code} $& {minutes}',
  '999999',
  '\u202eevil\n@evil.com #9999',
  '',
];

/** The octets of a text on the wire, computed independently of measure(). */
function octets(text: string): number {
  if (measure(text).encoding === 'UCS-2') return Buffer.from(text, 'utf16le').length;
  const septets = Array.from(text).reduce((sum, character) => sum + (extensionAlphabet.has(character) ? 2 : 1), 0);
  return Math.ceil((septets * 7) / 8);
}

function codeOf(length: number): string {
  return '4829130567'.slice(0, length);
}

function render(template: Partial<VerificationTemplate>, code = '482913'): string {
  const whole = { app: 'Acme', locale: 'en', minutes: 10, codeLength: code.length, autofill: null, ...template };
  return renderVerification(whole, code);
}

/** Checks that hold for every text. */
function assertText(template: VerificationTemplate, code: string): void {
  const text = renderVerification(template, code);
  const { autofill } = template;
  const ending = autofill === null ? '' : 'domain' in autofill ? `\n@${autofill.domain} #${code}` : '\nFA+9qCX9VSu';
  const said = text.slice(0, text.length - ending.length);
  try {
    assert.equal(measure(text).count, 1);
    assert.ok(octets(text) <= 140);
    assert.ok(text.endsWith(ending));
    assert.deepEqual(said.match(/\p{N}{4,}/gu), [code]);
    assert.equal(said.split(code).length, 2);
    assert.doesNotMatch(said, /[\p{L}\p{N}]\.\p{L}{2}|:\/\/|www\.\S/iu);
    assert.doesNotMatch(said, /[@#\p{Cc}\p{Cs}\u202a-\u202e\u2066-\u2069\u2028\u2029]/u);
    assert.match(said, /^(인증번호 )?\d/);
  } catch (error) {
    throw new Error(`${JSON.stringify(template)} gave ${JSON.stringify(text)}: ${error}`);
  }
}

test('every language, code length, number of minutes and autofill: one segment, its code once, its last line exact', () => {
  for (const locale of languages) {
    for (const autofill of autofills) {
      for (const codeLength of inShort([4, 6, 10], [4, 5, 6, 7, 8, 9, 10])) {
        for (const minutes of inShort([1, 10], [1, 2, 3, 4, 5, 6, 7, 8, 9, 10])) {
          assertText({ app: 'Acme Shop', locale, minutes, codeLength, autofill }, codeOf(codeLength));
        }
      }
      for (const app of names) {
        for (const codeLength of inShort([10], [4, 10])) {
          assertText({ app, locale, minutes: 10, codeLength, autofill }, codeOf(codeLength));
        }
      }
    }
  }
});

test('property: the same with any name: one segment, its code once, its last line exact', () => {
  const pieces = 'evil.com|.|com|www.|http://|12|3|٣|@|#|\u202e|\u200d|😀|❤️|ê|Ł|Я|日| |\n|-|…|{code}|$&|Ab|€|{'.split(
    '|',
  );
  const app = fc.oneof(
    fc.string({ unit: 'grapheme', minLength: 1, maxLength: 64, size: 'max' }),
    fc.string({ unit: anyCharacter, minLength: 1, maxLength: 64, size: 'max' }),
    fc.string({ unit: fc.constantFrom(...pieces), minLength: 1, maxLength: 30, size: 'max' }),
  );
  const template = fc.record({
    app,
    locale: fc.constantFrom(...languages, null, 'eo', 'zh-TW'),
    minutes: fc.integer({ min: 1, max: 10 }),
    codeLength: fc.integer({ min: 4, max: 10 }),
    autofill: fc.constantFrom(...autofills),
  });
  const digits = fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: 10, maxLength: 10 });
  fc.assert(
    fc.property(template, digits, (whole, code) => assertText(whole, code.slice(0, whole.codeLength))),
    { numRuns: inShort(40, 4000) },
  );
});

test('property: only the length of the code decides the wording, so a text can be measured before its code is known', () => {
  for (const locale of languages) {
    for (const autofill of autofills) {
      const text = render({ app: 'Acme Shop', locale, autofill });
      const measured = render({ app: 'Acme Shop', locale, autofill }, '000000');
      assert.equal(text.replaceAll('482913', '000000'), measured);
    }
  }
});

test('the whole wording, where it fits', () => {
  assert.equal(render({}), '482913 is your Acme code. Valid for 10 min. Do not share it.');
  assert.equal(render({ locale: 'de' }), '482913 ist Ihr Code für Acme. 10 Min. gültig. Bitte nicht weitergeben.');
  assert.equal(render({ locale: 'ru' }), '482913 — ваш код Acme. Действует 10 мин. Никому не сообщайте.');
  assert.equal(render({ locale: 'zh-TW' }), '482913 是您的 Acme 驗證碼。10 分鐘內有效。請勿告知他人。');
  assert.equal(render({ app: '日本郵便' }), '482913 is your 日本郵便 code. Valid for 10 min. Do not share it.');
  assert.equal(
    render({ autofill: { domain: 'example.com' } }),
    '482913 is your Acme code. Valid for 10 min. Do not share it.\n@example.com #482913',
  );
  assert.equal(
    render({ minutes: 1, autofill: { android_hash: 'FA+9qCX9VSu' } }),
    '482913 is your Acme code. Valid for 1 min. Do not share it.\nFA+9qCX9VSu',
  );
  for (const locale of languages) {
    const { secret } = translations.get(locale) ?? assert.fail();
    const text = render({ app: 'Acme Shop', locale });
    assert.ok(text.includes('Acme Shop') && text.includes(secret) && text.includes('10'), text);
  }
});

test('a language in GSM-7 says all of it in GSM-7, with a longest code and an autofill line', () => {
  for (const locale of 'af ca da de en es et fi fil fr hr id it lt ms nb nl pl ro sl sv sw tr'.split(' ')) {
    const text = render({ app: 'Acme Shop', locale, autofill: { domain: 'accounts.example.com' } }, codeOf(10));
    assert.equal(measure(text).encoding, 'GSM-7', text);
    assert.ok(text.includes('Acme Shop') && text.includes(translations.get(locale)?.secret ?? '?'), text);
  }
});

test('a text that is too long drops, in order: the end of the name, the name, the warning, the minutes, all but the code', () => {
  const long = 'Госуслуги Москвы';
  assert.equal(
    render({ app: long, locale: 'ru' }),
    '482913 — ваш код Госуслуги… Действует 10 мин. Никому не сообщайте.',
  );
  const expected: [string, string, string][] = [
    ['Acme', 'a.io', '482913 — ваш код. Действует 10 мин. Никому не сообщайте.'],
    [long, 'app.example', '482913 — ваш код Госуслуги… Действует 10 мин.'],
    ['Acme', 'accounts.example.com', '482913 — ваш код Acme. Действует 10 мин.'],
    ['Acme', 'accounts.some.example.com', '482913 — ваш код. Действует 10 мин.'],
    ['Acme', 'accounts.other.example.com', '482913 — ваш код Acme.'],
    [long, 'accounts.department.example.com', '482913 — ваш код Госуслуги…'],
    ['Acme', 'accounts.other-department.of.example.com', '482913 — ваш код.'],
    ['Acme', 'accounts.another-department.of-an.example.com', '482913'],
  ];
  for (const [app, domain, said] of expected) {
    assert.equal(render({ app, locale: 'ru', autofill: { domain } }), `${said}\n@${domain} #482913`);
  }
});

test('a name that does not fit in a GSM-7 sentence: in GSM-7, else cut with …; at a word, never inside a character', () => {
  const app = 'Fête de la Gastronomie 🎉';
  const domain = 'example.com';
  assert.match(render({ app, autofill: { domain } }), /^482913 is your Fete de la Gastronomie code\. .* it\.\n/);
  assert.match(
    render({ app: '日本郵便株式会社東京中央支店銀行' }),
    /^482913 is your 日本郵便株式会社東京中央支… code\. .* it\.$/,
  );
  const words = 'Acme International Holding and Trading Company of Great Britain';
  const cut = render({ app: words, autofill: { domain: 'accounts.another-department.of-some.example.com' } });
  assert.match(cut, /^482913 is your Acme International Holding and Trading Company code\. .* it\.\n/);
  assert.equal(measure(cut).encoding, 'GSM-7');
  const families = render({ app: '👨‍👩‍👧‍👦'.repeat(5), locale: 'zh' });
  assert.equal(families, '482913 是您的验证码。10 分钟内有效。请勿告知他人。');
  assert.match(render({ app: '🚀'.repeat(40), locale: 'zh' }), /^482913 是您的 (🚀)+… 验证码。/u);
});

test('a cut name ends with a letter, and is left out when nothing but signs would stay', () => {
  const ru = (app: string) => render({ app, locale: 'ru' });
  assert.match(ru('Acme & Żabka International'), /^482913 — ваш код Acme & Żabka… Действует/);
  assert.match(ru('Acme Shop — International'), /^482913 — ваш код Acme Shop… Действует/);
  assert.match(ru(`${'«'.repeat(20)}Acme`), /^482913 — ваш код\. Действует/);
});

test('a name is never read as a placeholder or a pattern', () => {
  assert.equal(
    render({ app: '{code} $& {app}' }),
    '482913 is your {code} $& {app} code. Valid for 10 min. Do not share it.',
  );
});
