import type { Clock } from '../platform/clock.ts';
import type { Database } from '../platform/database.ts';
import { ApiError } from '../platform/errors.ts';
import { requireEmail } from './email.ts';
import type { Hasher } from './password.ts';
import type { PasswordWork } from './password-work.ts';
import * as store from './portal-store.ts';
import type { Sessions } from './session.ts';
import { addressKnownMs, type Guess, type SignInThrottle } from './sign-in-throttle.ts';
import { throttled } from './throttled.ts';

export interface SignedIn {
  account: store.Account;
  cookie: string;
}

export interface SignInOptions {
  database: Database;
  clock: Clock;
  passwordWork: PasswordWork;
  sessions: Sessions;
  throttle: SignInThrottle;
}

type Found = Awaited<ReturnType<typeof store.findAccountByEmail>>;

/** An unknown account and a wrong password take the same steps, so that callers cannot tell them apart. */
export function createSignIn({ database, clock, passwordWork, sessions, throttle }: SignInOptions) {
  async function requireTry(guess: Guess): Promise<void> {
    const sinceMs = clock.nowMs() - addressKnownMs;
    const take = await throttle.take(guess, (addressHashes) =>
      store.isKnownAddress(database, guess.accountId ?? '', addressHashes, sinceMs),
    );
    if (!take.allowed) throw throttled('Too many failed sign-ins', take.retryAfterMs);
  }

  /** Undefined when the password changed during the check, which is then void. */
  async function check(account: Found, password: string, guess: Guess, hasher: Hasher): Promise<SignedIn | undefined> {
    const right = await hasher.verify(password, account?.passwordHash ?? null);
    if (account === undefined || account.passwordHash === null || !right) throw wrongCredentials();
    const { passwordHash, ...shown } = account;
    const renewed = hasher.isOutdated(passwordHash) ? await hasher.hash(password) : undefined;
    return database.transaction(async (tx) => {
      const unchanged =
        renewed === undefined
          ? await store.lockPassword(tx, account.id, passwordHash)
          : await store.renewPassword(tx, account.id, passwordHash, renewed);
      if (!unchanged) return undefined;
      await throttle.clear(tx, guess);
      await store.putKnownAddress(tx, account.id, throttle.addressHash(guess.addressKey), clock.nowMs());
      return { account: shown, ...(await sessions.open(tx, account.id)) };
    });
  }

  return async function signIn(given: string, password: string, address: string): Promise<SignedIn> {
    const email = requireEmail(given);
    const find = () => store.findAccountByEmail(database, email);
    return passwordWork.run(address, async (hasher, addressKey) => {
      const account = await find();
      const guess = { accountId: account?.id, email, addressKey };
      await requireTry(guess);
      const signedIn = await check(account, password, guess, hasher);
      if (signedIn !== undefined) return signedIn;
      // Another sign-in renewed the hash, or a reset replaced it: check against the new one.
      const again = await check(await find(), password, guess, hasher);
      if (again === undefined) throw wrongCredentials();
      return again;
    });
  };
}

function wrongCredentials(): ApiError {
  return new ApiError('UNAUTHENTICATED', 'Email or password is wrong.', {
    headers: { 'WWW-Authenticate': 'Session realm="heliograph"' },
  });
}
