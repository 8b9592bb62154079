// Tests: test/sso/sign-in.test.ts, test/sso/joining.test.ts
import type { KeyRing } from '../../platform/crypto/keys.ts';
import type { Note } from '../../platform/database/database.ts';
import { ApiError, unavailable } from '../../platform/errors.ts';
import type { Log } from '../../platform/log.ts';
import * as people from '../people/person-store.ts';
import { wrongCode } from '../sign-in/second-factor.ts';
import type { Self } from '../sign-in/self.ts';
import { findSessionPerson } from '../sign-in/session-store.ts';
import type { SignedIn } from '../sign-in/sign-in.ts';
import { startAgain } from '../sign-in/sign-in.ts';
import type { Guess, SignInThrottle } from '../sign-in/throttle.ts';
import { attemptMs, createAttempts, hashOfChallenge } from './attempt.ts';
import { SsoFailure, type SsoFault, toFailure } from './failure.ts';
import type { Identity, Provider } from './provider.ts';
import { deleteSessionsBy, findSsoSession } from './session-store.ts';
import { createSsoSignIn, type SsoSignInOptions } from './sign-in.ts';
import * as store from './store.ts';

export interface SsoServiceOptions extends SsoSignInOptions {
  keys: KeyRing;
  log: Log;
  provider: Provider;
  throttle: SignInThrottle;
  addressKey: (address: string) => string;
  https: boolean;
  /** Checks the person's own password. */
  requirePassword: (self: Self, password: string) => Promise<unknown>;
  /** Counts a guess of a code. */
  requireTry: (guess: Guess) => Promise<void>;
}

/** Where the browser goes after the provider: a page, and the cookie of a new session. */
export interface Landing {
  page: string;
  cookie?: string;
}

export interface Joined {
  personId: string;
  subject: string;
}

export type SsoService = ReturnType<typeof createSsoService>;

