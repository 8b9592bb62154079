import { invalidField } from '../../platform/errors.ts';

/** The limit for an address in RFC 5321. */
export const longestEmail = 254;

/**
 * HTML's valid e-mail address, with a dot in the domain. ASCII only, so lower case does not depend on the locale.
 * Adjacent parts share no character, so matching takes linear time.
 */
export const emailPattern = "^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9-]+(?:\\.[A-Za-z0-9-]+)+$";

const pattern = new RegExp(emailPattern);

/**
 * The spelling that accounts are stored, found and throttled by; undefined for an invalid address. Postgres only
 * compares it, because its `lower()` depends on the locale.
 */
export function readEmail(text: string): string | undefined {
  return text.length <= longestEmail && pattern.test(text) ? text.toLowerCase() : undefined;
}

export function requireEmail(text: string): string {
  const email = readEmail(text);
  if (email === undefined) throw invalidField('email', 'must be an email address, like you@example.com');
  return email;
}
