import { hash } from 'node:crypto';
import type { Clock } from '../../platform/clock.ts';
import { minuteMs } from '../../platform/clock.ts';
import type { KeyRing } from '../../platform/crypto/keys.ts';
import { randomBytes } from '../../platform/crypto/random.ts';
import { keyedHash } from '../../platform/crypto/secrets.ts';
import type { Checks } from './provider.ts';

export const attemptMs = 10 * minuteMs;
const form = /^[A-Za-z0-9_-]{43}$/;

/** One sign-in at the provider, bound to a browser by a cookie. Everything secret derives from the cookie. */
export interface Attempt {
  token: string;
  /** The hash that the database stores. */
  hash: Buffer;
  checks: Checks;
}

export function createAttempts({ clock, keys }: { clock: Clock; keys: KeyRing }) {
  function attemptOf(token: string, version: number): Attempt {
    const key = keys.keyFor('sso', version);
    const derive = (purpose: string) => keyedHash(key, `${purpose}\n${token}`);
    const textOf = (purpose: string) => derive(purpose).toString('base64url');
    const checks = { state: textOf('state'), nonce: textOf('nonce'), verifier: textOf('verifier') };
    return { token, hash: derive('attempt'), checks };
  }

  return {
    create: (): Attempt => attemptOf(randomBytes(32).toString('base64url'), keys.version),

    /** The attempt of this browser that has this state. */
    find(token: string | undefined, state: string | undefined): Attempt | undefined {
      if (token === undefined || !form.test(token)) return undefined;
      const possible = keys.versionsSince(clock.nowMs() - attemptMs).map((version) => attemptOf(token, version));
      return possible.find(({ checks }) => checks.state === state);
    },
  };
}

/** 256 random bits: a plain hash of them gives nothing away. */
export function hashOfChallenge(token: string): Buffer {
  return Buffer.from(hash('sha256', token, 'hex'), 'hex');
}
