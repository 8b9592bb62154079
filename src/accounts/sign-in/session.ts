// Tests: test/contract/portal-accounts.test.ts, test/contract/portal-person.test.ts
import type { Developer } from '../../http/route.ts';
import { type Clock, hourMs, minuteMs } from '../../platform/clock.ts';
import type { KeyRing } from '../../platform/crypto/keys.ts';
import { randomBytes } from '../../platform/crypto/random.ts';
import { keyedHash } from '../../platform/crypto/secrets.ts';
import type { Database, Tx } from '../../platform/database/database.ts';
import type { SignInLog } from './log.ts';
import * as store from './session-store.ts';
import type { SignInWay } from './way.ts';

/** People's sessions. The cookie is random; Postgres stores only its keyed hash. */
export interface Sessions {
  /** With the prefix `__Host-`, browsers accept the cookie only over https, from this exact host, for all paths. */
  readonly cookieName: string;
  /** Opens a session, and logs the sign-in. */
  open(tx: Tx, owner: SessionOwner): Promise<{ cookie: string; sessionHash: Buffer }>;
  find(token: string): Promise<Omit<Developer, 'kind'> | undefined>;
  /** Returns those of the sessions that are open. Does not extend them. */
  findOpen(sessionHashes: Buffer[]): Promise<Buffer[]>;
  list(personId: string): Promise<store.ListedSession[]>;
  end(sessionHash: Buffer): Promise<{ cookie: string }>;
  /** The cookie that deletes the session cookie in a browser. */
  readonly endedCookie: string;
}

export interface SessionOwner {
  personId: string;
  email: string;
  accountId: string;
  address: string;
  /** How the person signed in. */
  way: SignInWay;
  /** Until then an operator may set up a second factor in this session. */
  enrolsUntilMs?: number;
  /** Single sign-on: a claim gives the rights of operators to this session. */
  operator?: boolean;
  /** The provider asked for a second factor. */
  secondFactor?: boolean;
  /** Ends the session earlier than the usual limit. */
  endsInMs?: number;
}

const idleMs = 30 * minuteMs;
export const absoluteMs = 12 * hourMs;
/** Updating `last_seen_at` once a minute is enough. */
const touchEveryMs = minuteMs;

export interface SessionsOptions {
  database: Database;
  clock: Clock;
  keys: KeyRing;
  signIns: SignInLog;
  https: boolean;
  /** Whether passwords open nothing: sessions that they opened before are over too. */
  ssoOnly: boolean;
}

export function createSessions(options: SessionsOptions): Sessions {
  const { database, clock, keys, signIns, https, ssoOnly } = options;
  const cookieName = https ? '__Host-heliograph_session' : 'heliograph_session';
  const attributes = `Path=/; HttpOnly; SameSite=Lax${https ? '; Secure' : ''}`;
  const endedCookie = `${cookieName}=; ${attributes}; Max-Age=0`;
  const hashOf = (token: string, version: number) => keyedHash(keys.keyFor('session', version), token);
  const bounds = () => ({ nowMs: clock.nowMs(), idleSinceMs: clock.nowMs() - idleMs, ssoOnly });

  return {
    cookieName,
    endedCookie,

    async open(tx, owner) {
      const token = randomBytes(32).toString('base64url');
      const nowMs = clock.nowMs();
      const hash = hashOf(token, keys.version);
      const { enrolsUntilMs = null, operator = false, secondFactor = false, endsInMs = absoluteMs } = owner;
      const granted = { enrolsUntilMs, operator, secondFactor };
      await store.insertSession(tx, { hash, ...owner, ...granted, nowMs, expiresAtMs: nowMs + endsInMs });
      await signIns.record(tx, { ...owner, outcome: 'signed_in' });
      return { cookie: `${cookieName}=${token}; ${attributes}; Max-Age=${absoluteMs / 1000}`, sessionHash: hash };
    },

    async find(token) {
      if (!/^[A-Za-z0-9_-]{43}$/.test(token)) return undefined;
      const nowMs = clock.nowMs();
      const hashes = keys.versionsSince(nowMs - absoluteMs).map((version) => hashOf(token, version));
      const found = await store.findSession(database, hashes, bounds());
      if (found === undefined) return undefined;
      const { hash: sessionHash, lastSeenAtMs, ...person } = found;
      if (nowMs - lastSeenAtMs > touchEveryMs) await store.touchSession(database, sessionHash, nowMs);
      return { ...person, sessionHash };
    },

    findOpen: (sessionHashes) => store.findOpenSessions(database, sessionHashes, bounds()),
    list: (personId) => store.listSessions(database, personId, bounds()),

    async end(sessionHash) {
      await store.deleteSession(database, sessionHash);
      return { cookie: endedCookie };
    },
  };
}
