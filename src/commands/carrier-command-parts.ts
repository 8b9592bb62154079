import type { Clock } from '../platform/clock.ts';
import type { KeyRing } from '../platform/crypto/keys.ts';
import type { Database } from '../platform/database/database.ts';
import type { Config } from '../settings/settings.ts';

/** The dependencies of `npm run carriers`. */
export interface CarrierCommandParts {
  config: Config;
  clock: Clock;
  database: Database;
  keys: KeyRing;
  say: (text: string) => void;
  /** Reads a variable of the environment: a file may name one instead of a secret. */
  readEnv: (name: string) => string | undefined;
}
