// Tests: test/contract/portal-sign-in.test.ts, test/races/sign-in.test.ts
import { type Clock, dayMs, minuteMs, toTimestamp } from '../../platform/clock.ts';
import type { KeyRing } from '../../platform/crypto/keys.ts';
import { keyedHash } from '../../platform/crypto/secrets.ts';
import type { Database, Tx } from '../../platform/database/database.ts';

/** Slows down guessing without locking a person out: every wait is bounded and ends by itself. */
export interface SignInThrottle {
  /** Counts a guess before the password is checked, so that parallel guesses do not bypass the limit. */
  take(guess: Guess, isKnown: (addressHashes: Buffer[]) => Promise<boolean>): Promise<ThrottleDecision>;
  /** Forgets earlier guesses after a right password: the rows of this person and this address, no others. */
  clear(tx: Tx, guess: Guess): Promise<void>;
  addressHash(addressKey: string): Buffer;
}

export interface Guess {
  /** Undefined for an unknown person. The e-mail is counted instead, so that a caller sees no difference. */
  personId: string | undefined;
  email: string;
  addressKey: string;
  /** A second factor is short, so it has fewer free guesses. */
  of?: 'password' | 'second factor';
}

export type ThrottleDecision = { allowed: true } | { allowed: false; retryAfterMs: number };

interface Rule {
  /** Failures without a wait. */
  free: number;
  longestMs: number;
}

/** Per address and person: one second after the third failure, doubling up to 15 minutes. */
const perAddress: Rule = { free: 3, longestMs: 15 * minuteMs };
/** Per person, from any address, except addresses that the person signed in from before. */
const perPerson: Rule = { free: 100, longestMs: minuteMs };
/** A caller that guesses a second factor already has the password. */
const perSecondFactor: Rule = { free: 10, longestMs: 15 * minuteMs };
/** The count restarts after a day without a failure. */
export const forgottenAfterMs = dayMs;
/** How long an address stays known after a sign-in. */
export const addressKnownMs = 30 * dayMs;

export function createSignInThrottle(database: Database, clock: Clock, keys: KeyRing): SignInThrottle {
  // A new version of the ring restarts the counts: a few more free guesses, once per rotation.
  const hashOf = (text: string, version = keys.version) =>
    keyedHash(keys.keyFor('session', version), `sign-in:${text}`);
  const targetOf = ({ personId, email, of = 'password' }: Guess) =>
    personId === undefined ? `email\n${email}` : `${of}\n${personId}`;
  const personSubject = (guess: Guess) => hashOf(targetOf(guess));
  const addressSubject = (guess: Guess) => hashOf(`${targetOf(guess)}\n${guess.addressKey}`);
  const addressHash = (addressKey: string, version?: number) => hashOf(`address\n${addressKey}`, version);
  const addressHashes = (addressKey: string) =>
    keys.versionsSince(clock.nowMs() - addressKnownMs).map((version) => addressHash(addressKey, version));

  async function takeOne(subject: Buffer, { free, longestMs }: Rule): Promise<ThrottleDecision> {
    const nowMs = clock.nowMs();
    const { rows } = await database.query<{ taken: boolean; blockedUntilMs: number }>(takeTry, [
      subject,
      toTimestamp(nowMs),
      free,
      longestMs / 1000,
      toTimestamp(nowMs - forgottenAfterMs),
    ]);
    if (rows[0] !== undefined) return { allowed: true };
    const blocked = await database.query<{ blockedUntilMs: number }>(selectBlocked, [subject]);
    return { allowed: false, retryAfterMs: Math.max(1, (blocked.rows[0]?.blockedUntilMs ?? nowMs) - nowMs) };
  }

  return {
    addressHash: (addressKey) => addressHash(addressKey),
    async take(guess, isKnown) {
      const byAddress = await takeOne(addressSubject(guess), perAddress);
      if (!byAddress.allowed) return byAddress;
      const rule = guess.of === 'second factor' ? perSecondFactor : perPerson;
      const byPerson = await takeOne(personSubject(guess), rule);
      if (byPerson.allowed || (await isKnown(addressHashes(guess.addressKey)))) return { allowed: true };
      return byPerson;
    },
    async clear(tx, guess) {
      await tx.query('delete from sign_in_throttle where subject = any($1)', [
        [personSubject(guess), addressSubject(guess)],
      ]);
    },
  };
}

/**
 * Counts and decides in one statement, which returns a row only for an allowed try. Without a block, `blocked_until` is
 * a day ago, so that a node with a slow clock sees no block either.
 */
const takeTry = {
  name: 'take-sign-in-try',
  text: `insert into sign_in_throttle as t (subject, failures, last_failed_at, blocked_until) values ($1, 1, $2, $5)
    on conflict (subject) do update set
      failures = case when t.last_failed_at < $5 then 1 else t.failures + 1 end,
      last_failed_at = $2,
      blocked_until = case when t.last_failed_at < $5 or t.failures + 1 < $3::int then $5::timestamptz
        else $2::timestamptz + make_interval(secs => least($4::double precision, power(2, least(t.failures + 1 - $3::int, 30)))) end
    where t.blocked_until <= $2
    returning true as taken`,
};

const selectBlocked = {
  name: 'select-sign-in-block',
  text: 'select blocked_until as "blockedUntilMs" from sign_in_throttle where subject = $1',
};
