/** An id as a part of a path. URL parsing would remove `.` and `..`, and change the call. */
export function pathPart(name: string, value: string): string {
  if (typeof value === 'string' && value !== '' && value !== '.' && value !== '..') return encodeURIComponent(value);
  throw new TypeError(`${name} must not be empty.`);
}
