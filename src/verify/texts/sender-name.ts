import { isGsm } from '../../messages/text/gsm.ts';
import { offenders } from '../../messages/text/smart-encoding.ts';
import { trimEnd } from '../../platform/trim-end.ts';

/** Letters that Unicode does not decompose into a letter and a mark. */
const plainForms: ReadonlyMap<string, string> = new Map(
  Object.entries({ ß: 'ss', æ: 'ae', ø: 'o', œ: 'oe', đ: 'd', ð: 'd', þ: 'th', ł: 'l', ı: 'i', ħ: 'h', ŧ: 't' }),
);

const longestLabel = 11;

/**
 * The default sender of an application's verifications: its name in characters that every carrier accepts (see
 * messages/numbers/sender.ts), cut at a word boundary if there is one.
 */
export function senderName(app: string): string {
  const label = plainLetters(app)
    .replace(/['’`´]/g, '')
    .replace(/[^A-Za-z0-9.\-_&+]+/g, ' ')
    .replace(/^[ .\-_&+]+/, '');
  const word = label.lastIndexOf(' ', longestLabel);
  const cut = label.length > longestLabel && word > 0 ? label.slice(0, word) : label.slice(0, longestLabel);
  const name = trimEnd(cut, /[ \-_&+]/);
  return /[A-Za-z]/.test(name) ? name : 'Verify';
}

const dots = '.．。｡․';
/** A host-name character, a dot and two letters: phones may turn this into a link. */
const link = new RegExp(
  `://|www[${dots}]|\\b(?:mailto|tel|smsto?|geo):|[\\p{L}\\p{M}\\p{N}\\p{S}_-][${dots}]\\p{L}[\\p{L}\\p{M}\\u200c\\u200d]`,
  'iu',
);
const dotInHost = new RegExp(`(?<=\\S)[${dots}](?=\\S)`, 'gu');
/** Four digits of any script, separators allowed: people read "12-34" and "1 2 3 4" as codes too. */
const codeLike = /\p{N}(?:[^\p{L}\p{N}]{0,2}\p{N}){3,}\p{M}*/gu;
/** Invisible and direction-changing characters. Joiners stay inside words and emoji, which need them. */
const invisible =
  /(?<![\p{L}\p{M}\p{Extended_Pictographic}\p{Emoji_Modifier}])[\u200c\u200d]|[\u200c\u200d](?![\p{L}\p{Extended_Pictographic}])|(?![\u200c\u200d])\p{C}/gu;

/**
 * An application's name, made safe for our texts: developers choose it freely, so it must not add a link, a second code
 * or an autofill line. Empty when nothing is left. Repeats until stable, because a removal may join its neighbours.
 */
export function safeName(app: string): string {
  let name = app.normalize('NFC');
  for (let before = ''; before !== name; ) {
    before = name;
    name = name.replace(/[\s\p{Cc}@＠﹫#＃﹟]+/gu, ' ').replace(invisible, '');
    name = withoutLinks(name.trim()).replace(codeLike, ' ');
    // Trims what would dangle in the sentence: marks without a letter, and a full stop before the sentence's own.
    name = trimEnd(name.replace(/^[\s\p{M}]+/u, ''), /[\s\-–—:,;|/.]/).normalize('NFC');
  }
  return /[\p{L}\p{N}\p{S}]/u.test(name) ? name : '';
}

/** A name that is only a domain (Booking.com) is a brand: drop its dots, and with them the link. */
function withoutLinks(name: string): string {
  if (!link.test(name)) return name;
  if (/^[^\s:/?]+$/u.test(name) && !/^www/i.test(name)) return name.replace(dotInHost, ' ');
  return name
    .split(' ')
    .filter((word) => !link.test(word))
    .join(' ');
}

/**
 * A safe name in GSM-7: look-alikes for typography, letters without accents that GSM-7 lacks, no emoji or signs.
 * Undefined when a letter would be lost, because that would be another name.
 */
export function gsmName(name: string): string | undefined {
  let plain = '';
  let end = 0;
  for (const { character, index, substitute } of offenders(name)) {
    const instead = substitute ?? plainLetters(character);
    if (!isGsm(instead) && /[\p{L}\p{N}]/u.test(character)) return undefined;
    plain += name.slice(end, index) + (isGsm(instead) ? instead : '');
    end = index + character.length;
  }
  // Check again: replacements may have formed a link or a code.
  return safeName(plain + name.slice(end)) || undefined;
}

function plainLetters(text: string): string {
  return Array.from(text.normalize('NFD').replace(/\p{M}/gu, ''), (character) => {
    const plain = plainForms.get(character.toLowerCase());
    if (plain === undefined) return character;
    return character === character.toLowerCase() ? plain : plain.charAt(0).toUpperCase() + plain.slice(1);
  }).join('');
}
