import { invalidField } from '../platform/errors.ts';

/** RFC 5321's limit for an address. */
export const longestEmail = 254;

/**
 * What HTML calls a valid e-mail address, with a dot in its domain: ASCII only, so that every locale agrees on what lower
 * case is. No two neighbours match the same character, so it reads each one once.
 */
export const emailPattern = "^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9-]+(?:\\.[A-Za-z0-9-]+)+$";

const pattern = new RegExp(emailPattern);

/**
 * The one spelling under which an account is stored, found and throttled; undefined for what is no e-mail address. The
 * database only compares it: its `lower()` depends on the locale, and found an account by `İ` as well as by `i`.
 */
export function readEmail(text: string): string | undefined {
  return text.length <= longestEmail && pattern.test(text) ? text.toLowerCase() : undefined;
}

export function requireEmail(text: string): string {
  const email = readEmail(text);
  if (email === undefined) throw invalidField('email', 'must be an email address, like you@example.com');
  return email;
}
