import { isGsm } from '../messages/gsm.ts';
import { measure } from '../messages/text.ts';
import { trimEnd } from '../platform/trim-end.ts';
import { type Autofill, autofillLine } from './autofill.ts';
import { gsmName, safeName } from './sender-name.ts';
import { translationOf } from './translations.ts';

export interface VerificationTemplate {
  /** The application's name as its developer wrote it. */
  app: string;
  locale: string | null;
  /** For how long the code is valid when the text leaves, 1 to 10. */
  minutes: number;
  codeLength: number;
  autofill: Autofill | null;
}

/** A name cut to fewer graphemes than this tells nobody who is writing. */
const leastOfName = 4;

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

/**
 * The text of a verification: always one segment, whatever the name, the language and the autofill line. What has no
 * room goes in this order: the end of the name, the name, "do not share it", how long it is valid, and at last all but
 * the code; a name comes back into the room that a sentence has left. One segment is 140 octets in both encodings, so
 * every text is also within the 140 bytes that Android's SMS Retriever reads.
 */
export function renderVerification(template: VerificationTemplate, code: string): string {
  const { named, bare, valid, secret } = translationOf(template.locale);
  const ending = autofillLine(template.autofill, code);
  const name = safeName(template.app);
  for (const rest of [[valid, secret], [valid], []]) {
    const say = (sentence: string, app: string): string =>
      fill([sentence, ...rest], { code, app, minutes: String(template.minutes) }) + ending;
    const text = (name && sayWithName(name, (app) => say(named, app))) || say(bare, '');
    if (fits(text)) return text;
  }
  // domainProblem keeps out every domain with which this would not fit.
  return code + ending;
}

function fits(text: string): boolean {
  return measure(text).count === 1;
}

/** The text with as much of the name as fits in it, or undefined when too little does. */
function sayWithName(name: string, say: (app: string) => string): string | undefined {
  const whole = say(name);
  if (fits(whole)) return whole;
  const without = say('');
  const inGsm = isGsm(without);
  // One character outside GSM-7 leaves 70 characters of 160, so a name is tried without them before it is cut.
  const plain = inGsm ? gsmName(name) : undefined;
  if (plain !== undefined && fits(say(plain))) return say(plain);

  const parts = beginningOf(plain ?? name, without);
  for (let length = parts.length; length > leastOfName; length--) {
    const cut = cutName(parts.slice(0, length));
    // … is not in GSM-7, where it would cost half of the text.
    const text = say(inGsm && isGsm(cut) ? cut : `${cut}…`);
    if (cut !== '' && fits(text)) return text;
  }
  return undefined;
}

/** The graphemes of a name up to the first that has no room beside the text, so that few cuts of a long name are tried. */
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

/** Without a last word that is cut in two, when that leaves at least half; and without what would dangle at the end. */
function cutName(parts: string[]): string {
  const cut = parts.slice(0, -1).join('');
  const word = parts.at(-1) === ' ' ? cut.length : cut.lastIndexOf(' ');
  return trimEnd(word * 2 >= cut.length ? cut.slice(0, word) : cut, /[\s\p{P}]/u);
}

/**
 * All places at once, so that a name can't hold a place itself. Sentences stand apart by a space, except after the
 * ideographic full stop, which brings its own; and a name's ellipsis is also the end of its sentence.
 */
function fill(sentences: string[], values: { code: string; app: string; minutes: string }): string {
  return sentences
    .join(' ')
    .replaceAll('。 ', '。')
    .replace(/\{(code|app|minutes)\}/g, (_, place: keyof typeof values) => values[place])
    .replace('….', '…');
}
