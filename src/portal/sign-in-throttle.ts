import type { Clock } from '../platform/clock.ts';
import { toTimestamp } from '../platform/clock.ts';
import type { Database, Tx } from '../platform/database.ts';
import type { KeyRing } from '../platform/keys.ts';
import { keyedHash } from '../platform/secrets.ts';

/** Slows guessing down without a way to shut a person out: every wait is bounded, and ends by itself. */
export interface SignInThrottle {
  /** Counts a guess before the password is looked at, so that parallel guesses cannot get past it. */
  take(guess: Guess, isKnown: (addressHash: Buffer) => Promise<boolean>): Promise<Take>;
  /** After a right password the guesses so far are forgotten: these two rows, and no others. */
  clear(tx: Tx, guess: Guess): Promise<void>;
  addressHash(addressKey: string): Buffer;
}

export interface Guess {
  /** Undefined when there is no such account; it is then counted by the e-mail, to look the same from outside. */
  accountId: string | undefined;
  email: string;
  addressKey: string;
}

export type Take = { allowed: true } | { allowed: false; retryAfterMs: number };

interface Rule {
  /** Failures that cost nothing. */
  free: number;
  longestMs: number;
}

/** One address and one account: a second after the third failure, doubling, at most a quarter of an hour. */
const perAddress: Rule = { free: 3, longestMs: 900_000 };
/** One account from anywhere. It does not bind addresses the account was signed in from before. */
const perAccount: Rule = { free: 100, longestMs: 60_000 };
/** After a day without a failure the count starts anew. */
export const forgottenAfterMs = 86_400_000;

export function createSignInThrottle(database: Database, clock: Clock, keys: KeyRing): SignInThrottle {
  const hashOf = (text: string) => keyedHash(keys.keyFor('session'), `sign-in:${text}`);
  const targetOf = ({ accountId, email }: Guess) =>
    accountId === undefined ? `email\n${email}` : `account\n${accountId}`;
  const accountSubject = (guess: Guess) => hashOf(targetOf(guess));
  const addressSubject = (guess: Guess) => hashOf(`${targetOf(guess)}\n${guess.addressKey}`);
  const addressHash = (addressKey: string) => hashOf(`address\n${addressKey}`);

  async function takeOne(subject: Buffer, { free, longestMs }: Rule): Promise<Take> {
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
    addressHash,
    async take(guess, isKnown) {
      const byAddress = await takeOne(addressSubject(guess), perAddress);
      if (!byAddress.allowed) return byAddress;
      const byAccount = await takeOne(accountSubject(guess), perAccount);
      if (byAccount.allowed || (await isKnown(addressHash(guess.addressKey)))) return { allowed: true };
      return byAccount;
    },
    async clear(tx, guess) {
      await tx.query('delete from sign_in_throttle where subject = any($1)', [
        [accountSubject(guess), addressSubject(guess)],
      ]);
    },
  };
}

/**
 * One statement counts and decides: a row comes back only for a try that may go on. Without a block the end lies a day
 * back, so that a node whose clock is a little behind sees none either.
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
