// Tests: test/hostile/carrier-secrets.test.ts
import type { Clock } from '../../platform/clock.ts';
import type { KeyRing } from '../../platform/crypto/keys.ts';
import type { Database } from '../../platform/database/database.ts';
import {
  type CarrierRow,
  changeCarrier,
  emptyDeletedCarriers,
  findReadable,
  notifyCarriers,
} from '../carrier/store.ts';
import { secretFieldNames } from '../http/presets/presets.ts';
import { type CarrierSettings, openCarrier, splitCarrier } from './kinds.ts';
import { sealSecrets } from './secrets.ts';

interface SealOptions {
  database: Database;
  clock: Clock;
  keys: KeyRing;
}

/**
 * Seals secrets that older versions left readable among the settings, and empties the carriers that they deleted. A
 * carrier that is changed meanwhile waits for the next run.
 */
export function createSealReadable(options: SealOptions): () => Promise<number> {
  const { database, clock, keys } = options;
  return async () => {
    let done = await emptyDeletedCarriers(database);
    for (const row of await findReadable(database, secretFieldNames)) {
      const carrier = opened(keys, row);
      if (carrier === undefined) continue;
      const { settings, secrets } = splitCarrier(carrier);
      const { id, version } = row;
      const change = { id, version, settings, secrets: sealSecrets(keys, id, secrets), isOtherAccount: false };
      if ((await changeCarrier(database, change, clock.nowMs())) !== undefined) done++;
    }
    if (done > 0) await notifyCarriers(database);
    return done;
  };
}

/** Undefined if its secrets cannot be opened, which every worker logs. */
function opened(keys: KeyRing, row: CarrierRow): CarrierSettings | undefined {
  try {
    return openCarrier(keys, row);
  } catch {
    return undefined;
  }
}
