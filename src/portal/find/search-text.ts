import { readNumber } from '../../messages/numbers/phone-number.ts';
import { type IdPrefix, isId } from '../../platform/ids.ts';

export const longestSearch = 128;

/** Kinds of ids that Find knows. */
export const foundPrefixes = [
  'msg',
  'ver',
  'req',
  'app',
  'acc',
  'key',
  'cli',
  'sec',
  'cky',
  'reg',
  'snd',
  'whk',
] as const;
export type FoundPrefix = (typeof foundPrefixes)[number];

/** All that a search text may mean. */
export interface SearchText {
  id: { prefix: FoundPrefix; id: string } | undefined;
  /** Numbers with their country code. */
  numbers: string[];
  /** Digits that may be a number without its country code. */
  national: string | undefined;
  carrierId: string | undefined;
  /** Part of a name or an e-mail. */
  name: string | undefined;
}

const nothing: SearchText = { id: undefined, numbers: [], national: undefined, carrierId: undefined, name: undefined };

/** An id anywhere in the text: people paste log lines, JSON and addresses of pages. */
const idPattern = new RegExp(`\\b(${foundPrefixes.join('|')})_[0-9a-hjkmnp-tv-z]{26}\\b`, 'i');
const numeric = /^\+?[0-9][0-9 .()-]*$/;
const shortestNational = 6;
const shortestName = 2;

/** Reads what a person typed. An id means nothing else; other texts may mean several things. */
export function readSearchText(typed: string): SearchText {
  const text = typed.replaceAll(/\s+/gu, ' ').trim().slice(0, longestSearch);
  const id = idPattern.exec(text)?.[0]?.toLowerCase();
  const prefix = id?.slice(0, 3) as FoundPrefix | undefined;
  if (id !== undefined && prefix !== undefined && isId(prefix satisfies IdPrefix, id))
    return { ...nothing, id: { prefix, id } };
  const name = text.length >= shortestName ? text : undefined;
  const carrierId = /^[\x21-\x7e]{1,64}$/.test(text) ? text : undefined;
  return { ...nothing, ...readDigits(text), carrierId, name };
}

function readDigits(text: string): Partial<SearchText> {
  const plain = text
    .replace(/^tel:/i, '')
    .replaceAll(/\p{Pd}|\u2212|\//gu, '-')
    .replace('(0)', '')
    .replaceAll(/[()]/g, '');
  if (!numeric.test(plain)) return {};
  const digits = plain.replaceAll(/[^0-9]/g, '');
  if (plain.startsWith('+')) return { numbers: numbersOf(`+${digits}`) };
  if (digits.startsWith('00')) return { numbers: numbersOf(`+${digits.slice(2)}`) };
  const national = digits.length >= shortestNational && digits.length <= 15 ? digits : undefined;
  return { numbers: numbersOf(`+${digits}`), national };
}

function numbersOf(written: string): string[] {
  const number = readNumber(written);
  return number === undefined ? [] : [number];
}
