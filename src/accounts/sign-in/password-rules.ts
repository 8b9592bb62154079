// Tests: test/contract/portal-accounts.test.ts
import { invalidField } from '../../platform/errors.ts';
import { trimEnd } from '../../platform/trim-end.ts';

export function requireGoodPassword(password: string, email: string): void {
  const problem = passwordProblem(password, email);
  if (problem !== undefined) throw invalidField('password', problem);
}

/** What is wrong with a password; undefined when it is acceptable. */
function passwordProblem(password: string, email: string): string | undefined {
  const length = [...password].length;
  if (length < 8) return 'must have at least 8 characters (15 or more are better)';
  if (length > 256) return 'must have at most 256 characters';
  const plain = password.toLowerCase();
  const [name = ''] = email.toLowerCase().split('@');
  if (plain === email.toLowerCase() || plain === name) return 'must not be the email address';
  if (new Set(plain).size < 4 || isRun(plain) || common.has(withoutTail(plain)) || common.has(plain)) {
    return 'This password is too common. Use a sentence that only you would think of.';
  }
  return undefined;
}

/** Runs of keyboard keys, letters or digits, forwards or backwards. */
function isRun(text: string): boolean {
  const rows = [
    '0123456789012',
    'abcdefghijklmnopqrstuvwxyz',
    'qwertyuiopasdfghjklzxcvbnm',
    'qwertzuiopasdfghjklyxcvbnm',
  ];
  const both = rows.flatMap((row) => [row, [...row].reverse().join('')]);
  return both.some((row) => row.includes(text) || (text.length > 10 && row.includes(text.slice(0, 10))));
}

/** Attackers try `Password123!` as early as `password`. */
function withoutTail(text: string): string {
  return trimEnd(text, /[\d!?.@#$%&*_-]/);
}

const common = new Set(
  `password passwort passw0rd p@ssword p@ssw0rd motdepasse contrasena wachtwoord parola senha letmein welcome willkommen
   iloveyou sunshine princess football baseball basketball superman batman starwars trustno1 dragon monkey shadow master
   michael jennifer jordan michelle charlie computer internet samsung google facebook liverpool chelsea arsenal qwerty
   qwertz azerty 1q2w3e4r 1qaz2wsx q1w2e3r4 zaq12wsx abc12345 abcd1234 a1b2c3d4 changeme changeit secret default admin
   administrator root test testtest guest login access hello whatever heliograph`.split(/\s+/),
);
