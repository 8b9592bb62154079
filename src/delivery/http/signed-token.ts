// Tests: src/delivery/http/signed-token.test.ts
import { createPrivateKey, type KeyObject, sign } from 'node:crypto';
import type { Clock } from '../../platform/clock.ts';
import { randomBytes } from '../../platform/crypto/random.ts';
import type { TokenSource } from './oauth2.ts';
import type { HttpProfile } from './profile.ts';
import { readTemplate, renderTemplate, type TemplateValues } from './template.ts';

const livesSeconds = 900;
/** A token is used again for this long: signing takes longer than all else of a request. */
const usedMs = 300_000;
const leastBits = 2048;

/** Makes tokens of `jwt-rs256`: JWTs that the private key of an application signs. Undefined for another kind. */
export function createSignedTokens(
  { description, base, secrets, values }: HttpProfile,
  clock: Clock,
): TokenSource | undefined {
  const { auth } = description;
  if (auth?.kind !== 'jwt-rs256') return undefined;
  const known = { base, secrets, values } as unknown as TemplateValues;
  const read = (text: string | undefined) => renderTemplate(readTemplate(text ?? ''), known) ?? '';
  const key = readRsaKey(read(auth.password));
  const claims = { [auth.name ?? '']: read(auth.value) };
  let kept: { token: string; untilMs: number } | undefined;

  return {
    async get() {
      if (key === undefined) return { kind: 'not_sent', reason: 'The private key cannot be read.' };
      const nowMs = clock.steadyMs();
      if (kept === undefined || nowMs >= kept.untilMs)
        kept = { token: signed(key, claims, clock.nowMs()), untilMs: nowMs + usedMs };
      return { token: kept.token };
    },
    forget() {
      kept = undefined;
    },
  };
}

function signed(key: KeyObject, claims: Record<string, string>, nowMs: number): string {
  const iat = Math.floor(nowMs / 1000);
  const parts = [
    { alg: 'RS256', typ: 'JWT' },
    { ...claims, iat, exp: iat + livesSeconds, jti: randomBytes(16).toString('hex') },
  ].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'));
  const text = parts.join('.');
  return `${text}.${sign('RSA-SHA256', Buffer.from(text), key).toString('base64url')}`;
}

/** An RSA key in PEM. Pages and files may lose its line breaks, or write them as `\n`. */
export function readRsaKey(text: string): KeyObject | undefined {
  const [, label = '', body = ''] =
    /-----BEGIN ((?:RSA )?PRIVATE KEY)-----([A-Za-z0-9+/=\s\\]+)-----END (?:RSA )?PRIVATE KEY-----/.exec(text) ?? [];
  const lines = body.replaceAll(/\\[rn]|\s/g, '').match(/.{1,64}/g) ?? [];
  try {
    const key = createPrivateKey([`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`].join('\n'));
    const { modulusLength = 0 } = key.asymmetricKeyDetails ?? {};
    return key.asymmetricKeyType === 'rsa' && modulusLength >= leastBits ? key : undefined;
  } catch {
    return undefined;
  }
}
