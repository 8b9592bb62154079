// Tests: test/contract/portal-person.test.ts, test/races/enrolment.test.ts
import { type Clock, minuteMs } from '../../platform/clock.ts';
import type { KeyRing } from '../../platform/crypto/keys.ts';
import { randomBase32, randomBytes } from '../../platform/crypto/random.ts';
import { keyedHash } from '../../platform/crypto/secrets.ts';
import type { Database, Tx } from '../../platform/database/database.ts';
import { ApiError, invalidField } from '../../platform/errors.ts';
import * as store from './second-factor-store.ts';
import { findStep, otpauthUri, secretBytes, toBase32 } from './totp.ts';

export type SecondFactor = ReturnType<typeof createSecondFactor>;

const recoveryCodes = 10;
// Crockford's base 32: it has no letters that look like digits.
const recoveryAlphabet = '0123456789abcdefghjkmnpqrstvwxyz';
const recoveryForm = /^[0-9a-z]{10}$/;
/** An unconfirmed replacement expires after this time. */
const replacementMs = 15 * minuteMs;

/** One-time codes of an authenticator app, and recovery codes in case the phone is lost. */
export function createSecondFactor(options: { database: Database; clock: Clock; keys: KeyRing; issuer: string }) {
  const { database, clock, keys, issuer } = options;
  const contextOf = (personId: string) => `second-factor:${personId}`;
  const recoveryHash = (personId: string, code: string, version: number) =>
    keyedHash(keys.keyFor('second-factor', version), `recovery\n${personId}\n${code}`);

  const find = (tx: Tx, personId: string) => store.findFactor(tx, personId, clock.nowMs());
  const stepOf = (personId: string, sealed: Buffer, code: string) =>
    findStep(keys.open(sealed, contextOf(personId)), code, clock.nowMs());

  async function takeTotp(tx: Tx, personId: string, code: string): Promise<boolean> {
    const factor = await find(tx, personId);
    const step = factor === undefined ? undefined : stepOf(personId, factor.secret, code);
    return step !== undefined && (await store.takeStep(tx, personId, step));
  }

  /** A recovery code is as old as its second factor, so any version of the ring may have made it. */
  function takeRecovery(tx: Tx, personId: string, code: string): Promise<boolean> {
    const hashes = keys.versions.map((version) => recoveryHash(personId, code, version));
    return store.takeRecoveryCode(tx, personId, hashes);
  }

  async function newRecoveryCodes(tx: Tx, personId: string): Promise<string[]> {
    const codes = Array.from({ length: recoveryCodes }, () => randomBase32(recoveryAlphabet, 10));
    const hashes = codes.map((code) => recoveryHash(personId, code, keys.version));
    await store.replaceRecoveryCodes(tx, personId, hashes);
    // Two groups are easier to type.
    return codes.map((code) => `${code.slice(0, 5)}-${code.slice(5)}`);
  }

  /** Uses up a code of the app or a recovery code. */
  async function takeCode(tx: Tx, personId: string, code: string): Promise<boolean> {
    if (/^[0-9]{6}$/.test(code)) return takeTotp(tx, personId, code);
    const letters = code.replaceAll('-', '').toLowerCase().replaceAll('o', '0').replaceAll(/[il]/g, '1');
    return recoveryForm.test(letters) && takeRecovery(tx, personId, letters);
  }

  return {
    takeCode,

    async isOn(tx: Tx, personId: string): Promise<boolean> {
      return (await find(tx, personId))?.confirmed === true;
    },

    async state(personId: string) {
      const factor = await find(database, personId);
      if (factor?.confirmed !== true) return { enabled: false, recoveryCodesLeft: 0 };
      return { enabled: true, recoveryCodesLeft: await store.countRecoveryCodes(database, personId) };
    },

    /**
     * Makes a secret for the person's app. It becomes valid with the first right code; until then an older one stays
     * valid.
     */
    async begin(tx: Tx, personId: string, email: string) {
      const secret = randomBytes(secretBytes);
      const sealed = keys.seal(secret, contextOf(personId));
      const nowMs = clock.nowMs();
      if (!(await store.putFactor(tx, personId, sealed, nowMs)))
        await store.putReplacement(tx, personId, sealed, nowMs + replacementMs);
      return { secret: toBase32(secret), uri: otpauthUri(secret, { issuer, email }) };
    },

    /** Turns it on or replaces it, and returns recovery codes that are shown once. */
    async confirm(tx: Tx, personId: string, code: string): Promise<string[]> {
      const factor = await find(tx, personId);
      const pending = factor?.confirmed === true ? factor.replacement : factor?.secret;
      if (pending === undefined || pending === null) throw notBegun();
      const step = stepOf(personId, pending, code);
      if (step === undefined) throw wrongCode();
      if (factor?.confirmed === true) await store.takeReplacement(tx, personId, step, clock.nowMs());
      else if (!(await store.confirmFactor(tx, personId, step, clock.nowMs()))) throw notBegun();
      return newRecoveryCodes(tx, personId);
    },

    /** Replaces all recovery codes. */
    async renewRecoveryCodes(tx: Tx, personId: string, code: string): Promise<string[]> {
      if (!(await takeCode(tx, personId, code))) throw wrongCode();
      return newRecoveryCodes(tx, personId);
    },

    async remove(tx: Tx, personId: string): Promise<void> {
      await store.deleteFactor(tx, personId);
    },
  };
}

export function wrongCode(): ApiError {
  return invalidField(
    'code',
    'This code is wrong or was used before. Enter the newest code of your authenticator app.',
  );
}

function notBegun(): ApiError {
  return new ApiError('INCOMPATIBLE_STATE', 'Request a secret first, then confirm it within 15 minutes.');
}
