import type { Clock } from '../platform/clock.ts';
import type { Database } from '../platform/database.ts';
import type { KeyRing } from '../platform/keys.ts';
import { openCarrier, splitCarrier } from './carrier-kinds.ts';
import { sealSecrets } from './carrier-secrets.ts';
import { changeCarrier, emptyDeletedCarriers, findReadable, notifyCarriers } from './carrier-store.ts';
import { secretFieldNames } from './http/presets/presets.ts';

/**
 * Seals secrets that older versions left readable among the settings, and empties the carriers that they deleted. A
 * carrier that is changed meanwhile is looked at in the next round.
 */
export function createSealReadable(options: {
  database: Database;
  clock: Clock;
  keys: KeyRing;
}): () => Promise<number> {
  const { database, clock, keys } = options;
  return () =>
    database.transaction(async (tx) => {
      let done = await emptyDeletedCarriers(tx);
      for (const row of await findReadable(tx, secretFieldNames)) {
        const { settings, secrets } = splitCarrier(openCarrier(keys, row));
        const { id, version } = row;
        const change = { id, version, settings, secrets: sealSecrets(keys, id, secrets), isOtherAccount: false };
        if ((await changeCarrier(tx, change, clock.nowMs())) !== undefined) done++;
      }
      if (done > 0) await notifyCarriers(tx);
      return done;
    });
}
