import { encodeText, fromBase64 } from './encoding.ts';
import { SignatureError } from './errors.ts';
import type { Event } from './event.ts';

/** Headers of fetch, or of Node's and Express's requests. */
export type HeaderSource =
  | { get(name: string): string | null }
  | Record<string, string | readonly string[] | undefined>;

export interface VerifyWebhookOptions {
  /** The maximum age of a webhook, against replay attacks. */
  toleranceSeconds?: number | undefined;
  nowMs?: number | undefined;
}

/**
 * Checks that a webhook comes from the service and is fresh, and returns its event. `body` must be the received body, byte for
 * byte. `secret` may be several during a rotation.
 */
export async function verifyWebhook(
  headers: HeaderSource,
  body: string | Uint8Array | ArrayBuffer,
  secret: string | readonly string[],
  { toleranceSeconds = 300, nowMs = Date.now() }: VerifyWebhookOptions = {},
): Promise<Event> {
  const keys = readSecrets(secret);
  const bytes = readBody(body);
  const id = readHeader(headers, 'webhook-id');
  const timestamp = readHeader(headers, 'webhook-timestamp');
  const signatures = readHeader(headers, 'webhook-signature');
  if (id === undefined || timestamp === undefined || signatures === undefined)
    throw new SignatureError(
      'The headers webhook-id, webhook-timestamp and webhook-signature are required, once each.',
    );
  const isFresh = Math.abs(nowMs / 1000 - Number(timestamp)) <= toleranceSeconds;
  if (!/^[0-9]{1,12}$/.test(timestamp) || !isFresh)
    throw new SignatureError(`The webhook was not sent within the last ${toleranceSeconds} seconds.`);
  const signed = join(encodeText(`${id}.${timestamp}.`), bytes);
  const given = signatures.split(' ').flatMap(readSignature);
  for (const key of keys) {
    const wanted = await sign(key, signed);
    if (given.some((signature) => isSame(signature, wanted))) return readEvent(bytes);
  }
  throw new SignatureError('No signature of the webhook matches the secret.');
}

function readSecrets(secret: string | readonly string[]): Uint8Array<ArrayBuffer>[] {
  const secrets: readonly unknown[] = Array.isArray(secret) ? secret : [secret];
  const keys = secrets.map((each) => {
    const [, text = ''] = /^whsec_([A-Za-z0-9+/_-]+={0,2})$/.exec(String(each)) ?? [];
    if (text === '') throw new TypeError('secret must be the secret of the webhook: whsec_ and base64.');
    return fromBase64(text);
  });
  if (keys.length === 0) throw new TypeError('secret must contain at least one secret.');
  return keys;
}

function readBody(body: string | Uint8Array | ArrayBuffer): Uint8Array {
  if (typeof body === 'string') return encodeText(body);
  // Test runners may use other classes of the same name, so `instanceof` does not recognize them.
  if (ArrayBuffer.isView(body)) return new Uint8Array(body.buffer, body.byteOffset, body.byteLength);
  if (Object.prototype.toString.call(body) === '[object ArrayBuffer]') return new Uint8Array(body);
  throw new TypeError('body must be the received text or bytes, not parsed JSON.');
}

function readHeader(headers: HeaderSource, name: string): string | undefined {
  if (isHeaders(headers)) return headers.get(name) ?? undefined;
  const found = Object.entries(headers).filter(([key]) => key.toLowerCase() === name);
  const values = found.flatMap(([, value]) => value ?? []);
  return values.length === 1 ? values[0] : undefined;
}

function isHeaders(headers: HeaderSource): headers is { get(name: string): string | null } {
  return typeof headers.get === 'function';
}

/** `v1,…`; other versions may follow it. */
function readSignature(text: string): Uint8Array[] {
  const [version, signature = ''] = text.split(',');
  if (version !== 'v1') return [];
  try {
    return [fromBase64(signature)];
  } catch {
    return [];
  }
}

async function sign(secret: Uint8Array<ArrayBuffer>, bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  const key = await crypto.subtle.importKey('raw', secret, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']);
  return new Uint8Array(await crypto.subtle.sign('HMAC', key, bytes));
}

/** Compares in constant time. */
function isSame(one: Uint8Array, other: Uint8Array): boolean {
  if (one.length !== other.length) return false;
  let difference = 0;
  for (const [index, byte] of one.entries()) difference |= byte ^ (other[index] ?? 0);
  return difference === 0;
}

function join(one: Uint8Array, other: Uint8Array): Uint8Array<ArrayBuffer> {
  const both = new Uint8Array(one.length + other.length);
  both.set(one);
  both.set(other, one.length);
  return both;
}

function readEvent(bytes: Uint8Array): Event {
  return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)) as Event;
}
