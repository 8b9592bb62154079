import { domainToASCII, domainToUnicode } from 'node:url';
import { measure } from '../../messages/text/text.ts';

/**
 * How a phone fills in the code: for web pages of `domain` (WebOTP), also in a frame of a page of `embedded_in`, or for
 * the Android app with this hash.
 */
export type Autofill = { domain: string; embedded_in?: string | null } | { android_hash: string };

/** Copies only the known field and drops any other property of the caller. */
export function copyAutofill(given: Autofill | null): Autofill | null {
  if (given === null) return null;
  if ('android_hash' in given) return { android_hash: given.android_hash };
  const { domain, embedded_in } = given;
  return embedded_in == null ? { domain } : { domain, embedded_in };
}

const longestCode = '0'.repeat(10);

/**
 * The shortest text is the code alone, all GSM-7 in every language. The domain may fill the rest of the segment, one
 * septet per character.
 */
const longestDomain = measure(longestCode + autofillLine({ domain: '' }, longestCode)).remaining;
/** Maximum length of `domain` and `embedded_in` together. */
const longestDomains = measure(longestCode + autofillLine({ domain: '', embedded_in: '' }, longestCode)).remaining;

const label = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?';
/** The last label must not start with a digit: that would be an IP address, not a top-level domain. */
const host = new RegExp(`^(?:${label}\\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$`);
const androidHash = /^[A-Za-z0-9+/]{11}$/;
const anyCase = host.source.replaceAll('a-z', 'A-Za-z');

const longestName = 253;
export const rightDomain = 'a host name with at least one dot, like example.com, without scheme, port or path';
export const rightHash = "the 11 characters (A-Z, a-z, 0-9, + or /) of the app's hash for Android's SMS Retriever";

/** For the reference: either of the two. */
export const shownAutofill = {
  oneOf: [
    {
      title: 'AutofillOnPage',
      type: 'object',
      properties: {
        domain: {
          type: 'string',
          maxLength: longestDomain,
          pattern: anyCase,
          description: `For WebOTP: ${rightDomain}, in ASCII`,
        },
        embedded_in: {
          type: ['string', 'null'],
          maxLength: longestDomains,
          pattern: anyCase,
          description: 'The host of the page that embeds the page of domain in a frame',
        },
      },
      required: ['domain'],
      not: { required: ['android_hash'] },
    },
    {
      title: 'AutofillInApp',
      type: 'object',
      properties: {
        android_hash: { type: 'string', maxLength: 11, pattern: androidHash.source, description: rightHash },
      },
      required: ['android_hash'],
      not: { required: ['domain'] },
    },
  ],
};

/**
 * The last line of the text, with its line break: both readers expect nothing else on it. Browsers compare the host as
 * written with the page's lower-case host (WICG sms-one-time-codes).
 */
export function autofillLine(autofill: Autofill | null, code: string): string {
  if (autofill === null) return '';
  if ('domain' in autofill) {
    const frame = autofill.domain.toLowerCase();
    const page = autofill.embedded_in?.toLowerCase();
    return page === undefined ? `\n@${frame} #${code}` : `\n@${page} #${code} @${frame}`;
  }
  return `\n${autofill.android_hash}`;
}

/** Completes a sentence that begins with "autofill.domain"; undefined when the domain is valid. */
export function domainProblem(domain: string): string | undefined {
  const right = `must be ${rightDomain}`;
  // No host name is longer (RFC 1035, section 2.3.4), and decoding Punycode takes quadratic time.
  if (domain.length > longestName) return right;
  const ascii = domainToASCII(domain);
  if (!/^\p{ASCII}*$/u.test(domain)) return host.test(ascii) ? `must be in ASCII: ${ascii}` : right;
  if (!host.test(domain.toLowerCase()) || !isDecodable(domain.toLowerCase())) return right;
  if (domain.length <= longestDomain) return undefined;
  return `must have at most ${longestDomain} characters, so that the text fits in one segment; this has ${domain.length}`;
}

/** Completes a sentence that begins with "autofill.embedded_in"; undefined when it is valid. `domain` is valid. */
export function embeddedProblem(embeddedIn: string, domain: string): string | undefined {
  const problem = domainProblem(embeddedIn);
  const length = embeddedIn.length + domain.length;
  if (problem !== undefined || length <= longestDomains) return problem;
  return `and domain must have at most ${longestDomains} characters together, so that the text fits in one segment; these have ${length}`;
}

/** No browser can be on a host with a Punycode label that decodes to nothing: Node 20 returns '', Node 24 leaves it as it is. */
function isDecodable(name: string): boolean {
  const unicode = domainToUnicode(name);
  return domainToASCII(unicode) === name && !/(?:^|\.)xn--/.test(unicode);
}

/** Completes a sentence that begins with "autofill.android_hash"; undefined when the hash is valid. */
export function androidHashProblem(hash: string): string | undefined {
  if (androidHash.test(hash)) return undefined;
  return `must be ${rightHash}`;
}
