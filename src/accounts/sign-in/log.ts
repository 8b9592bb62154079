// Tests: test/contract/portal-sign-in.test.ts
import type { Clock } from '../../platform/clock.ts';
import type { Tx } from '../../platform/database/database.ts';
import { newId } from '../../platform/ids.ts';
import { insertSignIn } from './store.ts';
import type { SignInOutcome, SignInWay } from './way.ts';

export interface SignInTry {
  email: string;
  /** Undefined when no person has the e-mail. */
  personId: string | undefined;
  address: string;
  way: SignInWay;
  outcome: SignInOutcome;
}

export type SignInLog = ReturnType<typeof createSignInLog>;

/**
 * Keeps every sign-in with its address. E-mails with and without a person take the same statement and as many rows, so
 * that neither time nor the table shows which e-mails have accounts.
 */
export function createSignInLog(clock: Clock) {
  return {
    record: (tx: Tx, { email, personId, address, way, outcome }: SignInTry): Promise<void> =>
      insertSignIn(tx, {
        ...{ id: newId('sin', clock), email, personId: personId ?? null, address, way, outcome },
        createdAtMs: clock.nowMs(),
        knewPassword: outcome !== 'wrong_password' && outcome !== 'throttled',
      }),
  };
}
