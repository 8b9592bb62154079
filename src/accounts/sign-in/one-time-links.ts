// Tests: test/contract/portal-commands.test.ts, test/contract/operator-accounts.test.ts
import { type Clock, dayMs, minuteMs } from '../../platform/clock.ts';
import type { KeyRing } from '../../platform/crypto/keys.ts';
import { randomBase62 } from '../../platform/crypto/random.ts';
import { keyedHash } from '../../platform/crypto/secrets.ts';
import type { Database, Note, Tx } from '../../platform/database/database.ts';
import { ApiError, invalidField } from '../../platform/errors.ts';
import { toRun } from '../../platform/how-to-run.ts';
import { newId } from '../../platform/ids.ts';
import { chooseAccount, createOwnAccount } from '../people/account-choice.ts';
import { readEmail } from '../people/email.ts';
import * as people from '../people/person-store.ts';
import * as links from './link-store.ts';
import { requireGoodPassword } from './password-rules.ts';
import type { PasswordWork } from './password-work.ts';
import type { SecondFactor } from './second-factor.ts';
import type { Sessions } from './session.ts';
import { deleteSessionsOf } from './session-store.ts';
import type { Challenged, SignedIn, SignInOptions } from './sign-in.ts';
import { ssoOnly } from './sso-only.ts';

export interface LinkOptions {
  database: Database;
  clock: Clock;
  keys: KeyRing;
}

const linkMs = dayMs;
/** How long an operator may set up a second factor after using a link from the machine. */
const enrolMs = 15 * minuteMs;
const tokenLength = 43;
export const tokenForm = /^[0-9A-Za-z]{43}$/;
export const newLinkToken = () => randomBase62(tokenLength);

/** Makes links that set a new password once. */
export function createLinkMaker({ database, clock, keys }: LinkOptions) {
  async function insert(tx: Tx, personId: string, purpose: links.LinkPurpose, note?: Note<MadeLink>): Promise<string> {
    const token = newLinkToken();
    const hash = linkHash(keys, keys.version, token);
    await links.insertLink(tx, { hash, personId, ...purpose, expiresAtMs: clock.nowMs() + linkMs });
    await note?.(tx, { personId, ...purpose });
    return token;
  }

  return {
    findPerson: (email: string) => people.findPersonByEmail(database, readEmail(email) ?? ''),

    /**
     * For commands on the machine. Returns the token of a new link, or undefined if the person does not exist. An
     * operator link grants the role only when used: its new password ends all earlier sessions.
     */
    async createLink(
      given: string,
      purpose: Partial<Omit<links.LinkPurpose, 'fromMachine'>> = {},
      note?: Note<MadeLink>,
    ): Promise<string | undefined> {
      const { makesOperator = false, removesSecondFactor = false } = purpose;
      const email = readEmail(given);
      if (email === undefined) return undefined;
      return database.transaction(async (tx) => {
        if (makesOperator) {
          const person = { id: newId('per', clock), email, operator: false, createdAtMs: clock.nowMs() };
          if (await people.insertPerson(tx, person, null)) await createOwnAccount(tx, clock, person);
        }
        const person = await people.findPersonByEmail(tx, email);
        if (person === undefined) return undefined;
        return insert(tx, person.id, { makesOperator, removesSecondFactor, fromMachine: true }, note);
      });
    },

    /** For the portal. Not for operators: else one operator could take over another. */
    createPortalLink: (personId: string, note?: Note<MadeLink>): Promise<string | undefined> =>
      database.transaction(async (tx) => {
        await people.lockPerson(tx, personId);
        const person = await people.findPerson(tx, personId);
        if (person === undefined) return undefined;
        if (person.operator) throw onMachineOnly(person.email);
        const purpose = { makesOperator: false, removesSecondFactor: false, fromMachine: false };
        return insert(tx, personId, purpose, note);
      }),
  };
}

function onMachineOnly(email: string): ApiError {
  return new ApiError(
    'INCOMPATIBLE_STATE',
    `${email} is an operator. Make the link on the machine: ${toRun('reset-password', email)}`,
  );
}

/** A link's person, and what the link does besides setting the password. */
export type MadeLink = links.LinkPurpose & { personId: string };

export interface LinkUseOptions extends LinkOptions, Pick<SignInOptions, 'challenges' | 'signIns'> {
  passwordWork: PasswordWork;
  sessions: Sessions;
  secondFactor: SecondFactor;
  ssoOnly: boolean;
  /** Unlinks the person from providers of single sign-on. */
  deleteIdentitiesOf: (tx: Tx, personId: string) => Promise<void>;
}

/** Sets a new password by a link. An invalid link costs one indexed read and no hash. */
export function createLinkUse(options: LinkUseOptions) {
  const { database, clock, keys, passwordWork, sessions, secondFactor, challenges, signIns } = options;

  async function requireLink(token: string): Promise<links.FoundLink> {
    if (!tokenForm.test(token)) throw deadLink();
    const nowMs = clock.nowMs();
    const hashes = keys.versionsSince(nowMs - linkMs).map((version) => linkHash(keys, version, token));
    const found = await links.findLink(database, hashes, nowMs);
    if (found === undefined) throw deadLink();
    // The emergency way in is for operators alone.
    const isForOperator = found.fromMachine && (found.makesOperator || found.operator);
    if (options.ssoOnly && !isForOperator) throw ssoOnly();
    return found;
  }

  async function useLink(
    token: string,
    password: string,
    address: string,
    note?: Note<MadeLink>,
  ): Promise<SignedIn | Challenged> {
    requireGoodPassword(password, '');
    const found = await requireLink(token);
    const { personId, email } = found;
    requireGoodPassword(password, email);
    const passwordHash = await passwordWork.run(address, (hasher) => hasher.hash(password));
    return database.transaction(async (tx) => {
      // Lock the person first: two links of one person could otherwise deadlock.
      await people.lockPerson(tx, personId);
      const link = await links.takeLink(tx, personId, found.hash, clock.nowMs());
      if (link === undefined) throw deadLink();
      await people.setPassword(tx, personId, passwordHash);
      // The person who registered the e-mail first may have joined an identity: it must not sign in an operator.
      if (link.makesOperator && (await people.makeOperator(tx, personId)))
        await options.deleteIdentitiesOf(tx, personId);
      if (link.removesSecondFactor) await secondFactor.remove(tx, personId);
      await deleteSessionsOf(tx, personId);
      await note?.(tx, { personId, ...link });
      const signIn = { personId, email, address, way: 'link' } as const;
      // A link that reached the wrong person must not be enough.
      if (await secondFactor.isOn(tx, personId)) {
        await signIns.record(tx, { ...signIn, outcome: 'code_needed' });
        return { challenge: challenges.create(personId, passwordHash) };
      }
      const accountId = await chooseAccount(tx, clock, { id: personId, email });
      const enrols = link.fromMachine ? { enrolsUntilMs: clock.nowMs() + enrolMs } : {};
      return { personId, accountId, ...(await sessions.open(tx, { ...signIn, accountId, ...enrols })) };
    });
  }

  return { useLink, readLink: requireLink };
}

function linkHash(keys: KeyRing, version: number, token: string): Buffer {
  return keyedHash(keys.keyFor('link', version), token);
}

function deadLink() {
  return invalidField('token', 'is unknown, already used, or older than a day');
}
