import type { CountryCode, PhoneNumber, PhoneNumberType } from 'libphonenumber-js/max';

type Library = typeof import('libphonenumber-js/max');

/** The longest accepted spelling of a number: 15 digits plus separators. */
export const longestNumber = 32;

const e164 = /^\+[1-9][0-9]{6,14}$/;
/** A plus, then digits. Separators may stand only between two digits. */
const written = /^\+[1-9](?:[ .()-]*[0-9]){6,14}$/;
/** For the API reference. */
export const numberPattern = written.source;
const separators = /[ .()-]+/g;

export const rightNumber = 'a plus, the country code and the number, 7 to 15 digits in all, like +447700900123';
const right = `must be ${rightNumber}`;

/** For the description of every `to` field. */
export const numberForm =
  'a plus and 7 to 15 digits, like +447700900123; spaces, dots, hyphens and parentheses between digits are removed (at most 32 characters in all)';

/** The form of a recipient's number: production refuses more than the schema of a number does. */
export function recipientForm(environment: 'sandbox' | 'production'): string {
  return environment === 'sandbox' ? numberForm : `${numberForm}; of a length that its country has`;
}

interface Loaded {
  library: Library;
  /** Per calling code, one bit for each length that is possible in every country with that code. */
  lengths: Map<string, number>;
  /** The country of each calling code that no other country has. */
  countries: Map<string, CountryCode>;
}

let loaded: Loaded | undefined;

/**
 * Loads libphonenumber with its full metadata: about 75 ms and 10 MB. Every process awaits it once at startup; the
 * functions below that need it throw before that.
 */
export async function loadPhoneNumbers(): Promise<void> {
  if (loaded !== undefined) return;
  const library = await import('libphonenumber-js/max');
  loaded = { library, lengths: possibleLengths(library), countries: unsharedCodes(library) };
}

/** `+44 (7700) 900-123` becomes `+447700900123`; undefined when the text is not a number. */
export function readNumber(text: string): string | undefined {
  if (text.length > longestNumber) return undefined;
  if (e164.test(text)) return text;
  return written.test(text) ? text.replaceAll(separators, '') : undefined;
}

/** The normalised number of a validated body. */
export function requireNumber(text: string): string {
  const number = readNumber(text);
  if (number === undefined) throw new Error('the number in a body was not validated');
  return number;
}

/** The number to filter a list by. An unencoded plus arrives as a space; text that is not a number matches no row. */
export function readNumberFilter(to: string | undefined): string | undefined {
  const text = to?.replace(/^ /, '+');
  return text === undefined ? undefined : (readNumber(text) ?? text);
}

/**
 * Reads a search: a whole number in any spelling, or some of its digits. Zeros that stand before a national number
 * (07700 900123) are left out, because no stored number has them.
 */
export function readNumberSearch(typed: string | undefined): { to?: string; part?: string } {
  const to = readNumberFilter(typed?.trimEnd());
  if (to === undefined || to === '') return {};
  if (e164.test(to) || !someDigits.test(to)) return { to };
  const digits = to.replaceAll(/[^0-9]/g, '');
  return { part: digits.length < shortestNational ? digits : digits.replace(/^0+/, '') };
}

const someDigits = /^[+ .()-]*[0-9][0-9 .()-]*$/;
/** The fewest digits of a national number with its zero. Fewer digits are a part of a number, so their zeros count. */
const shortestNational = 9;

/** A number as people of its country write it: `07700 900123` in GB becomes `+447700900123`. Undefined if it is none. */
export function readNationalNumber(text: string, country: string): string | undefined {
  if (text.length > longestNumber || !isCountry(country)) return undefined;
  const { library } = requireLoaded();
  const found = library.parsePhoneNumberFromString(text, { defaultCountry: country as CountryCode, extract: false });
  return found?.isPossible() && found.country !== undefined ? found.number : undefined;
}

/** For the description of a search by number. */
export const searchForm = 'A number in any spelling, or some of its digits';

/**
 * Why no text can go to `to` (completes "to …"), or undefined. Production refuses the trunk prefix that libphonenumber
 * accepts (+44 (0) 7700…): carriers get the digits as given, and one phone must not have two budgets.
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
  // Traces store this refusal, so it does not repeat the number.
  return number.number === to
    ? undefined
    : `${right}; leave out the trunk prefix that follows +${number.countryCallingCode}`;
}

/**
 * The country of a number. A range that no country of a shared code has yet counts for the main country (the US for
 * +1): new ranges appear before the metadata has them. Undefined for satellites, +800 and impossible numbers.
 */
export function countryOf(to: string): CountryCode | undefined {
  const number = parse(to);
  return number?.country ?? number?.getPossibleCountries()[0];
}

/** Like `countryOf`, but faster: it parses only numbers of codes that several countries share, like +1, +7 and +44. */
export function routedCountryOf(to: string): CountryCode | undefined {
  const code = to.slice(1, 1 + callingCodeLength(to));
  return requireLoaded().countries.get(code) ?? countryOf(to);
}

/** Whether this is the code of a country that has numbers. */
export function isCountry(code: string): boolean {
  return requireLoaded().library.isSupportedCountry(code);
}

/** The line type; undefined when the metadata does not know the range. */
export function typeOf(to: string): PhoneNumberType | undefined {
  return parse(to)?.getType();
}

/**
 * `+447700900123` becomes `+4477•••••123`: shows the country code, the last three and the first two other digits, but
 * hides at least five. Masking twice equals masking once. Text that is not a number is hidden entirely.
 */
export function maskNumber(to: string): string {
  if (!to.startsWith('+')) return '•'.repeat(to.length);
  const code = 1 + callingCodeLength(to);
  const spare = Math.max(0, to.length - code - 5);
  const tail = Math.min(3, spare);
  const head = Math.min(code + Math.min(2, spare - tail), to.length);
  return to.slice(0, head) + '•'.repeat(to.length - head - tail) + to.slice(to.length - tail);
}

/** Calling codes of two digits (ITU-T E.164, list of assigned codes). +1 and +7 have one digit, all others three. */
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
 * Decides by length, as libphonenumber does, but without its parser (10 to 80 µs, more than all other work on a text). The
 * parser decides rare lengths of shared codes, and a zero after the code: a trunk prefix, except in Italy.
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

function unsharedCodes({ getCountries, getCountryCallingCode }: Library): Map<string, CountryCode> {
  const byCode = new Map<string, CountryCode>();
  const shared = new Set<string>();
  for (const country of getCountries()) {
    const code = getCountryCallingCode(country);
    if (byCode.has(code)) shared.add(code);
    byCode.set(code, country);
  }
  for (const code of shared) byCode.delete(code);
  return byCode;
}
