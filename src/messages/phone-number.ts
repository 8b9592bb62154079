import type { CountryCode, PhoneNumber, PhoneNumberType } from 'libphonenumber-js/max';

type Library = typeof import('libphonenumber-js/max');

/** The longest way to write a number that is read: 15 digits with a separator here and there. */
export const longestWritten = 32;

const e164 = /^\+[1-9][0-9]{6,14}$/;
/** A plus, then digits with any run of separators between two of them, so never before the first or after the last. */
const written = /^\+[1-9](?:[ .()-]*[0-9]){6,14}$/;
const separators = /[ .()-]+/g;

export const rightNumber = 'a plus, the country code and the number, 7 to 15 digits in all, like +447700900123';
const right = `must be ${rightNumber}`;

/** For the description of every `to` that a caller writes. */
export const numberForm =
  'a plus and 7 to 15 digits, like +447700900123; spaces, dots, hyphens and parentheses between digits are taken out (at most 32 characters in all)';

interface Loaded {
  library: Library;
  /** By calling code: a bit for each length that every country with the code has. */
  lengths: Map<string, number>;
}

let loaded: Loaded | undefined;

/**
 * Loads libphonenumber with all it knows. It takes about 75 ms and 10 MB, which a start in the sandbox need not pay;
 * production and the guard await it once at their start, and the functions below that need it throw before.
 */
export async function loadPhoneNumbers(): Promise<void> {
  if (loaded !== undefined) return;
  const library = await import('libphonenumber-js/max');
  loaded = { library, lengths: possibleLengths(library) };
}

/** `+44 (7700) 900-123` as `+447700900123`; undefined when it is written in no form that is a number's. */
export function readNumber(text: string): string | undefined {
  if (text.length > longestWritten) return undefined;
  if (e164.test(text)) return text;
  return written.test(text) ? text.replaceAll(separators, '') : undefined;
}

/** For a body that has been found right: its number as records show it. */
export function requireNumber(text: string): string {
  const number = readNumber(text);
  if (number === undefined) throw new Error('the number of a body was not checked');
  return number;
}

/** The number a list is filtered by. A plus that was not encoded arrives as a space; what is no number finds nothing. */
export function readNumberFilter(to: string | undefined): string | undefined {
  const text = to?.replace(/^ /, '+');
  return text === undefined ? undefined : (readNumber(text) ?? text);
}

/**
 * Why no text can go to `to`, as the rest of a sentence that begins with "to", or undefined. Production also refuses
 * the trunk prefix that libphonenumber forgives (+44 (0) 7700…): the carrier gets the digits as given, and a second number
 * for the same phone would be a second budget for it.
 */
export function numberProblem(written: string, environment: 'sandbox' | 'production'): string | undefined {
  const to = readNumber(written);
  if (to === undefined) return right;
  if (environment === 'sandbox' || isSurelyPossible(to)) return undefined;
  const number = parse(to);
  if (number?.isPossible() !== true) {
    const country =
      number === undefined
        ? 'no country has this code'
        : `this is too short or too long for +${number.countryCallingCode}`;
    return `${right}; ${country}`;
  }
  // The refusal is kept in a trace, so it does not repeat the number.
  return number.number === to
    ? undefined
    : `${right}; leave out the trunk prefix that follows +${number.countryCallingCode}`;
}

/**
 * The country a number belongs to. A range that no country of a shared code has yet counts for the code's main country
 * (the US for +1): new ranges appear there every year, before the metadata knows them. Undefined for numbers of no
 * country (satellites, +800) and for impossible ones.
 */
export function countryOf(to: string): CountryCode | undefined {
  const number = parse(to);
  return number?.country ?? number?.getPossibleCountries()[0];
}

/** The kind of line; undefined for a number that its country has not given out, as far as the metadata knows. */
export function typeOf(to: string): PhoneNumberType | undefined {
  return parse(to)?.getType();
}

/**
 * `+447700900123` as `+4477•••••123`: the country code, and of the rest the last three and the first two digits as far
 * as at least five stay hidden. The length stays, so masking twice is masking once. What is no number is hidden whole.
 */
export function maskNumber(to: string): string {
  if (!to.startsWith('+')) return '•'.repeat(to.length);
  const code = 1 + callingCodeLength(to);
  const spare = Math.max(0, to.length - code - 5);
  const tail = Math.min(3, spare);
  const head = Math.min(code + Math.min(2, spare - tail), to.length);
  return to.slice(0, head) + '•'.repeat(to.length - head - tail) + to.slice(to.length - tail);
}

/** The codes of two digits (ITU-T E.164, list of assigned codes). +1 and +7 have one, all the others three. */
const twoDigits = /^\+(?:2[07]|3[0-469]|4[013-9]|5[1-8]|6[0-6]|8[1246]|9[0-58])/;

function callingCodeLength(to: string): number {
  if (to.startsWith('+1') || to.startsWith('+7')) return 1;
  return twoDigits.test(to) ? 2 : 3;
}

function parse(to: string): PhoneNumber | undefined {
  return requireLoaded().library.parsePhoneNumberFromString(to, { extract: false });
}

function requireLoaded(): Loaded {
  if (loaded === undefined) throw new Error('loadPhoneNumbers() was not awaited before a number was looked up');
  return loaded;
}

/**
 * Most numbers end here: to libphonenumber "possible" is a matter of length alone, and reading a number with it costs
 * 10 to 80 µs, more than all else that is done for a text. It is asked about the rest: lengths that not every country
 * with the code has, and a zero behind the code, which is a trunk prefix nearly everywhere (in Italy it is not).
 */
function isSurelyPossible(to: string): boolean {
  const start = 1 + callingCodeLength(to);
  const lengths = requireLoaded().lengths.get(to.slice(1, start)) ?? 0;
  return to[start] !== '0' && (lengths & (1 << (to.length - start))) !== 0;
}

function possibleLengths({ Metadata, getCountries, getCountryCallingCode }: Library): Map<string, number> {
  const byCode = new Map<string, number>();
  for (const country of getCountries()) {
    const metadata = new Metadata();
    metadata.selectNumberingPlan(country);
    let bits = 0;
    for (const length of metadata.numberingPlan?.possibleLengths() ?? []) bits |= 1 << length;
    const code = getCountryCallingCode(country);
    byCode.set(code, (byCode.get(code) ?? bits) & bits);
  }
  return byCode;
}
