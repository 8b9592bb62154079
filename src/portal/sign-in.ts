import type { Clock } from '../platform/clock.ts';
import type { Database } from '../platform/database.ts';
import { ApiError } from '../platform/errors.ts';
import { chooseAccount } from './account-choice.ts';
import { requireEmail } from './email.ts';
import type { Hasher } from './password.ts';
import type { PasswordWork } from './password-work.ts';
import * as people from './person-store.ts';
import { type SecondFactor, wrongCode } from './second-factor.ts';
import type { Sessions } from './session.ts';
import type { createSignInChallenges } from './sign-in-challenge.ts';
import { addressKnownMs, type Guess, type SignInThrottle } from './sign-in-throttle.ts';
import { throttled } from './throttled.ts';

export interface SignedIn {
  personId: string;
  accountId: string;
  cookie: string;
}

/** The password is right, and the person has a second factor. */
export interface Challenged {
  challenge: string;
}

export interface SignInOptions {
  database: Database;
  clock: Clock;
  passwordWork: PasswordWork;
  sessions: Sessions;
  throttle: SignInThrottle;
  secondFactor: SecondFactor;
  challenges: ReturnType<typeof createSignInChallenges>;
  /** The key that an address counts under. */
  addressKey: (address: string) => string;
}

type Found = people.PersonWithPassword | undefined;

/** An unknown person and a wrong password take the same steps, so that callers cannot tell them apart. */
export function createSignIn(options: SignInOptions) {
  const { database, clock, passwordWork, sessions, throttle, secondFactor, challenges } = options;

  async function requireTry(guess: Guess): Promise<void> {
    const sinceMs = clock.nowMs() - addressKnownMs;
    const take = await throttle.take(guess, (addressHashes) =>
      people.isKnownAddress(database, guess.personId ?? '', addressHashes, sinceMs),
    );
    if (!take.allowed) throw throttled('Too many failed sign-ins', take.retryAfterMs);
  }

  /** Opens a session after everything that was asked for was right. Undefined when the password changed meanwhile. */
  function admit(person: people.Person, guess: Guess, address: string, lockPassword: LockPassword) {
    return database.transaction(async (tx): Promise<SignedIn | undefined> => {
      if (!(await lockPassword(tx))) return undefined;
      await throttle.clear(tx, guess);
      await throttle.clear(tx, { ...guess, of: 'second factor' });
      await people.putKnownAddress(tx, person.id, throttle.addressHash(guess.addressKey), clock.nowMs());
      const accountId = await chooseAccount(tx, clock, person);
      return {
        personId: person.id,
        accountId,
        ...(await sessions.open(tx, { personId: person.id, accountId, address })),
      };
    });
  }

  /** Undefined when the password changed during the check, which is then void. */
  async function check(
    person: Found,
    password: string,
    { guess, address, hasher }: { guess: Guess; address: string; hasher: Hasher },
  ): Promise<SignedIn | Challenged | undefined> {
    const right = await hasher.verify(password, person?.passwordHash ?? null);
    if (person === undefined || person.passwordHash === null || !right) throw wrongCredentials();
    const { passwordHash } = person;
    if (await secondFactor.isOn(database, person.id)) {
      return { challenge: challenges.create(person.id, passwordHash) };
    }
    const renewed = hasher.isOutdated(passwordHash) ? await hasher.hash(password) : undefined;
    return admit(person, guess, address, (tx) =>
      renewed === undefined
        ? people.lockPassword(tx, person.id, passwordHash)
        : people.replacePassword(tx, person.id, passwordHash, renewed),
    );
  }

  return {
    async signIn(given: string, password: string, address: string): Promise<SignedIn | Challenged> {
      const email = requireEmail(given);
      const find = () => people.findPersonByEmail(database, email);
      return passwordWork.run(address, async (hasher, addressKey) => {
        const person = await find();
        const guess = { personId: person?.id, email, addressKey };
        await requireTry(guess);
        const signedIn = await check(person, password, { guess, address, hasher });
        if (signedIn !== undefined) return signedIn;
        // Another sign-in renewed the hash, or a reset replaced it: check against the new one.
        const again = await check(await find(), password, { guess, address, hasher });
        if (again === undefined) throw wrongCredentials();
        return again;
      });
    },

    async completeSignIn(challenge: string, code: string, address: string): Promise<SignedIn> {
      const person = await people.findPerson(database, challenges.personIn(challenge) ?? '');
      const passwordHash = person?.passwordHash ?? '';
      if (person === undefined || !challenges.isGenuine(challenge, passwordHash)) throw startAgain();
      const { id: personId, email } = person;
      const guess: Guess = { personId, email, addressKey: options.addressKey(address) };
      await requireTry({ ...guess, of: 'second factor' });
      const signedIn = await admit(person, guess, address, async (tx) => {
        if (!(await people.lockPassword(tx, personId, passwordHash))) return false;
        if (!(await secondFactor.takeCode(tx, personId, code))) throw wrongCode();
        return true;
      });
      if (signedIn === undefined) throw startAgain();
      return signedIn;
    },

    /** Counts a guess of a signed-in person's own password or code. */
    requireTry,
  };
}

type LockPassword = (tx: Parameters<typeof people.lockPassword>[0]) => Promise<boolean>;

const session = { headers: { 'WWW-Authenticate': 'Session realm="heliograph"' } };

function wrongCredentials(): ApiError {
  return new ApiError('UNAUTHENTICATED', 'Email or password is wrong.', session);
}

function startAgain(): ApiError {
  return new ApiError('UNAUTHENTICATED', 'This sign-in has expired. Enter your email and password again.', session);
}
