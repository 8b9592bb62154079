/** Long enough for an operator to find the error in the provider's list. */
const longestWords = 64;

/**
 * An error in the carrier's own words, safe to store and show: short, and without control characters. Null if it says
 * nothing.
 */
export function readCarrierWords(words: string | null | undefined): string | null {
  if (words === null || words === undefined) return null;
  const shown = words
    .slice(0, longestWords)
    .toWellFormed()
    .replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, '?')
    .trim();
  return shown === '' ? null : shown;
}

export function joinCarrierWords(words: readonly (string | undefined)[]): string {
  return words.filter((word) => word !== undefined && word !== '').join(', ');
}
