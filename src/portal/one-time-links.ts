import { type Clock, dayMs } from '../platform/clock.ts';
import type { Database, Note } from '../platform/database.ts';
import { invalidField } from '../platform/errors.ts';
import { newId } from '../platform/ids.ts';
import type { KeyRing } from '../platform/keys.ts';
import { randomBase62 } from '../platform/random.ts';
import { keyedHash } from '../platform/secrets.ts';
import { chooseAccount, createOwnAccount } from './account-choice.ts';
import { readEmail } from './email.ts';
import * as links from './link-store.ts';
import { requireGoodPassword } from './password-rules.ts';
import type { PasswordWork } from './password-work.ts';
import * as people from './person-store.ts';
import type { SecondFactor } from './second-factor.ts';
import type { Sessions } from './session.ts';
import { deleteSessionsOf } from './session-store.ts';
import type { Challenged, SignedIn, SignInOptions } from './sign-in.ts';

export interface LinkOptions {
  database: Database;
  clock: Clock;
  keys: KeyRing;
}

const linkMs = dayMs;
const tokenLength = 43;
export const tokenForm = /^[0-9A-Za-z]{43}$/;
export const newLinkToken = () => randomBase62(tokenLength);

/** Makes links that set a new password once. */
export function createLinkMaker({ database, clock, keys }: LinkOptions) {
  return {
    findPerson: (email: string) => people.findPersonByEmail(database, readEmail(email) ?? ''),

    /**
     * Returns the token of a new link, or undefined when there is no such person. An operator link grants the role only
     * when used: the new password then ends all sessions of anyone who signed up with that e-mail before.
     */
    async createLink(
      given: string,
      purpose: Partial<links.LinkPurpose> = {},
      note?: Note<LinkDeed>,
    ): Promise<string | undefined> {
      const { makesOperator = false, removesSecondFactor = false } = purpose;
      const email = readEmail(given);
      if (email === undefined) return undefined;
      const token = newLinkToken();
      return database.transaction(async (tx) => {
        if (makesOperator) {
          const person = { id: newId('per', clock), email, operator: false, createdAtMs: clock.nowMs() };
          if (await people.insertPerson(tx, person, null)) await createOwnAccount(tx, clock, person);
        }
        const person = await people.findPersonByEmail(tx, email);
        if (person === undefined) return undefined;
        const expiresAtMs = clock.nowMs() + linkMs;
        const hash = linkHash(keys, keys.version, token);
        await links.insertLink(tx, { hash, personId: person.id, makesOperator, removesSecondFactor, expiresAtMs });
        await note?.(tx, { personId: person.id, makesOperator, removesSecondFactor });
        return token;
      });
    },
  };
}

/** Whose password a link sets, and what else it does. */
export type LinkDeed = links.LinkPurpose & { personId: string };

export interface LinkUseOptions extends LinkOptions, Pick<SignInOptions, 'challenges'> {
  passwordWork: PasswordWork;
  sessions: Sessions;
  secondFactor: SecondFactor;
}

/** Sets a new password by a link. An invalid link costs one indexed read and no hash. */
export function createLinkUse(options: LinkUseOptions) {
  const { database, clock, keys, passwordWork, sessions, secondFactor, challenges } = options;

  return async function useLink(
    token: string,
    password: string,
    address: string,
    note?: Note<LinkDeed>,
  ): Promise<SignedIn | Challenged> {
    requireGoodPassword(password, '');
    if (!tokenForm.test(token)) throw deadLink();
    const nowMs = clock.nowMs();
    const hashes = keys.versionsSince(nowMs - linkMs).map((version) => linkHash(keys, version, token));
    const found = await links.findLink(database, hashes, nowMs);
    if (found === undefined) throw deadLink();
    const { personId, email } = found;
    requireGoodPassword(password, email);
    const passwordHash = await passwordWork.run(address, (hasher) => hasher.hash(password));
    return database.transaction(async (tx) => {
      // Lock the person first: two links of one person could otherwise deadlock.
      await people.lockPerson(tx, personId);
      const link = await links.takeLink(tx, personId, found.hash, clock.nowMs());
      if (link === undefined) throw deadLink();
      await people.setPassword(tx, personId, passwordHash);
      if (link.makesOperator) await people.makeOperator(tx, personId);
      if (link.removesSecondFactor) await secondFactor.remove(tx, personId);
      await deleteSessionsOf(tx, personId);
      await note?.(tx, { personId, ...link });
      // A link that reached the wrong person must not be enough.
      if (await secondFactor.isOn(tx, personId)) return { challenge: challenges.create(personId, passwordHash) };
      const accountId = await chooseAccount(tx, clock, { id: personId, email });
      return { personId, accountId, ...(await sessions.open(tx, { personId, accountId, address })) };
    });
  };
}

function linkHash(keys: KeyRing, version: number, token: string): Buffer {
  return keyedHash(keys.keyFor('link', version), token);
}

function deadLink() {
  return invalidField('token', 'is unknown, already used, or older than a day');
}
