import type { CountryTemplate } from '../../http/sending-rights.ts';
import type { SendingChannel } from '../../messages/channel.ts';
import { isGsm } from '../../messages/text/gsm.ts';
import { measure } from '../../messages/text/text.ts';
import { trimEnd } from '../../platform/trim-end.ts';
import type { Payment } from '../assurance/payment.ts';
import { type Autofill, autofillLine } from './autofill.ts';
import { fillTemplate } from './country-template.ts';
import { moneyText, paymentSentence } from './payment-sentences.ts';
import { gsmName, safeName } from './sender-name.ts';
import { spokenText } from './spoken-text.ts';
import { translationOf } from './translations.ts';

export interface VerificationTemplate {
  /** The application's name as the developer wrote it. */
  app: string;
  locale: string | null;
  /** How long the code is valid when the text is sent, 1 to 10. */
  minutes: number;
  codeLength: number;
  autofill: Autofill | null;
  /** Absent for `sms`. */
  channel?: SendingChannel;
  /** The operator's text for the application and country. It replaces the whole text. */
  own?: CountryTemplate;
  /** Every text of the verification states it, and may then have two segments. */
  payment?: Payment;
}

/** A name cut to fewer graphemes than this no longer identifies the sender. */
const leastOfName = 4;

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

/**
 * Renders a verification's text in one segment, always. To fit, it drops in this order: the end of the name, the name,
 * "do not share it", the validity, all but the code; the name returns where a dropped sentence left room. One segment
 * is 140 octets, which is also what Android's SMS Retriever reads.
 */
export function renderVerification(template: VerificationTemplate, code: string): string {
  if (template.channel === 'voice') return spokenText(template, code);
  if (template.own !== undefined) return fillTemplate(template.own.text, code, template.minutes);
  if (template.payment !== undefined) return renderPayment(template, template.payment, code);
  const { named, bare, valid, secret } = translationOf(template.locale);
  const ending = autofillLine(template.autofill, code);
  const name = safeName(template.app);
  for (const rest of [[valid, secret], [valid], []]) {
    const say = (sentence: string, app: string): string =>
      fill([sentence, ...rest], { code, app, minutes: String(template.minutes) }) + ending;
    const text = (name && sayWithName(name, (app) => say(named, app))) || say(bare, '');
    if (fits(text)) return text;
  }
  // domainProblem refuses every domain for which this would not fit.
  return code + ending;
}

/** How long a text may be; where apps read it, Android's SMS Retriever reads 140 octets. */
export function mostSegmentsOf({ autofill, payment }: Pick<VerificationTemplate, 'autofill' | 'payment'>): number {
  return payment === undefined || (autofill !== null && 'android_hash' in autofill) ? 1 : 2;
}

/**
 * Drops sentences until the text is short enough. Amount and payee always stay: a start whose text does not fit even so
 * is refused.
 */
function renderPayment(template: VerificationTemplate, payment: Payment, code: string): string {
  const { autofill, locale, minutes } = template;
  const { named, bare, valid, secret } = translationOf(locale);
  const ending = autofillLine(autofill, code);
  const name = safeName(template.app);
  const paid = paymentSentence(payment, locale);
  const say = (...sentences: string[]) => fill(sentences, { code, app: name, minutes: String(minutes), paid }) + ending;
  const texts = [
    ...(name === '' ? [] : [say(named, '{paid}', valid, secret)]),
    ...[say(bare, '{paid}', valid, secret), say(bare, '{paid}', secret), say(bare, '{paid}'), say('{code}.', '{paid}')],
  ];
  const shortest = `${code} ${moneyText(payment, locale)}, ${payment.payee}${ending}`;
  return texts.find((text) => measure(text).count <= mostSegmentsOf(template)) ?? shortest;
}

function fits(text: string): boolean {
  return measure(text).count === 1;
}

/** The text with as much of the name as fits; undefined when too little fits. */
function sayWithName(name: string, say: (app: string) => string): string | undefined {
  const whole = say(name);
  if (fits(whole)) return whole;
  const without = say('');
  const inGsm = isGsm(without);
  // One character outside GSM-7 leaves 70 characters of 160, so try the name in GSM-7 before cutting it.
  const plain = inGsm ? gsmName(name) : undefined;
  if (plain !== undefined && fits(say(plain))) return say(plain);

  const parts = beginningOf(plain ?? name, without);
  for (let length = parts.length; length > leastOfName; length--) {
    const cut = cutName(parts.slice(0, length));
    // … is not in GSM-7 and would cost half of the text.
    const text = say(inGsm && isGsm(cut) ? cut : `${cut}…`);
    if (cut !== '' && fits(text)) return text;
  }
  return undefined;
}

/** The graphemes of a name up to the first that does not fit, to limit the cuts to try for a long name. */
function beginningOf(name: string, without: string): string[] {
  const parts: string[] = [];
  if (!fits(without)) return parts;
  let beginning = '';
  for (const { segment } of graphemes.segment(name)) {
    beginning += segment;
    parts.push(segment);
    if (!fits(without + beginning)) break;
  }
  return parts;
}

/** Drops a partial last word if at least half remains, then trailing spaces and punctuation. */
function cutName(parts: string[]): string {
  const cut = parts.slice(0, -1).join('');
  const word = parts.at(-1) === ' ' ? cut.length : cut.lastIndexOf(' ');
  return trimEnd(word * 2 >= cut.length ? cut.slice(0, word) : cut, /[\s\p{P}]/u);
}

/**
 * Fills all placeholders in one pass, so that a name cannot contain one. No space follows an ideographic full stop, and
 * an ellipsis at the end of a name also ends the sentence.
 */
function fill(sentences: string[], values: { code: string; app: string; minutes: string; paid?: string }): string {
  return sentences
    .join(' ')
    .replaceAll('。 ', '。')
    .replace(/\{(code|app|minutes|paid)\}/g, (_, place: keyof typeof values) => values[place] ?? '')
    .replace('….', '…');
}
