/** One for each logical call: however often it is sent, the service does the work once. */
export function newIdempotencyKey(): string {
  // Unlike crypto.randomUUID, this is also there on a page without TLS.
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** The service takes others than these for a mistake; fetch would take some of them for a second header. */
export function checkIdempotencyKey(key: string): string {
  if (typeof key === 'string' && /^[\x21-\x7e]{1,255}$/.test(key)) return key;
  throw new TypeError('idempotencyKey must be 1 to 255 visible ASCII characters without spaces.');
}
