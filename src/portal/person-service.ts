import { type Note, noted, type Tx } from '../platform/database.ts';
import { ApiError, invalidField, notFound } from '../platform/errors.ts';
import { newId } from '../platform/ids.ts';
import type { KeyRing } from '../platform/keys.ts';
import { randomBase62 } from '../platform/random.ts';
import { createOwnAccount, disabledAccount } from './account-choice.ts';
import { requireEmail } from './email.ts';
import * as members from './member-store.ts';
import { createLinkMaker, createLinkUse } from './one-time-links.ts';
import { hashGenerated } from './password.ts';
import { requireGoodPassword } from './password-rules.ts';
import * as people from './person-store.ts';
import { deleteSessionOf, deleteSessionsOf, setSessionAccount } from './session-store.ts';
import { createSignIn, type SignedIn, type SignInOptions } from './sign-in.ts';
import type { Guess } from './sign-in-throttle.ts';

export interface PersonServiceOptions extends SignInOptions {
  keys: KeyRing;
  /** Deletes a person and what only that person has. */
  removePerson: (personId: string, note?: Note) => Promise<void>;
}

/** Who asks for a change of its own. */
export interface Self {
  personId: string;
  sessionHash: Buffer;
  address: string;
}

/** A person and an account of it. */
export interface Owner {
  personId: string;
  accountId: string;
}

export type PersonService = ReturnType<typeof createPersonService>;

