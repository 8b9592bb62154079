// Tests: test/contract/sign-in-link.test.ts
import { minuteMs } from '../../platform/clock.ts';
import { keyedHash } from '../../platform/crypto/secrets.ts';
import { invalidField } from '../../platform/errors.ts';
import { chooseAccount } from '../people/account-choice.ts';
import * as people from '../people/person-store.ts';
import * as links from './link-store.ts';
import { type LinkOptions, newLinkToken, tokenForm } from './one-time-links.ts';
import type { SecondFactor } from './second-factor.ts';
import type { Sessions } from './session.ts';
import type { SignedIn } from './sign-in.ts';
import { ssoOnly } from './sso-only.ts';

export interface SignInLinkOptions extends LinkOptions {
  sessions: Sessions;
  secondFactor: SecondFactor;
  ssoOnly: boolean;
}

/** Short: the first start prints the link, and its reader is at the screen. */
const linkMs = 15 * minuteMs;

/**
 * Links that sign in once, without a password: the first start of a sandbox prints one for the demo account. They share
 * the table of the links that set a password; their hashes differ, so that neither opens what the other does.
 */
export function createSignInLinks(options: SignInLinkOptions) {
  const { database, clock, keys, sessions, secondFactor } = options;
  const hashOf = (token: string, version: number) => keyedHash(keys.keyFor('link', version), `sign-in\n${token}`);

  return {
    /** Undefined if no person has the e-mail, and where single sign-on is the only way in. */
    async createSignInLink(email: string): Promise<string | undefined> {
      if (options.ssoOnly) return undefined;
      const person = await people.findPersonByEmail(database, email);
      if (person === undefined) return undefined;
      const token = newLinkToken();
      const purpose = { makesOperator: false, removesSecondFactor: false, fromMachine: true };
      const hash = hashOf(token, keys.version);
      await links.insertLink(database, { ...purpose, hash, personId: person.id, expiresAtMs: clock.nowMs() + linkMs });
      return token;
    },

    /** A person who became an operator or turned on a second factor meanwhile needs more than a link. */
    async useSignInLink(token: string, address: string): Promise<SignedIn> {
      if (options.ssoOnly) throw ssoOnly();
      if (!tokenForm.test(token)) throw deadLink();
      const nowMs = clock.nowMs();
      const hashes = keys.versionsSince(nowMs - linkMs).map((version) => hashOf(token, version));
      const found = await links.findLink(database, hashes, nowMs);
      if (found === undefined) throw deadLink();
      return database.transaction(async (tx) => {
        await people.lockPerson(tx, found.personId);
        const person = await people.findPerson(tx, found.personId);
        if (!(await links.deleteLink(tx, found.hash, nowMs)) || person === undefined) throw deadLink();
        if (person.operator || (await secondFactor.isOn(tx, person.id))) throw deadLink();
        const { id: personId, email } = person;
        const accountId = await chooseAccount(tx, clock, person);
        const opened = await sessions.open(tx, { personId, email, accountId, address, way: 'link' });
        return { personId, accountId, ...opened };
      });
    },
  };
}

function deadLink() {
  return invalidField('token', 'is unknown, already used, or older than 15 minutes');
}
