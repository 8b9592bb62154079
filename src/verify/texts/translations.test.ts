import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { isGsm } from '../../messages/text/gsm.ts';
import { localePattern, localeProblem, translationOf, translations } from './translations.ts';

function languageOf(locale: string | null): string | undefined {
  return [...translations].find(([, translation]) => translation === translationOf(locale))?.[0];
}

function placeholdersIn(sentence: string): string[] {
  return Array.from(sentence.matchAll(/\{.*?\}/g), ([placeholder]) => placeholder);
}

test('every language says the code, the name and the minutes once, each in its sentence, and nothing like them', () => {
  assert.ok(translations.size >= 24);
  for (const [language, { named, bare, valid, secret }] of translations) {
    assert.deepEqual(placeholdersIn(named), ['{code}', '{app}'], language);
    assert.deepEqual(placeholdersIn(bare), ['{code}'], language);
    assert.deepEqual(placeholdersIn(valid), ['{minutes}'], language);
    assert.deepEqual(placeholdersIn(secret), [], language);
    for (const sentence of [named, bare, valid, secret]) {
      assert.doesNotMatch(sentence, /[\p{N}@#\n]|\p{L}\.\p{L}|:\/\/|\}\{|^\s|\s$/u, language);
      assert.equal(sentence, sentence.normalize('NFC'), language);
    }
  }
});

test('the code comes first, or after one word', () => {
  for (const [language, { named, bare }] of translations) {
    for (const sentence of [named, bare]) assert.match(sentence, /^(\p{L}+ )?\{code\}[ ,.]/u, language);
  }
});

test('minutes need no plural: a word that changes with the number, by CLDR, stands nowhere', () => {
  for (const [language, { valid }] of translations) {
    const minute = new Intl.NumberFormat(`${language}-u-nu-latn`, {
      style: 'unit',
      unit: 'minute',
      unitDisplay: 'long',
    });
    const forms = new Set(
      Array.from({ length: 10 }, (_, i) =>
        minute
          .format(i + 1)
          .replace(/\d+/, '')
          .trim(),
      ),
    );
    if (forms.size === 1) continue;
    const said = valid.replace('{minutes}', '10');
    for (const form of forms) assert.ok(!said.includes(form), `${language}: ${said} has ${form}`);
  }
});

test('languages whose sentences are in GSM-7', () => {
  const inGsm = [...translations].filter(([, translation]) => isGsm(Object.values(translation).join('')));
  const latin = 'af ca da de en es et fi fil fr hr id it lt ms nb nl pl ro sl sv sw tr';
  // Placeholders have braces, which are in GSM-7 at two septets each, so they do not change the encoding.
  assert.deepEqual(
    inGsm.map(([language]) => language),
    latin.split(' '),
  );
});

test('lookup: the tag itself, its script by its region, its language, what its readers read, else English', () => {
  const expected: [string | null, string][] = [
    [null, 'en'],
    ['en', 'en'],
    ['en-GB', 'en'],
    ['EN-us', 'en'],
    ['de-AT', 'de'],
    ['de-CH-1996', 'de'],
    ['de-DE-u-co-phonebk', 'de'],
    ['pt', 'pt'],
    ['pt-BR', 'pt'],
    ['pt-PT', 'pt'],
    ['es-419', 'es'],
    ['zh', 'zh-Hans'],
    ['zh-CN', 'zh-Hans'],
    ['zh-SG', 'zh-Hans'],
    ['zh-Hans-HK', 'zh-Hans'],
    ['zh-TW', 'zh-Hant'],
    ['zh-HK', 'zh-Hant'],
    ['zh-MO', 'zh-Hant'],
    ['zh-Hant', 'zh-Hant'],
    ['zh-hant-cn', 'zh-Hant'],
    ['cmn-TW', 'zh-Hant'],
    ['yue', 'zh-Hant'],
    ['yue-CN', 'zh-Hans'],
    ['no', 'nb'],
    ['nn', 'nb'],
    ['nn-NO', 'nb'],
    ['nb-NO', 'nb'],
    ['sr', 'sr'],
    ['sr-Latn', 'sr-Latn'],
    ['sr-ME', 'sr-Latn'],
    ['sr-Cyrl-ME', 'sr'],
    ['bs', 'hr'],
    ['iw', 'he'],
    ['in', 'id'],
    ['tl', 'fil'],
    ['tlh', 'en'],
    ['eo', 'en'],
    ['kk-KZ', 'en'],
    ['not a tag', 'en'],
    ['', 'en'],
    ['de_DE', 'en'],
    ['de-AT-1996-1996', 'de'],
    ['zh-TW-u-co-u-nu', 'zh-Hant'],
    ['rozaj-a-bb-a-bb', 'en'],
  ];
  for (const [locale, language] of expected) assert.equal(languageOf(locale), language, String(locale));
  for (const language of translations.keys()) assert.equal(languageOf(language), language);
});

test('locale: a well-formed tag of at most 35 characters, or the rest of the sentence', () => {
  for (const locale of ['en', 'pt-BR', 'zh-Hant', 'de-CH-1996', 'xx', 'tlh', `en-x-${'a'.repeat(8)}`]) {
    assert.equal(localeProblem(locale), undefined, locale);
  }
  for (const locale of ['', 'e', 'de_DE', 'german language', 'en-', '-en', 'en--US', 'x-twain', 'pt-BR\n', '日本']) {
    assert.equal(localeProblem(locale), 'must be a BCP 47 language tag, like en, pt-BR or zh-Hant', locale);
  }
  const long = 'en-x-abcdefgh-abcdefgh-abcdefgh-abc';
  assert.equal(long.length, 35);
  assert.equal(localeProblem(long), undefined);
  assert.equal(localeProblem(`${long}d`), 'must have at most 35 characters, this has 36');
});

test('property: what Intl.getCanonicalLocales takes is right, what has no tag’s syntax is not, and the lookup never throws', () => {
  const tag = fc.array(fc.constantFrom('en', 'zh', 'Hant', 'BR', 'x', 'u', 'no', 'a', '419', '1996', '_'), {
    minLength: 1,
    maxLength: 5,
  });
  fc.assert(
    fc.property(
      fc.oneof(
        tag.map((parts) => parts.join('-')),
        fc.string(),
      ),
      (locale) => {
        let wellFormed = locale.length <= 35;
        try {
          Intl.getCanonicalLocales(locale);
        } catch {
          wellFormed = false;
        }
        const isRight = localeProblem(locale) === undefined;
        if (wellFormed) assert.ok(isRight, 'Intl takes it');
        assert.equal(isRight, locale.length <= 35 && new RegExp(localePattern, 'u').test(locale));
        assert.ok(translationOf(locale));
      },
    ),
    { numRuns: 1000 },
  );
});
