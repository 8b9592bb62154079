import { domainToASCII } from 'node:url';
import { measure } from '../messages/text.ts';

/** How a phone fills in the code by itself: for a web page of `domain` (WebOTP), or for the Android app of that hash. */
export type Autofill = { domain: string } | { android_hash: string };

/** The one field that is known, by itself: whatever else a caller put beside it goes no further. */
export function copyAutofill(given: Autofill | null): Autofill | null {
  if (given === null) return null;
  return 'domain' in given ? { domain: given.domain } : { android_hash: given.android_hash };
}

const longestCode = '0'.repeat(10);

/**
 * The least a text can say is its code, and everything in it is then GSM-7, whatever the language; so what that leaves
 * of a segment is what a domain may take, a character a septet.
 */
const longestDomain = measure(longestCode + autofillLine({ domain: '' }, longestCode)).remaining;

const label = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?';
/** A last label that begins with a digit would be no top-level domain but the end of an IP address. */
const host = new RegExp(`^(?:${label}\\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$`);
const androidHash = /^[A-Za-z0-9+/]{11}$/;

const longestName = 253;
export const rightDomain = 'a host name with at least one dot, like example.com, without scheme, port or path';
export const rightHash = "the 11 characters (A-Z, a-z, 0-9, + or /) that Android's SMS Retriever knows the app by";

/**
 * What follows the text, its line break with it: both readers look at the last line, which holds nothing else.
 * Browsers compare the host as it stands there with the page's, which is in lower case (WICG sms-one-time-codes).
 */
export function autofillLine(autofill: Autofill | null, code: string): string {
  if (autofill === null) return '';
  if ('domain' in autofill) return `\n@${autofill.domain.toLowerCase()} #${code}`;
  return `\n${autofill.android_hash}`;
}

/** The rest of a sentence that begins with "autofill.domain", or undefined. */
export function domainProblem(domain: string): string | undefined {
  const right = `must be ${rightDomain}`;
  // No name is longer (RFC 1035, section 2.3.4), and to read one as Punycode takes the square of its length.
  if (domain.length > longestName) return right;
  const ascii = domainToASCII(domain);
  if (!/^\p{ASCII}*$/u.test(domain)) return host.test(ascii) ? `must be in ASCII: ${ascii}` : right;
  // domainToASCII answers '' for a Punycode label that decodes to nothing, which no browser would ever be at.
  if (!host.test(domain.toLowerCase()) || ascii !== domain.toLowerCase()) return right;
  if (domain.length <= longestDomain) return undefined;
  return `must have at most ${longestDomain} characters, so that the text fits in one segment; this has ${domain.length}`;
}

/** The rest of a sentence that begins with "autofill.android_hash", or undefined. */
export function androidHashProblem(hash: string): string | undefined {
  if (androidHash.test(hash)) return undefined;
  return `must be ${rightHash}`;
}
