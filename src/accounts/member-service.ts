// Tests: test/contract/portal-members.test.ts
import type { Role } from '../http/route.ts';
import { type Clock, dayMs } from '../platform/clock.ts';
import type { KeyRing } from '../platform/crypto/keys.ts';
import { keyedHash } from '../platform/crypto/secrets.ts';
import { type Database, type Note, noted, type Tx } from '../platform/database/database.ts';
import { ApiError, invalidField, notFound } from '../platform/errors.ts';
import { isId, newId } from '../platform/ids.ts';
import { requireEmail } from './people/email.ts';
import * as invitations from './people/invitation-store.ts';
import * as members from './people/member-store.ts';
import * as people from './people/person-store.ts';
import { newLinkToken, tokenForm } from './sign-in/one-time-links.ts';
import { requireGoodPassword } from './sign-in/password-rules.ts';
import type { PasswordWork } from './sign-in/password-work.ts';
import type { Sessions } from './sign-in/session.ts';
import type { SignedIn } from './sign-in/sign-in.ts';
import { ssoOnly } from './sign-in/sso-only.ts';

export interface MemberServiceOptions {
  database: Database;
  clock: Clock;
  keys: KeyRing;
  passwordWork: PasswordWork;
  sessions: Sessions;
  /** Single sign-on is the only way in. */
  ssoOnly: boolean;
}

/** A person, and the account that the person has joined. */
export type Joined = invitations.FoundInvitation & { personId: string };

export type MemberService = ReturnType<typeof createMemberService>;

const invitationMs = 7 * dayMs;
/** Maximum members and open invitations of an account. */
export const mostMembers = 50;

