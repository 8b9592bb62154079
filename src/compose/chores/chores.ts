import type { Clock } from '../../platform/clock.ts';
import type { KeyRing } from '../../platform/crypto/keys.ts';
import type { Database } from '../../platform/database/database.ts';
import type { Log } from '../../platform/log.ts';
import type { Chore } from '../../platform/work/maintenance.ts';
import type { Config } from '../../settings/settings.ts';
import { eventChores } from './event-chores.ts';
import { inboundChores } from './inbound-chores.ts';
import { createChoreKit } from './kit.ts';
import { peopleChores } from './people-chores.ts';
import { qualityChores } from './quality-chores.ts';
import { recordChores } from './record-chores.ts';
import { requestChores } from './request-chores.ts';
import { type TextEnds, textChores } from './text-chores.ts';
import { verificationChores } from './verification-chores.ts';

export interface ChoreOptions extends TextEnds {
  config: Config;
  database: Database;
  clock: Clock;
  keys: KeyRing;
  log: Log;
  /** Delivers texts from phones whose other parts never came. */
  deliverIncomplete: () => Promise<number>;
}

/** Every maintenance chore and its interval. The SQL is in the store that owns the table. */
export function createChores(options: ChoreOptions): Chore[] {
  const kit = createChoreKit(options);
  return [
    textChores,
    inboundChores,
    verificationChores,
    recordChores,
    eventChores,
    requestChores,
    qualityChores,
    peopleChores,
  ].flatMap((choresOf) => choresOf(options, kit));
}
