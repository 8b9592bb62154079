import type { Clock } from '../platform/clock.ts';
import type { Database } from '../platform/database.ts';
import { ApiError, invalidField } from '../platform/errors.ts';
import { newId } from '../platform/ids.ts';
import type { KeyRing } from '../platform/keys.ts';
import { randomBase62 } from '../platform/random.ts';
import { keyedHash } from '../platform/secrets.ts';
import type { Passwords } from './password.ts';
import { passwordProblem } from './password-rules.ts';
import * as store from './portal-store.ts';
import type { Sessions } from './session.ts';
import type { SignInThrottle } from './sign-in-throttle.ts';

export interface SignedIn {
  account: store.Account;
  cookie: string;
}

export interface DeveloperServiceOptions {
  database: Database;
  clock: Clock;
  keys: KeyRing;
  passwords: Passwords;
  sessions: Sessions;
  throttle: SignInThrottle;
}

export type DeveloperService = ReturnType<typeof createDeveloperService>;

const linkMs = 24 * 3_600_000;
const addressKnownMs = 30 * 86_400_000;

/** Accounts: signing up, in and out, and the one-time links that are made on the machine. */
export function createDeveloperService(options: DeveloperServiceOptions) {
  const { database, clock, keys, passwords, sessions, throttle } = options;
  const linkHash = (token: string) => keyedHash(keys.keyFor('link'), token);

  function requireGoodPassword(password: string, email: string): void {
    const problem = passwordProblem(password, email);
    if (problem !== undefined) throw invalidField('password', problem);
  }

  return {
    async signUp(email: string, password: string): Promise<SignedIn> {
      requireGoodPassword(password, email);
      const passwordHash = await passwords.hash(password);
      const account = { id: newId('acc', clock), email, operator: false, createdAtMs: clock.nowMs() };
      return database.transaction(async (tx) => {
        if (!(await store.insertAccount(tx, account, passwordHash))) {
          throw new ApiError('ALREADY_EXISTS', 'There is an account with this email. Sign in instead.', {
            details: [{ field: 'email', message: 'has an account already' }],
          });
        }
        return { account, ...(await sessions.open(tx, account.id)) };
      });
    },

    async signIn(email: string, password: string, address: string): Promise<SignedIn> {
      const account = await store.findAccountByEmail(database, email);
      const sinceMs = clock.nowMs() - addressKnownMs;
      const take = await throttle.take(email, address, async (addressHash) =>
        account === undefined ? false : store.isKnownAddress(database, account.id, addressHash, sinceMs),
      );
      if (!take.allowed) throw tooManyTries(take.retryAfterMs);
      const right = await passwords.verify(password, account?.passwordHash ?? null);
      if (account === undefined || !right) {
        throw new ApiError('UNAUTHENTICATED', 'Email or password is wrong.', {
          headers: { 'WWW-Authenticate': 'Session realm="heliograph"' },
        });
      }
      await throttle.clear(email, address);
      const outdated = account.passwordHash !== null && passwords.isOutdated(account.passwordHash);
      const renewed = outdated ? await passwords.hash(password) : undefined;
      const { passwordHash: _, ...shown } = account;
      return database.transaction(async (tx) => {
        if (renewed !== undefined) await store.setPassword(tx, account.id, renewed);
        await store.putKnownAddress(tx, account.id, throttle.hashOf(address), clock.nowMs());
        return { account: shown, ...(await sessions.open(tx, account.id)) };
      });
    },

    signOut: (sessionHash: Buffer) => sessions.end(sessionHash),

    findAccount: (accountId: string) => store.findAccount(database, accountId),

    /**
     * A link that sets a new password, once. An operator's link also makes its user an operator, and only then: whoever
     * signed up with that address before has no part in it, because the new password ends all their sessions.
     */
    async createLink(email: string, makesOperator: boolean): Promise<string | undefined> {
      const token = randomBase62(43);
      return database.transaction(async (tx) => {
        if (makesOperator) {
          const account = { id: newId('acc', clock), email, operator: false, createdAtMs: clock.nowMs() };
          await store.insertAccount(tx, account, null);
        }
        const account = await store.findAccountByEmail(tx, email);
        if (account === undefined) return undefined;
        const expiresAtMs = clock.nowMs() + linkMs;
        await store.insertLink(tx, { hash: linkHash(token), accountId: account.id, makesOperator, expiresAtMs });
        return token;
      });
    },

    async useLink(token: string, password: string): Promise<SignedIn> {
      // The cheap rules first, without the email; the rest below, before anything is written.
      requireGoodPassword(password, '');
      const passwordHash = await passwords.hash(password);
      return database.transaction(async (tx) => {
        const link = await store.takeLink(tx, linkHash(token), clock.nowMs());
        if (link === undefined)
          throw invalidField('token', 'is not one of ours, was used before, or is over a day old');
        await store.setPassword(tx, link.accountId, passwordHash);
        if (link.makesOperator) await store.makeOperator(tx, link.accountId);
        await store.deleteSessionsOf(tx, link.accountId);
        const account = await store.findAccount(tx, link.accountId);
        if (account === undefined) throw invalidField('token', 'belongs to an account that is gone');
        requireGoodPassword(password, account.email);
        return { account, ...(await sessions.open(tx, account.id)) };
      });
    },
  };
}

function tooManyTries(retryAfterMs: number): ApiError {
  const seconds = Math.max(1, Math.ceil(retryAfterMs / 1000));
  return new ApiError('RATE_LIMITED', `Too many failed sign-ins. Try again in ${seconds} s.`, {
    headers: {
      'Retry-After': String(seconds),
      'RateLimit-Remaining': '0',
      // The address's minute goes on beside it: whichever ends later.
      'RateLimit-Reset': String(Math.max(60, seconds)),
      RateLimit: `"minute";r=0;t=${seconds}`,
    },
  });
}