/** Members, roles and invitations of accounts. An account always has an owner. */
export function createMemberService(options: MemberServiceOptions) {
  const { database, clock, keys, passwordWork, sessions } = options;
  const hashOf = (token: string, version: number) => keyedHash(keys.keyFor('link', version), `invitation\n${token}`);

  /** Changes of one account's members run one at a time. */
  function change<Result>(accountId: string, work: (tx: Tx) => Promise<Result>): Promise<Result> {
    return database.transaction(async (tx) => {
      await members.lockAccount(tx, accountId);
      return work(tx);
    });
  }

  async function requireMember(tx: Tx, accountId: string, personId: string): Promise<members.Member> {
    // Skip malformed ids: Postgres rejects NUL.
    const member = isId('per', personId) ? await members.findMember(tx, accountId, personId) : undefined;
    if (member === undefined) throw notFound();
    return member;
  }

  async function requireOtherOwner(tx: Tx, accountId: string, { role }: members.Member): Promise<void> {
    if (role === 'owner' && (await members.countOwners(tx, accountId)) < 2) throw lastOwner();
  }

  async function requireInvitation(token: string): Promise<invitations.FoundInvitation> {
    if (!tokenForm.test(token)) throw deadInvitation();
    const nowMs = clock.nowMs();
    const hashes = keys.versionsSince(nowMs - invitationMs).map((version) => hashOf(token, version));
    const found = await invitations.findInvitation(database, hashes, nowMs);
    if (found === undefined) throw deadInvitation();
    return found;
  }

  /** Uses the invitation and makes the person a member. A person who already is one keeps the role. */
  async function join(tx: Tx, { id, accountId, role }: invitations.FoundInvitation, personId: string): Promise<void> {
    const nowMs = clock.nowMs();
    await members.lockAccount(tx, accountId);
    if (!(await invitations.takeInvitation(tx, id, nowMs))) throw deadInvitation();
    if ((await members.listMemberships(tx, personId)).length >= members.mostMemberships) throw tooManyAccounts();
    await members.insertMember(tx, { accountId, personId, role, nowMs });
    await members.setLastAccount(tx, personId, accountId);
  }

  return {
    list: (accountId: string) => members.listMembers(database, accountId, mostMembers),
    listInvitations: (accountId: string) =>
      invitations.listInvitations(database, accountId, clock.nowMs(), mostMembers),

    /** Returns the invitation and the last part of its link, which is shown once. */
    async invite(accountId: string, given: string, role: Role, note?: Note<invitations.Invitation>) {
      const email = requireEmail(given);
      const token = newLinkToken();
      const createdAtMs = clock.nowMs();
      const invitation = { id: newId('inv', clock), email, role, createdAtMs, expiresAtMs: createdAtMs + invitationMs };
      await change(accountId, async (tx) => {
        const current = await members.listMembers(tx, accountId, mostMembers);
        if (current.some((member) => member.email === email)) throw isMember();
        const open = await invitations.listInvitations(tx, accountId, createdAtMs, mostMembers);
        const others = open.filter((each) => each.email !== email);
        if (current.length + others.length >= mostMembers) throw tooManyMembers();
        await invitations.putInvitation(tx, accountId, invitation, hashOf(token, keys.version));
        await note?.(tx, invitation);
      });
      return { invitation, token };
    },

    async withdraw(accountId: string, id: string, note?: Note): Promise<void> {
      const withdraw = async (tx: Tx) => {
        if (!isId('inv', id) || !(await invitations.deleteInvitation(tx, accountId, id))) throw notFound();
      };
      await database.transaction(noted(withdraw, note));
    },

    /** The note gets the member before the change. */
    changeRole: (
      accountId: string,
      personId: string,
      role: Role,
      note?: Note<members.Member>,
    ): Promise<members.Member> =>
      change(accountId, async (tx) => {
        const member = await requireMember(tx, accountId, personId);
        if (role !== 'owner') await requireOtherOwner(tx, accountId, member);
        await members.setRole(tx, accountId, personId, role);
        await note?.(tx, member);
        return { ...member, role };
      }),

    remove: (accountId: string, personId: string, note?: Note<members.Member>): Promise<void> =>
      change(accountId, async (tx) => {
        const member = await requireMember(tx, accountId, personId);
        await requireOtherOwner(tx, accountId, member);
        await members.deleteMember(tx, accountId, personId);
        await note?.(tx, member);
      }),

    /** The content of an invitation, and whether the invited person has to sign in first. */
    async readInvitation(token: string) {
      const found = await requireInvitation(token);
      const person = await people.findPersonByEmail(database, found.email);
      return { ...found, signInFirst: options.ssoOnly || person !== undefined };
    },

    /** For a person who signs in for the first time. */
    async acceptAsNewPerson(token: string, password: string, address: string, note?: Note<Joined>): Promise<SignedIn> {
      if (options.ssoOnly) throw ssoOnly();
      const found = await requireInvitation(token);
      requireGoodPassword(password, found.email);
      const passwordHash = await passwordWork.run(address, (hasher) => hasher.hash(password));
      const nowMs = clock.nowMs();
      const person = { id: newId('per', clock), email: found.email, operator: false, createdAtMs: nowMs };
      return database.transaction(async (tx) => {
        if (!(await people.insertPerson(tx, person, passwordHash))) throw signInToAccept();
        await join(tx, found, person.id);
        await note?.(tx, { ...found, personId: person.id });
        const owner = { personId: person.id, accountId: found.accountId };
        const { email } = found;
        return { ...owner, ...(await sessions.open(tx, { ...owner, email, address, way: 'invitation' })) };
      });
    },

    /** For a signed-in person. Returns the account's id. */
    async accept(token: string, personId: string, note?: Note<Joined>): Promise<string> {
      const found = await requireInvitation(token);
      const person = await people.findPerson(database, personId);
      if (person?.email !== found.email) throw forAnotherPerson(found.email);
      await database.transaction(async (tx) => {
        await join(tx, found, personId);
        await note?.(tx, { ...found, personId });
      });
      return found.accountId;
    },
  };
}

function deadInvitation(): ApiError {
  return invalidField('token', 'is unknown, already used, withdrawn, or older than 7 days');
}

function lastOwner(): ApiError {
  return new ApiError('INCOMPATIBLE_STATE', 'An account needs an owner. Make another member an owner first.');
}

function isMember(): ApiError {
  return new ApiError('ALREADY_EXISTS', 'This person is already a member.', {
    details: [{ field: 'email', message: 'is the email of a member' }],
  });
}

function tooManyMembers(): ApiError {
  return new ApiError('INCOMPATIBLE_STATE', `An account has at most ${mostMembers} members and open invitations.`);
}

function tooManyAccounts(): ApiError {
  return new ApiError('INCOMPATIBLE_STATE', `A person belongs to at most ${members.mostMemberships} accounts.`);
}

function signInToAccept(): ApiError {
  return new ApiError('ALREADY_EXISTS', 'You already have a password. Sign in, then open the invitation again.');
}

function forAnotherPerson(email: string): ApiError {
  return new ApiError(
    'PERMISSION_DENIED',
    `This invitation is for ${email}. Sign in with that email, then open it again.`,
  );
}
