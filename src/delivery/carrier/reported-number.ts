// Tests: test/parts/receipts.test.ts
/** Carriers write numbers with and without prefixes, so the end decides. */
const comparedDigits = 8;

/** Whether a receipt's number is `ours`; undefined where its mask hides the number of digits. */
export function isNumber(number: string, ours: string): boolean | undefined {
  if (!number.includes('*')) return hasSameEnd(number, ours);
  const digits = ours.replace('+', '');
  if (number.length !== digits.length) return undefined;
  return [...number].every((character, index) => character === '*' || character === digits[index]);
}

export function hasSameEnd(number: string, ours: string): boolean {
  return ours.slice(-comparedDigits) === number.slice(-comparedDigits);
}
