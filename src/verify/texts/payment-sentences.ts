import type { Payment } from '../assurance/payment.ts';
import { languageOf } from './translations.ts';

/** One sentence in each language of `translations.ts`. The payee is a name in any script, so no word depends on it. */
export const paymentSentences: Readonly<Record<string, string>> = {
  af: 'Betaal {money} aan {payee}.',
  ar: 'الدفع: {money} إلى {payee}.',
  bg: 'Плащане: {money} към {payee}.',
  bn: 'পেমেন্ট: {money}, প্রাপক {payee}।',
  ca: 'Pagament: {money} a {payee}.',
  cs: 'Platba: {money}, příjemce {payee}.',
  da: 'Betaling: {money} til {payee}.',
  de: 'Zahlung: {money} an {payee}.',
  el: 'Πληρωμή: {money} προς {payee}.',
  en: 'Payment: {money} to {payee}.',
  es: 'Pago: {money} a {payee}.',
  et: 'Makse: {money}, saaja {payee}.',
  fa: 'پرداخت: {money} به {payee}.',
  fi: 'Maksu: {money}, saaja {payee}.',
  fil: 'Bayad: {money} kay {payee}.',
  fr: 'Paiement : {money} à {payee}.',
  he: 'תשלום: {money} אל {payee}.',
  hi: 'भुगतान: {money}, प्राप्तकर्ता {payee}।',
  hr: 'Uplata: {money}, primatelj {payee}.',
  hu: 'Fizetés: {money}, kedvezményezett: {payee}.',
  id: 'Pembayaran: {money} ke {payee}.',
  is: 'Greiðsla: {money} til {payee}.',
  it: 'Pagamento: {money} a {payee}.',
  ja: 'お支払い {money}、支払先 {payee}。',
  ko: '결제: {money}, 받는 곳: {payee}.',
  lt: 'Mokate {money}, kam: {payee}.',
  lv: 'Maksājums: {money}, saņēmējs {payee}.',
  mk: 'Плаќање: {money}, примач {payee}.',
  ms: 'Bayaran: {money} kepada {payee}.',
  nb: 'Betaling: {money} til {payee}.',
  nl: 'Betaling: {money} aan {payee}.',
  pl: 'Przelew: {money}, odbiorca {payee}.',
  pt: 'Pagamento: {money} para {payee}.',
  ro: 'Plata: {money}, beneficiar {payee}.',
  ru: 'Платёж: {money}, получатель {payee}.',
  sk: 'Platba: {money}, príjemca {payee}.',
  sl: 'Znesek: {money}, prejemnik {payee}.',
  sq: 'Pagesa: {money} për {payee}.',
  sr: 'Плаћање: {money}, прималац {payee}.',
  'sr-Latn': 'Plaćanje: {money}, primalac {payee}.',
  sv: 'Betalning: {money} till {payee}.',
  sw: 'Malipo: {money} kwa {payee}.',
  th: 'ชำระเงิน {money} ให้ {payee}',
  tr: 'Tutar: {money}, alan: {payee}.',
  uk: 'Платіж: {money}, отримувач {payee}.',
  ur: 'ادائیگی: {money} بنام {payee}۔',
  vi: 'Thanh toán: {money} cho {payee}.',
  'zh-Hans': '付款 {money}，收款方 {payee}。',
  'zh-Hant': '付款 {money}，收款方 {payee}。',
};

const english = 'Payment: {money} to {payee}.';

/** The amount as the language writes it, with the currency's code: a sign may mean several currencies. */
export function moneyText({ amount, currency }: Payment, locale: string | null): string {
  const language = languageOf(locale);
  // A region decides how numbers are written (de-CH), but only with the same language.
  const asked = locale?.toLowerCase().startsWith(language.slice(0, 2)) === true ? [locale, language] : [language];
  const [usable = 'en'] = Intl.NumberFormat.supportedLocalesOf(asked.filter(isTag));
  const digits = amount.split('.')[1]?.length ?? 0;
  const format = new Intl.NumberFormat(usable, {
    style: 'currency',
    currency,
    currencyDisplay: 'code',
    numberingSystem: 'latn',
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
  // Marks of direction and special spaces are outside GSM-7 and would halve the room.
  return format
    .format(amount as Intl.StringNumericLiteral)
    .replace(/[\u00a0\u202f]/g, ' ')
    .replace(/[\u200e\u200f\u061c]/g, '')
    .replaceAll('\u2019', "'")
    .trim();
}

/** Intl throws for a tag that repeats a part. */
function isTag(tag: string): boolean {
  try {
    return Intl.getCanonicalLocales(tag).length === 1;
  } catch {
    return false;
  }
}

export function paymentSentence(payment: Payment, locale: string | null): string {
  return (paymentSentences[languageOf(locale)] ?? english).replace(/\{(money|payee)\}/g, (_, place) =>
    place === 'money' ? moneyText(payment, locale) : payment.payee,
  );
}
