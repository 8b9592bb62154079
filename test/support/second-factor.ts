import assert from 'node:assert/strict';
import { codeOf, stepAt } from '../../src/accounts/sign-in/totp.ts';
import { fromBase32 } from './base32.ts';
import type { TestDeveloper } from './developer.ts';

export const factorPath = '/portal/v1/me/second-factor';

export interface TestFactor {
  /** The code of now, or of this many steps of 30 seconds later. A code counts once. */
  code(steps?: number): string;
  recovery: string[];
}

/** The app on a person's phone, once it has the secret. */
export function authenticator(base32: string, clock: { nowMs(): number }): TestFactor['code'] {
  const secret = fromBase32(base32);
  return (steps = 0) => codeOf(secret, stepAt(clock.nowMs()) + steps);
}

/** Sets up a second factor. It uses the code of now. */
export async function setUpFactor(person: TestDeveloper, clock: { nowMs(): number }): Promise<TestFactor> {
  const body = { current_password: person.password };
  const begun = await person.send<{ secret: string }>('POST', factorPath, body);
  assert.equal(begun.status, 201, JSON.stringify(begun.body));
  const code = authenticator(begun.body.secret, clock);
  const turnedOn = await person.send<{ recovery_codes: string[] }>('POST', `${factorPath}/confirm`, { code: code() });
  assert.equal(turnedOn.status, 200, JSON.stringify(turnedOn.body));
  return { code, recovery: turnedOn.body.recovery_codes };
}
