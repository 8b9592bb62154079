/** One key for each logical call: the service executes it once, even if it is sent several times. */
export function newIdempotencyKey(): string {
  // Unlike crypto.randomUUID, this also exists on a page without TLS.
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** The service refuses other characters, and fetch could read some of them as a second header. */
export function checkIdempotencyKey(key: string): string {
  if (typeof key === 'string' && /^[\x21-\x7e]{1,255}$/.test(key)) return key;
  throw new TypeError('idempotencyKey must be 1 to 255 visible ASCII characters without spaces.');
}
