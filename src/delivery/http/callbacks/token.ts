import type { KeyRing } from '../../../platform/crypto/keys.ts';
import { randomBytes } from '../../../platform/crypto/random.ts';
import type { CallbackUrls } from '../profile.ts';

/** The paths that providers report to: `{path}/{carrier}/receipts/{token}` and `…/inbound/{token}`. */
export const callbackPath = '/carriers/v1';

/** 128 bits, so that the address of a carrier's callbacks cannot be guessed. */
export function newCallbackToken(): string {
  return randomBytes(16).toString('hex');
}

export function sealCallbackToken(keys: KeyRing, carrierId: number, token: string): Buffer {
  return keys.seal(Buffer.from(token), contextOf(carrierId));
}

/** Null for a carrier that has no callbacks. */
export function openCallbackToken(
  keys: KeyRing,
  { id, callback }: { id: number; callback: Buffer | null },
): string | null {
  return callback === null ? null : keys.open(callback, contextOf(id)).toString();
}

function contextOf(carrierId: number): string {
  return `carrier-callback:${carrierId}`;
}

export function callbackUrls(publicUrl: string, name: string, token: string): CallbackUrls {
  const base = `${publicUrl}${callbackPath}/${name}`;
  return { receipts: `${base}/receipts/${token}`, inbound: `${base}/inbound/${token}` };
}