/** People: sign-up, sign-in, sign-out, passwords, sessions, and the one-time links that commands on the machine make. */
export function createPersonService(options: PersonServiceOptions) {
  const { database, clock, passwordWork, sessions, throttle, secondFactor } = options;
  const newPerson = (email: string) => ({
    id: newId('per', clock),
    email,
    operator: false,
    createdAtMs: clock.nowMs(),
  });
  const { requireTry, ...signIn } = createSignIn(options);

  /** Checks the person's own password, as often as a sign-in may guess. Returns the stored hash. */
  async function requirePassword({ personId, address }: Self, password: string): Promise<string> {
    return passwordWork.run(address, async (queued, addressKey) => {
      const person = await people.findPerson(database, personId);
      if (person === undefined) throw notFound();
      const guess = { personId, email: person.email, addressKey };
      await requireTry(guess);
      if (person.passwordHash === null || !(await queued.verify(password, person.passwordHash)))
        throw invalidField('current_password', 'is wrong');
      await throttle.clear(database, guess);
      return person.passwordHash;
    });
  }

  /** Runs work that checks a code of the person's second factor, as often as a sign-in may guess. */
  async function withCode<Result>(self: Self, work: (tx: Tx) => Promise<Result>): Promise<Result> {
    const { personId, address } = self;
    const guess: Guess = { personId, email: '', addressKey: options.addressKey(address), of: 'second factor' };
    await requireTry(guess);
    return database.transaction(async (tx) => {
      const result = await work(tx);
      await throttle.clear(tx, guess);
      return result;
    });
  }

  return {
    async signUp(given: string, password: string, address: string, note?: Note<Owner>): Promise<SignedIn> {
      const email = requireEmail(given);
      requireGoodPassword(password, email);
      const passwordHash = await passwordWork.run(address, (queued) => queued.hash(password));
      const person = newPerson(email);
      return database.transaction(async (tx) => {
        if (!(await people.insertPerson(tx, person, passwordHash))) {
          throw new ApiError('ALREADY_EXISTS', 'This email already has an account. Sign in instead.', {
            details: [{ field: 'email', message: 'already has an account' }],
          });
        }
        const accountId = await createOwnAccount(tx, clock, person);
        await note?.(tx, { personId: person.id, accountId });
        const opened = await sessions.open(tx, { personId: person.id, accountId, address });
        return { personId: person.id, accountId, ...opened };
      });
    },

    ...signIn,
    signOut: (sessionHash: Buffer) => sessions.end(sessionHash),
    createLink: createLinkMaker(options).createLink,
    useLink: createLinkUse(options),

    async beginSecondFactor(self: Self, password: string) {
      await requirePassword(self, password);
      const person = await people.findPerson(database, self.personId);
      if (person === undefined) throw notFound();
      return secondFactor.begin(person.id, person.email);
    },

    /** Ends all other sessions: they were opened without the second factor. Returns the recovery codes. */
    confirmSecondFactor: (self: Self, code: string, note?: Note): Promise<string[]> =>
      withCode(self, async (tx) => {
        await deleteSessionsOf(tx, self.personId, self.sessionHash);
        const codes = await secondFactor.confirm(tx, self.personId, code);
        await note?.(tx, undefined);
        return codes;
      }),

    renewRecoveryCodes: (self: Self, code: string, note?: Note): Promise<string[]> =>
      withCode(
        self,
        noted((tx) => secondFactor.renewRecoveryCodes(tx, self.personId, code), note),
      ),

    async removeSecondFactor(self: Self, password: string, note?: Note): Promise<void> {
      await requirePassword(self, password);
      await database.transaction(noted((tx) => secondFactor.remove(tx, self.personId), note));
    },

    async deletePerson(self: Self, password: string, note?: Note): Promise<{ cookie: string }> {
      await requirePassword(self, password);
      await options.removePerson(self.personId, note);
      return { cookie: sessions.endedCookie };
    },

    async describe(personId: string) {
      const [person, memberships, factor] = await Promise.all([
        people.findPerson(database, personId),
        members.listMemberships(database, personId),
        secondFactor.state(personId),
      ]);
      return person === undefined ? undefined : { person, memberships, factor };
    },

    listSessions: (personId: string) => sessions.list(personId),
    /** False when there is none. */
    endSession: (personId: string, hashStart: Buffer, note?: Note): Promise<boolean> =>
      database.transaction(async (tx) => {
        const ended = await deleteSessionOf(tx, personId, hashStart);
        if (ended) await note?.(tx, undefined);
        return ended;
      }),
    endOtherSessions: ({ personId, sessionHash }: Self, note?: Note): Promise<void> =>
      database.transaction(noted((tx) => deleteSessionsOf(tx, personId, sessionHash), note)),

    /** The session acts for another account of the person. */
    async switchAccount({ personId, sessionHash }: Self, accountId: string): Promise<void> {
      await database.transaction(async (tx) => {
        const membership = (await members.lockMemberships(tx, personId)).find((each) => each.accountId === accountId);
        if (membership === undefined) throw notFound();
        if (membership.disabledReason !== null) throw disabledAccount(membership.disabledReason);
        await setSessionAccount(tx, sessionHash, accountId);
        await members.setLastAccount(tx, personId, accountId);
      });
    },

    /** Ends all other sessions. */
    async changePassword(self: Self, current: string, password: string, note?: Note): Promise<void> {
      const { personId } = self;
      const before = await requirePassword(self, current);
      requireGoodPassword(password, (await people.findPerson(database, personId))?.email ?? '');
      const after = await passwordWork.run(self.address, (queued) => queued.hash(password));
      await database.transaction(async (tx) => {
        if (!(await people.replacePassword(tx, personId, before, after)))
          throw invalidField('current_password', 'has just been changed');
        await deleteSessionsOf(tx, personId, self.sessionHash);
        await note?.(tx, undefined);
      });
    },

    /** A person with a random password and an account, to be inserted later. Undefined when the e-mail is taken. */
    async prepareAccount(email: string) {
      if ((await people.findPersonByEmail(database, email)) !== undefined) return undefined;
      const password = randomBase62(24);
      // Hash before the transaction, to keep it short.
      const passwordHash = await hashGenerated(password);
      const person = newPerson(email);
      /** Returns the account's id, or undefined when another node inserted the person first. */
      const insert = async (tx: Tx) =>
        (await people.insertPerson(tx, person, passwordHash)) ? createOwnAccount(tx, clock, person) : undefined;
      return { email, password, insert };
    },
  };
}
