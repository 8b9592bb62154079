declare const owned: unique symbol;

/**
 * A string that keeps no larger string in memory. V8 cuts substrings without copying: a cached key of 50 characters
 * would keep a request head of 16 KiB. Edge and HTTP pass this type; other caches copy a text when they store it.
 */
export type OwnedText = string & { readonly [owned]: true };

/** Copies: concatenating and cutting makes V8 build a new string. */
export function ownedText(text: string): OwnedText {
  return ` ${text}`.slice(1) as OwnedText;
}
