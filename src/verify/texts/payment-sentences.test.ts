import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isGsm } from '../../messages/text/gsm.ts';
import { measure } from '../../messages/text/text.ts';
import { isSamePayment, paymentProblems, readPaymentCell, toPaymentCell } from '../assurance/payment.ts';
import { moneyText, paymentSentences } from './payment-sentences.ts';
import { translations } from './translations.ts';
import { renderVerification } from './verification-text.ts';

const ten = { amount: '10.00', currency: 'EUR', payee: 'Acme Shop' };

test('every language of the texts has a sentence, with each place once and nothing like a code or a link', () => {
  assert.deepEqual(new Set(Object.keys(paymentSentences)), new Set(translations.keys()));
  for (const [language, sentence] of Object.entries(paymentSentences)) {
    assert.deepEqual(sentence.match(/\{\w+\}/g), ['{money}', '{payee}'], language);
    assert.doesNotMatch(sentence, /[\p{N}@#\n]|:\/\/|\p{L}\.\p{L}|^\s|\s$/u, language);
    assert.equal(sentence, sentence.normalize('NFC'), language);
    const { named, bare } = translations.get(language) ?? { named: '', bare: '' };
    if (isGsm(named + bare)) assert.ok(isGsm(sentence), `${language}: ${sentence}`);
  }
});

test('the amount has all its digits, the currency its code, and only characters that texts have', () => {
  for (const locale of [null, ...translations.keys(), 'de-CH', 'en-IN', 'pt-PT', 'ar-EG', 'nn', 'xx', 'en-u-nu-arab']) {
    const text = moneyText({ ...ten, amount: '1234567890.125', currency: 'CHF' }, locale);
    assert.equal(text.replace(/[^0-9]/g, ''), '1234567890125', `${locale}: ${text}`);
    assert.ok(text.includes('CHF') && isGsm(text), `${locale}: ${JSON.stringify(text)}`);
  }
  assert.equal(moneyText({ ...ten, amount: '5', currency: 'JPY' }, 'ja'), 'JPY 5');
  assert.equal(moneyText({ ...ten, amount: '999999999999.999' }, null), 'EUR 999,999,999,999.999');
});

test('the text has code, amount and payee in every language, in two segments at most, one for an app', () => {
  for (const locale of translations.keys()) {
    for (const payee of ['Acme', 'Bäckerei Müller & Söhne', 'я'.repeat(40)]) {
      for (const autofill of [null, { domain: 'pay.example.com' }]) {
        const payment = { ...ten, payee };
        const text = renderVerification(
          { app: 'An application with a long name', locale, minutes: 10, codeLength: 10, autofill, payment },
          '4829131234',
        );
        const money = moneyText(payment, locale);
        for (const part of ['4829131234', money, payee]) assert.ok(text.includes(part), `${locale}: ${text}`);
        assert.ok(measure(text).count <= 2, `${locale}: ${text}`);
      }
    }
    const inApp = { app: 'Acme', locale, minutes: 10, codeLength: 6, autofill: { android_hash: 'FA+9qCX9VSu' } };
    assert.equal(measure(renderVerification({ ...inApp, payment: ten }, '482913')).count, 1, locale);
  }
});

test('a cell is read as it was written; amounts compare by value', () => {
  const odd = { amount: '007.50', currency: 'GBP', payee: "Marks & Sons St. 4 - O'Neil" };
  assert.deepEqual(readPaymentCell(toPaymentCell(odd)), odd);
  const same = (a: string, b: string) =>
    isSamePayment(toPaymentCell({ ...ten, amount: a }), toPaymentCell({ ...ten, amount: b }));
  for (const [a, b] of [
    ['10', '10.000'],
    ['0', '0.00'],
    ['010.5', '10.50'],
  ] as const)
    assert.ok(same(a, b), `${a} ${b}`);
  for (const [a, b] of [
    ['10.00', '100.00'],
    ['1', '1.001'],
    ['0.1', '1'],
  ] as const)
    assert.ok(!same(a, b), `${a} ${b}`);
  assert.ok(isSamePayment(null, null) && !isSamePayment(null, toPaymentCell(ten)));
});

test('payees: letters of any script, and nothing that a phone could read as a link', () => {
  const payeeProblems = (payee: string) => paymentProblems({ ...ten, payee }).length;
  for (const payee of ["O'Neil & Co. Ltd.", 'Société Générale', '株式会社テスト', 'A', '7-Eleven', 'St. Mary']) {
    assert.equal(payeeProblems(payee), 0, payee);
  }
  for (const payee of ['', ' ', 'a.b', '.a', 'www x', 'WWW', 'a@b', 'a:b', 'a\u00a0b', 'a|b', 'ｗ．ｘ', 'e\u0301']) {
    assert.equal(payeeProblems(payee), 1, payee);
  }
});