/** Single sign-on: the redirect, the callback and the sign-out. No transaction is open while the provider is asked. */
export function createSsoService(options: SsoServiceOptions) {
  const { database, clock, keys, log, provider, settings, secondFactor, sessions, throttle, seals } = options;
  const { issuer } = settings;
  const attempts = createAttempts({ clock, keys });
  const { signIn, openFor } = createSsoSignIn(options);
  const cookieName = attemptCookieOf(options.https);
  const attributes = `Path=/; HttpOnly; SameSite=Lax${options.https ? '; Secure' : ''}`;

  async function begin(returnTo: string, sessionHash: Buffer | null): Promise<{ address: string; cookie: string }> {
    const attempt = attempts.create();
    const address = await provider.addressFor(attempt.checks).catch(away);
    const expiresAtMs = clock.nowMs() + attemptMs;
    await store.insertAttempt(database, { hash: attempt.hash, returnTo, sessionHash, expiresAtMs });
    return { address, cookie: `${cookieName}=${attempt.token}; ${attributes}; Max-Age=${attemptMs / 1000}` };
  }

  /** The person that wanted to join must still be signed in, in the same session. */
  async function join(identity: Identity, sessionHash: Buffer, note: Note<Joined>): Promise<void> {
    await database.transaction(async (tx) => {
      const personId = await findSessionPerson(tx, sessionHash, clock.nowMs());
      if (personId === undefined) throw new SsoFailure('expired', 'the session has ended');
      const subject = { issuer, subject: identity.subject };
      if ((await store.findPersonOf(tx, subject)) === personId) return;
      if (!(await store.insertIdentity(tx, subject, personId, clock.nowMs())))
        throw new SsoFailure('taken', 'the identity or the person is joined already');
      await note(tx, { personId, subject: identity.subject });
    });
  }

  function land(outcome: SignedIn | { challenge: string }, returnTo: string): Landing {
    if ('challenge' in outcome) return { page: `/sign-in?challenge=${outcome.challenge}` };
    return { page: returnTo, cookie: outcome.cookie };
  }

  return {
    cookieName,
    issuer,
    only: settings.only,

    beginSignIn: (returnTo: string) => begin(returnTo, null),

    /** Needs the password again, so that a stolen session joins no identity of the thief. */
    async beginJoin(self: Self, password: string) {
      await options.requirePassword(self, password);
      return begin('/account', self.sessionHash);
    },

    /** Ends the sessions that the identity has opened too. Requires a password, the only way in that remains. */
    async leave(self: Self, password: string, note: Note<Joined>): Promise<void> {
      const { personId } = self;
      if (settings.only) throw new ApiError('INCOMPATIBLE_STATE', onlyWay);
      if ((await people.findPerson(database, personId))?.passwordHash === null)
        throw new ApiError('INCOMPATIBLE_STATE', noOtherWay);
      await options.requirePassword(self, password);
      await database.transaction(async (tx) => {
        await people.lockPerson(tx, personId);
        const subject = await store.deleteIdentity(tx, personId, issuer);
        if (subject === undefined) throw new ApiError('INCOMPATIBLE_STATE', 'Your account has joined no identity.');
        await deleteSessionsBy(tx, { issuer, subject }, personId);
        await note(tx, { personId, subject });
      });
    },

    /** The callback: finds the attempt of this browser, asks the provider, then signs in or joins. */
    async finish(returned: Returned, address: string, note: Note<Joined>): Promise<Landing> {
      const attempt = attempts.find(returned.token, returned.query.get('state') ?? undefined);
      const taken = attempt && (await store.takeAttempt(database, attempt.hash, clock.nowMs()));
      if (attempt === undefined || taken === undefined) return { page: faultPage('expired', false) };
      const { returnTo, sessionHash } = taken;
      const isJoining = sessionHash !== null;
      try {
        if (isJoining && !(returned.sessionHash && sessionHash.equals(returned.sessionHash)))
          throw new SsoFailure('expired', 'another session');
        const identity = await provider.redeem(returned.query, attempt.checks);
        if (!isJoining) return land(await signIn(identity, address), returnTo);
        await join(identity, sessionHash, note);
        return { page: '/account?sso=joined' };
      } catch (error) {
        if (!(error instanceof SsoFailure)) throw error;
        log.info({ fault: error.fault, reason: error.message }, 'single sign-on failed');
        return { page: faultPage(error.fault, isJoining) };
      }
    },

    /** The second step, for a person with our second factor. */
    async completeSignIn(text: string, code: string, address: string): Promise<SignedIn> {
      const hash = hashOfChallenge(text);
      const challenge = await store.findChallenge(database, hash, clock.nowMs());
      const person = challenge && (await people.findPerson(database, challenge.personId));
      if (challenge === undefined || person === undefined) throw startAgain();
      const { id: personId, email } = person;
      const guess: Guess = { personId, email, addressKey: options.addressKey(address), of: 'second factor' };
      await options.requireTry(guess);
      const tried = { email, personId, address, way: 'code' } as const;
      const opened = await database.transaction(async (tx) => {
        await people.lockPerson(tx, personId);
        if (!(await secondFactor.takeCode(tx, personId, code))) return undefined;
        if (!(await store.deleteChallenge(tx, hash))) throw startAgain();
        await throttle.clear(tx, guess);
        return openFor(tx, person, challenge, address);
      });
      if (opened !== undefined) return opened;
      await options.signIns.record(database, { ...tried, outcome: 'wrong_code' });
      throw wrongCode();
    },

    /**
     * Ends the session here, without waiting for the provider to revoke its token. Returns the page that ends the browser's
     * session there.
     */
    async signOut(sessionHash: Buffer): Promise<{ address: string | null; cookie: string }> {
      const session = await findSsoSession(database, sessionHash);
      const { cookie } = await sessions.end(sessionHash);
      if (session === undefined) return { address: null, cookie };
      if (session.refresh !== null)
        void provider
          .revoke(seals.open(session.refresh, session))
          .catch((error: Error) => log.info({ reason: error.message }, 'single sign-on: the provider kept a session'));
      return { address: (await provider.logoutAddress().catch(() => undefined)) ?? null, cookie };
    },

    hasIdentity: (personId: string) => store.hasIdentity(database, personId, issuer),
    isSession: async (sessionHash: Buffer) => (await findSsoSession(database, sessionHash)) !== undefined,
  };
}

const onlyWay = 'Single sign-on is the only way to sign in to this service.';
const noOtherWay =
  'You have no password here, so you could no longer sign in. An operator can make a link that sets one.';

/** The parts of the browser's request when it returns from the provider. */
export interface Returned {
  /** The token of the attempt, from the cookie. */
  token: string | undefined;
  sessionHash: Buffer | undefined;
  query: URLSearchParams;
}

export function attemptCookieOf(https: boolean): string {
  return https ? '__Host-heliograph_sso' : 'heliograph_sso';
}

function faultPage(fault: SsoFault, isJoining: boolean): string {
  return `${isJoining ? '/account' : '/sign-in'}?sso=${fault}`;
}

/** Throws a 503 if the provider is away: the portal's page is still open and shows it. */
function away(error: unknown): never {
  try {
    return toFailure(error);
  } catch {
    throw unavailable('The provider of single sign-on does not answer. Try again shortly.', 5);
  }
}
