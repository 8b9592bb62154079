/** An id as a part of a path. An address would lose `.` and `..`, and the call would become another one. */
export function pathPart(name: string, value: string): string {
  if (typeof value === 'string' && value !== '' && value !== '.' && value !== '..') return encodeURIComponent(value);
  throw new TypeError(`${name} must not be empty.`);
}
