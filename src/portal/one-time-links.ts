import { type Clock, dayMs } from '../platform/clock.ts';
import type { Database } from '../platform/database.ts';
import { invalidField } from '../platform/errors.ts';
import { newId } from '../platform/ids.ts';
import type { KeyRing } from '../platform/keys.ts';
import { randomBase62 } from '../platform/random.ts';
import { keyedHash } from '../platform/secrets.ts';
import { readEmail } from './email.ts';
import { requireGoodPassword } from './password-rules.ts';
import type { PasswordWork } from './password-work.ts';
import * as store from './portal-store.ts';
import type { Sessions } from './session.ts';
import type { SignedIn } from './sign-in.ts';

export interface LinkOptions {
  database: Database;
  clock: Clock;
  keys: KeyRing;
}

const linkMs = dayMs;
const tokenLength = 43;
const tokenForm = /^[0-9A-Za-z]{43}$/;

/** Makes links that set a new password once. Only commands on the machine call this. */
export function createLinkMaker({ database, clock, keys }: LinkOptions) {
  return {
    findAccount: (email: string) => store.findAccountByEmail(database, readEmail(email) ?? ''),

    /**
     * Returns the token of a new link, or undefined without an account. An operator link grants the role only when
     * used: the new password then ends all sessions of anyone who signed up with that e-mail before.
     */
    async createLink(given: string, makesOperator: boolean): Promise<string | undefined> {
      const email = readEmail(given);
      if (email === undefined) return undefined;
      const token = randomBase62(tokenLength);
      return database.transaction(async (tx) => {
        if (makesOperator) {
          const account = { id: newId('acc', clock), email, operator: false, createdAtMs: clock.nowMs() };
          await store.insertAccount(tx, account, null);
        }
        const account = await store.findAccountByEmail(tx, email);
        if (account === undefined) return undefined;
        const expiresAtMs = clock.nowMs() + linkMs;
        const hash = linkHash(keys, keys.version, token);
        await store.insertLink(tx, { hash, accountId: account.id, makesOperator, expiresAtMs });
        return token;
      });
    },
  };
}

/** Sets a new password by a link. An invalid link costs one indexed read and no hash. */
export function createLinkUse(options: LinkOptions & { passwordWork: PasswordWork; sessions: Sessions }) {
  const { database, clock, keys, passwordWork, sessions } = options;

  return async function useLink(token: string, password: string, address: string): Promise<SignedIn> {
    requireGoodPassword(password, '');
    if (!tokenForm.test(token)) throw deadLink();
    const nowMs = clock.nowMs();
    const hashes = keys.versionsSince(nowMs - linkMs).map((version) => linkHash(keys, version, token));
    const found = await store.findLink(database, hashes, nowMs);
    if (found === undefined) throw deadLink();
    requireGoodPassword(password, found.email);
    const passwordHash = await passwordWork.run(address, (hasher) => hasher.hash(password));
    return database.transaction(async (tx) => {
      const link = await store.takeLink(tx, found.accountId, found.hash, clock.nowMs());
      if (link === undefined) throw deadLink();
      await store.setPassword(tx, found.accountId, passwordHash);
      if (link.makesOperator) await store.makeOperator(tx, found.accountId);
      await store.deleteSessionsOf(tx, found.accountId);
      const account = await store.findAccount(tx, found.accountId);
      if (account === undefined) throw deadLink();
      return { account, ...(await sessions.open(tx, account.id)) };
    });
  };
}

function linkHash(keys: KeyRing, version: number, token: string): Buffer {
  return keyedHash(keys.keyFor('link', version), token);
}

function deadLink() {
  return invalidField('token', 'is unknown, already used, or older than a day');
}
