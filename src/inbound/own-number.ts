// Tests: test/contract/inbound.test.ts
import type { Api } from '../http/route.ts';
import { firstWord } from './words.ts';

/** A number of ours, and the application that gets its texts. */
export interface OwnNumber {
  id: string;
  number: string;
  /** Texts that begin with this word; null: all others. */
  keyword: string | null;
  /** A carrier's name; null: any. */
  carrier: string | null;
  applicationId: string;
  api: Exclude<Api, 'verify'>;
  /** Keywords that this number ignores. */
  ignoredWords: string[];
  createdAtMs: number;
  updatedAtMs: number;
}

const separators = /[ .()-]+/g;
/** Longer numbers are international, with or without a plus; shorter ones are short codes. */
const longestShortCode = 8;

/**
 * A phone's or our own number in one form, `+447700900123` or `80123`, however carriers and operators write it. Names
 * stay as they are.
 */
export function canonicalNumber(text: string): string {
  const plain = text.replaceAll(separators, '');
  const [, prefix, digits] = /^(\+|00)?([1-9][0-9]{2,14})$/.exec(plain) ?? /^(\+)?([0-9]{3,15})$/.exec(plain) ?? [];
  if (digits === undefined) return text;
  const isInternational = prefix !== undefined || (digits.length > longestShortCode && !digits.startsWith('0'));
  return isInternational ? `+${digits}` : digits;
}

/** The application for a text. An entry with its keyword comes first, then one with its carrier. */
export function holderOf(
  numbers: readonly OwnNumber[],
  text: { to: string; text: string; carrier: string },
): OwnNumber | undefined {
  const word = firstWord(text.text);
  const fits = numbers.filter(
    ({ number, carrier, keyword }) =>
      number === text.to && (carrier === null || carrier === text.carrier) && (keyword === null || keyword === word),
  );
  const rank = ({ keyword, carrier }: OwnNumber) => (keyword === null ? 0 : 2) + (carrier === null ? 0 : 1);
  return fits.sort((a, b) => rank(b) - rank(a))[0];
}

/** All applications that a number is assigned to, also by keyword. */
export function holdersOf(numbers: readonly OwnNumber[], to: string, carrierName: string): OwnNumber[] {
  return numbers.filter(({ number, carrier }) => number === to && (carrier === null || carrier === carrierName));
}
