/**
 * V8 keeps the whole source of a substring in memory: a 50 character key keeps 16 KiB of headers. Copy strings before
 * caching them; concatenating and slicing forces a copy.
 */
export function ownCopy(text: string): string {
  return ` ${text}`.slice(1);
}
