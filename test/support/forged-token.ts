import { randomBytes } from 'node:crypto';
import { createTokenChecksums } from '../../src/identity/token-checksum.ts';
import type { KeyRing } from '../../src/platform/crypto/keys.ts';

export interface Forgery {
  keys: KeyRing;
  nowMs: number;
  /** What it says instead of what one of ours would say. */
  claims?: Record<string, unknown>;
  /** Whether its checksum is right, as only we can make it. */
  checked?: boolean;
}

/** A token that says what one of ours would say, under a signature that is none. */
export function forgeToken({ keys, nowMs, claims = {}, checked = true }: Forgery): string {
  const expiresAtMs = nowMs + 3_600_000;
  const said = {
    iss: 'http://127.0.0.1:8080/realms/heliograph',
    sub: 'cli_x',
    aud: 'urn:heliograph:verify',
    client_id: 'cli_x',
    scope: 'openid verify:manage',
    iat: Math.floor(nowMs / 1000),
    exp: Math.floor(expiresAtMs / 1000),
    jti: randomBytes(16).toString('base64url'),
    exp_ms: expiresAtMs,
    rid: 'reg_x',
    cv: 1,
    ...claims,
  };
  const chk = checked ? createTokenChecksums(keys).of(said) : `1.${randomBytes(9).toString('base64url')}`;
  const head = encode({ alg: 'ES256', typ: 'at+jwt', kid: 'x' });
  return `${head}.${encode({ ...said, chk })}.${randomBytes(64).toString('base64url')}`;
}

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}
