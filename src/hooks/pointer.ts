/** The names that lead to a value. */
export type ValuePath = readonly string[];

/** Reads a JSON pointer (RFC 6901). */
export function readPointer(pointer: string): ValuePath {
  const parts = pointer === '' ? [] : pointer.slice(1).split('/');
  return parts.map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** The value at the end of a path. Undefined where it leads nowhere. */
export function valueAt(payload: unknown, path: ValuePath): unknown {
  let value = payload;
  for (const name of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Record<string, unknown>)[name];
  }
  return value;
}

const longestPointer = 200;
export const rightPointer = `a JSON pointer such as /data/phone, of at most ${longestPointer} characters`;
export const pointerPattern = '^(/([^~/]|~[01])*)+$';
const pointerForm = new RegExp(pointerPattern);

export function isPointer(text: string): boolean {
  return text.length <= longestPointer && pointerForm.test(text);
}

/** The way to a field as people write it: `sms.otp`. */
export function shownPointer(pointer: string): string {
  return pointer.slice(1).split('/').join('.');
}
