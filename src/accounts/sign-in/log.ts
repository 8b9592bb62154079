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
 * Keeps every sign-in with its address. An e-mail without a person takes the same statement as one with a person, and as
 * many rows, so that neither the time nor the table tells a guesser which e-mails have accounts.
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
