/** What a sandbox does with a number it knows (section 11 of the contract). */
export type TestNumber =
  /** A verification's code is the first of these digits, as many as it has. */
  | { readonly kind: 'delivered'; readonly codeDigits: string }
  | { readonly kind: 'delivered_late'; readonly afterMs: number }
  | { readonly kind: 'undelivered' }
  /** A verification is `blocked` with the reason `block_list`, a text `failed`. */
  | { readonly kind: 'blocked' }
  /** A verification expires so soon; a text is delivered as ever. */
  | { readonly kind: 'expires_early'; readonly afterMs: number }
  | { readonly kind: 'failed_permanent' };

const prefix = '+150055501';

const delivered: TestNumber = { kind: 'delivered', codeDigits: '1234567890' };

/** By the number's last two digits. */
const kinds = new Map<string, TestNumber>([
  ...Array.from({ length: 10 }, (_, i): [string, TestNumber] => [`0${i}`, delivered]),
  ['10', { kind: 'delivered_late', afterMs: 10_000 }],
  ['11', { kind: 'undelivered' }],
  ['12', { kind: 'blocked' }],
  ['13', { kind: 'expires_early', afterMs: 2_000 }],
  ['14', { kind: 'failed_permanent' }],
]);

/** For the sandbox only: in production these are numbers like any other, and whoever asks there gets a wrong answer. */
export function testNumberOf(to: string): TestNumber | undefined {
  return to.startsWith(prefix) ? kinds.get(to.slice(prefix.length)) : undefined;
}
