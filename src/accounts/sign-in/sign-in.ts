// Tests: test/contract/portal-sign-in.test.ts, test/races/sign-in.test.ts
import type { Clock } from '../../platform/clock.ts';
import type { Database, Tx } from '../../platform/database/database.ts';
import { ApiError } from '../../platform/errors.ts';
import { chooseAccount, DisabledAccount } from '../people/account-choice.ts';
import { requireEmail } from '../people/email.ts';
import * as people from '../people/person-store.ts';
import type { createSignInChallenges } from './challenge.ts';
import type { SignInLog } from './log.ts';
import type { Hasher } from './password.ts';
import type { PasswordWork } from './password-work.ts';
import { type SecondFactor, wrongCode } from './second-factor.ts';
import type { Sessions } from './session.ts';
import { addressKnownMs, type Guess, type SignInThrottle } from './throttle.ts';
import { throttled } from './throttled.ts';
import type { SignInOutcome } from './way.ts';

export interface SignedIn {
  personId: string;
  accountId: string;
  sessionHash: Buffer;
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
  signIns: SignInLog;
  challenges: ReturnType<typeof createSignInChallenges>;
  /** The key that an address is counted by. */
  addressKey: (address: string) => string;
}

type Found = people.PersonWithPassword | undefined;

/** A caller who signs in. */
interface Trying {
  guess: Guess;
  address: string;
  way: 'password' | 'code';
}

/** An unknown person and a wrong password take the same steps, so that callers cannot distinguish them. */
export function createSignIn(options: SignInOptions) {
  const { database, clock, passwordWork, sessions, throttle, secondFactor, signIns, challenges } = options;

  async function takeTry(guess: Guess) {
    const sinceMs = clock.nowMs() - addressKnownMs;
    return throttle.take(guess, (addressHashes) =>
      people.isKnownAddress(database, guess.personId ?? '', addressHashes, sinceMs),
    );
  }

  async function requireTry(guess: Guess): Promise<void> {
    const take = await takeTry(guess);
    if (!take.allowed) throw tooManyFailures(take.retryAfterMs);
  }

  const keep = ({ guess, address, way }: Trying, outcome: SignInOutcome) =>
    signIns.record(database, { email: guess.email, personId: guess.personId, address, way, outcome });

  /** Counts a sign-in, and logs it if earlier ones make it refused. */
  async function requireSignIn(trying: Trying, guess = trying.guess): Promise<void> {
    const take = await takeTry(guess);
    if (take.allowed) return;
    await keep(trying, 'throttled');
    throw tooManyFailures(take.retryAfterMs);
  }

  /**
   * Opens a session if the credentials are right. Locks the person meanwhile: a second factor that is turned on at the
   * same time ends this session, or is asked for.
   */
  async function admit<Refused>(
    person: people.Person,
    trying: Trying,
    refuse: (tx: Tx) => Promise<Refused | undefined>,
  ) {
    const { guess, address, way } = trying;
    const open = async (tx: Tx): Promise<SignedIn | Refused> => {
      const refused = await refuse(tx);
      if (refused !== undefined) return refused;
      await throttle.clear(tx, guess);
      await throttle.clear(tx, { ...guess, of: 'second factor' });
      await people.putKnownAddress(tx, person.id, throttle.addressHash(guess.addressKey), clock.nowMs());
      const owner = { personId: person.id, accountId: await chooseAccount(tx, clock, person) };
      return { ...owner, ...(await sessions.open(tx, { ...owner, email: person.email, address, way })) };
    };
    try {
      return await database.transaction(open);
    } catch (error) {
      if (error instanceof DisabledAccount) await keep(trying, 'account_disabled');
      throw error;
    }
  }

  /** Undefined when the password changed during the check. */
  async function check(
    person: Found,
    password: string,
    { trying, hasher }: { trying: Trying; hasher: Hasher },
  ): Promise<SignedIn | Challenged | undefined> {
    const right = await hasher.verify(password, person?.passwordHash ?? null);
    if (person === undefined || person.passwordHash === null || !right) {
      await keep(trying, 'wrong_password');
      throw wrongCredentials();
    }
    const { passwordHash } = person;
    const renewed = hasher.isOutdated(passwordHash) ? await hasher.hash(password) : undefined;
    const lock = (tx: Tx) =>
      renewed === undefined
        ? people.lockPassword(tx, person.id, passwordHash)
        : people.replacePassword(tx, person.id, passwordHash, renewed);
    const admitted = await admit(person, trying, async (tx) => {
      if (!(await lock(tx))) return 'changed';
      return (await secondFactor.isOn(tx, person.id)) ? 'code needed' : undefined;
    });
    if (admitted === 'changed') return undefined;
    if (admitted !== 'code needed') return admitted;
    await keep(trying, 'code_needed');
    // A challenge is bound to the currently stored hash.
    return { challenge: challenges.create(person.id, renewed ?? passwordHash) };
  }

  return {
    async signIn(given: string, password: string, address: string): Promise<SignedIn | Challenged> {
      const email = requireEmail(given);
      const find = () => people.findPersonByEmail(database, email);
      return passwordWork.run(address, async (hasher, addressKey) => {
        const person = await find();
        const trying: Trying = { guess: { personId: person?.id, email, addressKey }, address, way: 'password' };
        await requireSignIn(trying);
        const signedIn = await check(person, password, { trying, hasher });
        if (signedIn !== undefined) return signedIn;
        // Another sign-in renewed the hash, or a reset replaced it: check against the new one.
        const again = await check(await find(), password, { trying, hasher });
        if (again !== undefined) return again;
        await keep(trying, 'wrong_password');
        throw wrongCredentials();
      });
    },

    async completeSignIn(challenge: string, code: string, address: string): Promise<SignedIn> {
      const person = await people.findPerson(database, challenges.personIn(challenge) ?? '');
      const passwordHash = person?.passwordHash ?? '';
      if (person === undefined || !challenges.isGenuine(challenge, passwordHash)) throw startAgain();
      const { id: personId, email } = person;
      const guess: Guess = { personId, email, addressKey: options.addressKey(address) };
      const trying: Trying = { guess, address, way: 'code' };
      await requireSignIn(trying, { ...guess, of: 'second factor' });
      const admitted = await admit(person, trying, async (tx) => {
        if (!(await people.lockPassword(tx, personId, passwordHash))) return 'changed';
        return (await secondFactor.takeCode(tx, personId, code)) ? undefined : 'wrong';
      });
      if (admitted === 'changed') throw startAgain();
      if (admitted !== 'wrong') return admitted;
      await keep(trying, 'wrong_code');
      throw wrongCode();
    },

    /** Counts a guess of a signed-in person's own password or code. */
    requireTry,
  };
}

const session = { headers: { 'WWW-Authenticate': 'Session realm="heliograph"' } };

function tooManyFailures(retryAfterMs: number): ApiError {
  return throttled('Too many failed sign-ins', retryAfterMs);
}

function wrongCredentials(): ApiError {
  return new ApiError('UNAUTHENTICATED', 'Email or password is wrong.', session);
}

export function startAgain(): ApiError {
  return new ApiError('UNAUTHENTICATED', 'This sign-in has expired. Enter your email and password again.', session);
}
