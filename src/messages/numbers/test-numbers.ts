/** The behaviour of a test number in the sandbox (section 11 of the contract). */
export type TestNumber =
  | { readonly kind: 'delivered' }
  | { readonly kind: 'delivered_late'; readonly afterMs: number }
  | { readonly kind: 'undelivered' }
  /** A verification is `blocked` with the reason `block_list`; a text is `failed`. */
  | { readonly kind: 'blocked' }
  /** A verification expires after this time; a text is delivered normally. */
  | { readonly kind: 'expires_early'; readonly afterMs: number }
  | { readonly kind: 'failed_permanent' }
  /** A call rings for this time, and is not answered. */
  | { readonly kind: 'no_answer'; readonly afterMs: number }
  | { readonly kind: 'busy' }
  | { readonly kind: 'no_whatsapp' };

const prefix = '+150055501';

/** The code of a verification of any test number: the first of these, up to its length. */
export const testCodeDigits = '1234567890';

/** Keyed by the number's last two digits. */
const kinds = new Map<string, TestNumber>([
  ...Array.from({ length: 10 }, (_, i): [string, TestNumber] => [`0${i}`, { kind: 'delivered' }]),
  ['10', { kind: 'delivered_late', afterMs: 10_000 }],
  ['11', { kind: 'undelivered' }],
  ['12', { kind: 'blocked' }],
  ['13', { kind: 'expires_early', afterMs: 2_000 }],
  ['14', { kind: 'failed_permanent' }],
  ['15', { kind: 'no_answer', afterMs: 3_000 }],
  ['16', { kind: 'busy' }],
  ['17', { kind: 'no_whatsapp' }],
]);

/** Call this in the sandbox only: in production these are ordinary numbers. */
export function testNumberOf(to: string): TestNumber | undefined {
  return to.startsWith(prefix) ? kinds.get(to.slice(prefix.length)) : undefined;
}
