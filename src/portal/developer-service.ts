import type { Clock } from '../platform/clock.ts';
import type { Database, Tx } from '../platform/database.ts';
import { ApiError } from '../platform/errors.ts';
import { newId } from '../platform/ids.ts';
import type { KeyRing } from '../platform/keys.ts';
import { randomBase62 } from '../platform/random.ts';
import { requireEmail } from './email.ts';
import { createLinkMaker, createLinkUse } from './one-time-links.ts';
import type { Hasher } from './password.ts';
import { requireGoodPassword } from './password-rules.ts';
import type { PasswordWork } from './password-work.ts';
import * as store from './portal-store.ts';
import type { Sessions } from './session.ts';
import { createSignIn, type SignedIn } from './sign-in.ts';
import type { SignInThrottle } from './sign-in-throttle.ts';

export interface DeveloperServiceOptions {
  database: Database;
  clock: Clock;
  keys: KeyRing;
  hasher: Hasher;
  passwordWork: PasswordWork;
  sessions: Sessions;
  throttle: SignInThrottle;
}

export type DeveloperService = ReturnType<typeof createDeveloperService>;

/** Accounts: sign-up, sign-in, sign-out, and the one-time links that commands on the machine make. */
export function createDeveloperService(options: DeveloperServiceOptions) {
  const { database, clock, hasher, passwordWork, sessions } = options;
  const newAccount = (email: string) => ({
    id: newId('acc', clock),
    email,
    operator: false,
    createdAtMs: clock.nowMs(),
  });

  return {
    async signUp(given: string, password: string, address: string): Promise<SignedIn> {
      const email = requireEmail(given);
      requireGoodPassword(password, email);
      const passwordHash = await passwordWork.run(address, (queued) => queued.hash(password));
      const account = newAccount(email);
      return database.transaction(async (tx) => {
        if (!(await store.insertAccount(tx, account, passwordHash))) {
          throw new ApiError('ALREADY_EXISTS', 'This email already has an account. Sign in instead.', {
            details: [{ field: 'email', message: 'already has an account' }],
          });
        }
        return { account, ...(await sessions.open(tx, account.id)) };
      });
    },

    signIn: createSignIn(options),
    signOut: (sessionHash: Buffer) => sessions.end(sessionHash),
    findAccount: (accountId: string) => store.findAccount(database, accountId),
    createLink: createLinkMaker(options).createLink,
    useLink: createLinkUse(options),

    /** An account with a random password, to be inserted later. Undefined when the e-mail already has an account. */
    async prepareAccount(email: string) {
      if ((await store.findAccountByEmail(database, email)) !== undefined) return undefined;
      const password = randomBase62(24);
      // Hash before the transaction, to keep it short.
      const passwordHash = await hasher.hash(password);
      const account = newAccount(email);
      /** Returns the account's id, or undefined when another node inserted it first. */
      const insert = async (tx: Tx) =>
        (await store.insertAccount(tx, account, passwordHash)) ? account.id : undefined;
      return { email, password, insert };
    },
  };
}
