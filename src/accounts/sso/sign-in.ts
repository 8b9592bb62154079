// Tests: test/sso/sign-in.test.ts
import type { Clock } from '../../platform/clock.ts';
import { minuteMs } from '../../platform/clock.ts';
import { randomBytes } from '../../platform/crypto/random.ts';
import type { Database, Tx } from '../../platform/database/database.ts';
import { newId } from '../../platform/ids.ts';
import type { SsoSettings } from '../../settings/sso.ts';
import { chooseAccount, createOwnAccount, DisabledAccount } from '../people/account-choice.ts';
import { readEmail } from '../people/email.ts';
import * as people from '../people/person-store.ts';
import type { SignInLog } from '../sign-in/log.ts';
import type { SecondFactor } from '../sign-in/second-factor.ts';
import { absoluteMs, type Sessions } from '../sign-in/session.ts';
import type { SignedIn } from '../sign-in/sign-in.ts';
import type { SignInOutcome } from '../sign-in/way.ts';
import { hashOfChallenge } from './attempt.ts';
import { SsoFailure } from './failure.ts';
import type { Identity } from './provider.ts';
import { recheckMs, uncheckedMs } from './rechecks.ts';
import type { SealRefresh } from './seal-refresh.ts';
import { insertSsoSession } from './session-store.ts';
import { findPersonOf, insertChallenge, insertIdentity, type StoredChallenge, type Subject } from './store.ts';

const challengeMs = 5 * minuteMs;
/** How long a person without a password may set up a second factor after a sign-in. */
const enrolMs = 15 * minuteMs;

export interface SsoSignInOptions {
  database: Database;
  clock: Clock;
  settings: SsoSettings;
  sessions: Sessions;
  secondFactor: SecondFactor;
  signIns: SignInLog;
  seals: SealRefresh;
}

/** Another sign-in has created the person meanwhile, or the person has unlinked the identity. */
class ChangedMeanwhile extends Error {}

/** Signs in the person of an identity. The first time it always creates a person, even if another has its e-mail. */
export function createSsoSignIn(options: SsoSignInOptions) {
  const { database, clock, settings, sessions, secondFactor, signIns, seals } = options;
  const { issuer } = settings;

  async function makePerson(tx: Tx, identity: Identity): Promise<people.Person> {
    const id = newId('per', clock);
    const email = shownEmail(identity, issuer);
    const made = { id, email, operator: false, createdAtMs: clock.nowMs() };
    // If the e-mail is taken, append the end of the id: it is only shown in lists.
    const person = (await people.insertPerson(tx, made, null))
      ? made
      : { ...made, email: `${email} (${id.slice(-6)})` };
    if (person !== made) await people.insertPerson(tx, person, null);
    await createOwnAccount(tx, clock, person);
    if (!(await insertIdentity(tx, { issuer, subject: identity.subject }, id, clock.nowMs())))
      throw new ChangedMeanwhile();
    return person;
  }

  async function findOrMake(tx: Tx, identity: Identity): Promise<people.Person> {
    const personId = await findPersonOf(tx, { issuer, subject: identity.subject });
    const person = personId === undefined ? undefined : await people.findPerson(tx, personId);
    return person ?? makePerson(tx, identity);
  }

  async function admit(tx: Tx, identity: Identity, address: string): Promise<SignedIn | { challenge: string }> {
    const person = await findOrMake(tx, identity);
    await people.lockPerson(tx, person.id);
    if ((await findPersonOf(tx, { issuer, subject: identity.subject })) !== person.id) throw new ChangedMeanwhile();
    const tried = { email: person.email, personId: person.id, address, way: 'sso' } as const;
    const needsMfa = settings.mfa.length > 0 && (identity.operator || person.operator);
    if (needsMfa && !identity.mfa) throw new Refused('mfa', { ...tried, outcome: 'mfa_missing' });
    const { subject, operator } = identity;
    const { refreshToken } = identity;
    const refresh = refreshToken === undefined ? null : seals.seal(refreshToken, { issuer, subject });
    if (!identity.mfa && (await secondFactor.isOn(tx, person.id))) {
      const challenge = `sso.${randomBytes(32).toString('base64url')}`;
      const expiresAtMs = clock.nowMs() + challengeMs;
      const hash = hashOfChallenge(challenge);
      await insertChallenge(tx, { hash, personId: person.id, issuer, subject, operator, refresh, expiresAtMs });
      await signIns.record(tx, { ...tried, outcome: 'code_needed' });
      return { challenge };
    }
    try {
      return await open(tx, person, { issuer, subject, operator, refresh, mfa: identity.mfa, address });
    } catch (error) {
      throw error instanceof DisabledAccount
        ? new Refused('disabled', { ...tried, outcome: 'account_disabled' })
        : error;
    }
  }

  /** A session that ends in an hour, unless the provider vouches for the person again. */
  async function open(tx: Tx, person: { id: string; email: string }, opened: Opened): Promise<SignedIn> {
    const { issuer, subject, operator, refresh, mfa, address } = opened;
    const nowMs = clock.nowMs();
    const owner = { personId: person.id, accountId: await chooseAccount(tx, clock, person) };
    const session = await sessions.open(tx, {
      ...{ ...owner, email: person.email, address, way: 'sso', enrolsUntilMs: nowMs + enrolMs },
      ...{ operator, secondFactor: mfa, endsInMs: Math.min(uncheckedMs, absoluteMs) },
    });
    await insertSsoSession(tx, { sessionHash: session.sessionHash, issuer, subject, refresh }, nowMs + recheckMs);
    return { ...owner, ...session };
  }

  return {
    /** The session, or the challenge for a code. Throws an `SsoFailure`. */
    async signIn(identity: Identity, address: string): Promise<SignedIn | { challenge: string }> {
      const run = () => database.transaction((tx) => admit(tx, identity, address));
      try {
        return await run().catch((error: unknown) => {
          if (error instanceof ChangedMeanwhile) return run();
          throw error;
        });
      } catch (error) {
        if (error instanceof Refused) await signIns.record(database, error.tried);
        throw error;
      }
    },

    /** Opens the session after a right code. */
    openFor: (tx: Tx, person: people.Person, challenge: StoredChallenge, address: string): Promise<SignedIn> =>
      open(tx, person, { ...challenge, mfa: false, address }),
  };
}

interface Opened extends Subject {
  operator: boolean;
  refresh: Buffer | null;
  mfa: boolean;
  address: string;
}

type Tried = Parameters<SignInLog['record']>[1] & { outcome: SignInOutcome };

/** A refusal after the provider vouched for the person: the log of sign-ins keeps it. */
class Refused extends SsoFailure {
  readonly tried: Tried;

  constructor(fault: 'mfa' | 'disabled', tried: Tried) {
    super(fault, tried.outcome);
    this.tried = tried;
  }
}

/** What lists show for the person: the claim, else the subject at the provider's host. */
function shownEmail({ email, subject }: Identity, issuer: string): string {
  const named = subject.replaceAll(/[^A-Za-z0-9._-]/g, '').slice(0, 64) || 'someone';
  return readEmail(email ?? '') ?? `${named}@${new URL(issuer).hostname}`.toLowerCase();
}
