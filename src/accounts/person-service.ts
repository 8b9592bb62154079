// Tests: test/contract/portal-accounts.test.ts, test/contract/portal-person.test.ts
import type { PageRequest } from '../http/list-page.ts';
import type { KeyRing } from '../platform/crypto/keys.ts';
import { randomBase62 } from '../platform/crypto/random.ts';
import { type Note, noted, type Tx } from '../platform/database/database.ts';
import { ApiError, invalidField, notFound } from '../platform/errors.ts';
import { newId } from '../platform/ids.ts';
import { createOwnAccount, disabledAccount } from './people/account-choice.ts';
import { requireEmail } from './people/email.ts';
import * as members from './people/member-store.ts';
import * as people from './people/person-store.ts';
import { createFactorChanges, enrolsUntil } from './sign-in/factor-changes.ts';
import { createLinkMaker, createLinkUse, type MadeLink } from './sign-in/one-time-links.ts';
import { hashGenerated } from './sign-in/password.ts';
import { requireGoodPassword } from './sign-in/password-rules.ts';
import type { Self } from './sign-in/self.ts';
import { deleteSessionOf, deleteSessionsOf, findEnrolment, setSessionAccount } from './sign-in/session-store.ts';
import { type Challenged, createSignIn, type SignedIn, type SignInOptions } from './sign-in/sign-in.ts';
import { createSignInLinks } from './sign-in/sign-in-links.ts';
import { ssoOnly } from './sign-in/sso-only.ts';
import { listSignIns, type SignInRow } from './sign-in/store.ts';
import { findSsoSession } from './sso/session-store.ts';
import { deleteIdentitiesOf, hasIdentity } from './sso/store.ts';

export interface PersonServiceOptions extends SignInOptions {
  keys: KeyRing;
  operatorsNeedSecondFactor: boolean;
  /** The provider of single sign-on. With `only`, passwords open nothing. */
  sso: { issuer: string; only: boolean } | undefined;
  /** Deletes a person and the accounts of that person alone. */
  removePerson: (personId: string, note?: Note) => Promise<void>;
}

/** A person and one of its accounts. */
export interface Owner {
  personId: string;
  accountId: string;
}

export type PersonService = ReturnType<typeof createPersonService>;

/**
 * People: sign-up, sign-in, sign-out, passwords, sessions, and the one-time links that commands on the machine make.
 */
