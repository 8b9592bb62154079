/** RFC 5321's limit for an address. */
export const longestEmail = 254;

/** As JSON Schema takes it, with the flag `u`. No two neighbours match the same character, so it reads each one once. */
export const emailPattern = '^[^\\s\\p{C}@]{1,64}@[^\\s\\p{C}@.]+(?:\\.[^\\s\\p{C}@.]+)+$';

const pattern = new RegExp(emailPattern, 'u');

/**
 * The one spelling under which an account is stored, found and throttled; undefined for what is no e-mail address.
 * The database only compares it for equality: `lower()` depends on its locale, and finds accounts by other spellings.
 */
export function readEmail(text: string): string | undefined {
  if (text.length > longestEmail) return undefined;
  const email = text.normalize('NFC').toLowerCase().normalize('NFC');
  return email.length <= longestEmail && pattern.test(email) ? email : undefined;
}