export function createPersonService(options: PersonServiceOptions) {
  const { database, clock, passwordWork, sessions, throttle, secondFactor } = options;
  const newPerson = (email: string) => ({
    id: newId('per', clock),
    email,
    operator: false,
    createdAtMs: clock.nowMs(),
  });
  const { requireTry, ...signIn } = createSignIn(options);

  /** For a person without a password: whether this session is new enough to replace it. */
  async function mayEnrol(sessionHash: Buffer): Promise<boolean> {
    return ((await findEnrolment(database, sessionHash))?.enrolsUntilMs ?? 0) > clock.nowMs();
  }

  /** Checks the person's own password, with the limits of a sign-in. Returns the stored hash. */
  async function requirePassword({ personId, sessionHash, address }: Self, password: string): Promise<string> {
    return passwordWork.run(address, async (queued, addressKey) => {
      const person = await people.findPerson(database, personId);
      if (person === undefined) throw notFound();
      const guess = { personId, email: person.email, addressKey };
      await requireTry(guess);
      if (person.passwordHash === null) {
        if (await mayEnrol(sessionHash)) return '';
        throw invalidField('current_password', noPassword);
      }
      if (!(await queued.verify(password, person.passwordHash))) throw invalidField('current_password', 'is wrong');
      await throttle.clear(database, guess);
      return person.passwordHash;
    });
  }

  const { createLink, createPortalLink } = createLinkMaker(options);

  /** Whether the person signs in by single sign-on, and did so for this session. Null if the service has none. */
  async function describeSso(personId: string, sessionHash: Buffer) {
    const { sso } = options;
    if (sso === undefined) return null;
    const joined = await hasIdentity(database, personId, sso.issuer);
    return { joined, session: joined && (await findSsoSession(database, sessionHash)) !== undefined };
  }

  return {
    async signUp(given: string, password: string, address: string, note?: Note<Owner>): Promise<SignedIn> {
      if (options.sso?.only) throw ssoOnly();
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
        const owner = { personId: person.id, accountId };
        return { ...owner, ...(await sessions.open(tx, { ...owner, email, address, way: 'sign_up' })) };
      });
    },

    ...signIn,
    requirePassword,
    requireTry,
    async signIn(email: string, password: string, address: string): Promise<SignedIn | Challenged> {
      if (options.sso?.only) throw ssoOnly();
      return signIn.signIn(email, password, address);
    },
    signOut: (sessionHash: Buffer) => sessions.end(sessionHash),
    createLink,
    async createPortalLink(personId: string, note?: Note<MadeLink>): Promise<string | undefined> {
      if (options.sso?.only) throw ssoOnly();
      return createPortalLink(personId, note);
    },
    ...createLinkUse({ ...options, ssoOnly: options.sso?.only === true, deleteIdentitiesOf }),
    ...createSignInLinks({ ...options, ssoOnly: options.sso?.only === true }),
    ...createFactorChanges({ ...options, requirePassword, requireTry }),

    async deletePerson(self: Self, password: string, note?: Note): Promise<{ cookie: string }> {
      await requirePassword(self, password);
      await options.removePerson(self.personId, note);
      return { cookie: sessions.endedCookie };
    },

    async describe({ personId, sessionHash }: Pick<Self, 'personId' | 'sessionHash'>) {
      const [person, memberships, factor, enrolment, sso] = await Promise.all([
        people.findPerson(database, personId),
        members.listMemberships(database, personId),
        secondFactor.state(personId),
        findEnrolment(database, sessionHash),
        describeSso(personId, sessionHash),
      ]);
      if (person === undefined) return undefined;
      const until = enrolsUntil(enrolment, clock.nowMs());
      const operator = enrolment?.operator ?? person.operator;
      const setUp = { canSetUp: factor.enabled || !operator || until !== null, setUpUntilMs: until };
      const isRequired = operator && options.operatorsNeedSecondFactor;
      return { person: { ...person, operator }, memberships, sso, factor: { ...factor, ...setUp, isRequired } };
    },

    /** The number of operators that the service refuses until they have a second factor. */
    countRefusedOperators: async (): Promise<number> =>
      options.operatorsNeedSecondFactor ? people.countOperatorsWithoutFactor(database) : 0,

    /** Newest first. Undefined when the person does not exist. */
    async listSignIns(personId: string, page: PageRequest): Promise<SignInRow[] | undefined> {
      const person = await people.findPerson(database, personId);
      if (person === undefined) return undefined;
      return listSignIns(database, { email: person.email, personId }, page);
    },

    listSessions: (personId: string) => sessions.list(personId),
    /** False when the person has no such session. */
    endSession: (personId: string, hashStart: Buffer, note?: Note): Promise<boolean> =>
      database.transaction(async (tx) => {
        const ended = await deleteSessionOf(tx, personId, hashStart);
        if (ended) await note?.(tx, undefined);
        return ended;
      }),
    endOtherSessions: ({ personId, sessionHash }: Self, note?: Note): Promise<void> =>
      database.transaction(noted((tx) => deleteSessionsOf(tx, personId, sessionHash), note)),

    /** Makes the session act for another account of the person. */
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
          throw invalidField('current_password', before === '' ? noPassword : 'has just been changed');
        await deleteSessionsOf(tx, personId, self.sessionHash);
        await note?.(tx, undefined);
      });
    },

    /** A person with a random password and an account, to be inserted later. Undefined when the e-mail is taken. */
    async prepareAccount(email: string) {
      if ((await people.findPersonByEmail(database, email)) !== undefined) return undefined;
      const password = randomBase62(24);
      // Hash before the transaction, to keep it short.
      const passwordHash = await hashGenerated(password, options.keys);
      const person = newPerson(email);
      /** Returns the account's id, or undefined when another node inserted the person first. */
      const insert = async (tx: Tx) =>
        (await people.insertPerson(tx, person, passwordHash)) ? createOwnAccount(tx, clock, person) : undefined;
      return { email, password, insert };
    },
  };
}

const noPassword = 'is none: you sign in by single sign-on. Sign out and in again, and do this within 15 minutes';
