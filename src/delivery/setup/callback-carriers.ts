import type { KeyRing } from '../../platform/crypto/keys.ts';
import { sameBytes } from '../../platform/crypto/secrets.ts';
import type { Database } from '../../platform/database/database.ts';
import type { Log } from '../../platform/log.ts';
import { type CarrierRow, carrierAccount, carrierKey, findCarrier } from '../carrier/store.ts';
import type { CallbackCarrier, CallbackCarriers } from '../http/callbacks/carriers.ts';
import { callbackPath, openCallbackToken } from '../http/callbacks/token.ts';
import { profileOf } from '../http/settings.ts';
import { openCarrier } from './kinds.ts';

const longestToken = 64;

export function createCallbackCarriers(options: { database: Database; keys: KeyRing; log: Log }): CallbackCarriers {
  const { database, keys, log } = options;
  let known = new Map<string, CallbackCarrier>();

  /** A carrier whose secrets cannot be opened now stays as it was. */
  function open(row: CarrierRow): CallbackCarrier | undefined {
    const before = known.get(row.name);
    if (before?.id === row.id && before.version === row.version) return before;
    try {
      const carrier = openCarrier(keys, row);
      const token = openCallbackToken(keys, row);
      if (carrier.kind !== 'http' || token === null) return undefined;
      const { id, name, version } = row;
      const confirmsOptOuts = carrier.settings.opt_out_replies === 'carrier';
      const profile = profileOf(carrier.settings);
      const awaitsReceipts = carrier.settings.receipts !== 'none';
      const names = { key: carrierKey(row), account: carrierAccount(row) };
      return { id, name, version, ...names, token, profile, confirmsOptOuts, awaitsReceipts };
    } catch (error) {
      log.warn({ carrier: row.name, reason: (error as Error).message }, 'the secrets of a carrier could not be opened');
      return before?.id === row.id ? before : undefined;
    }
  }

  function fits(carrier: CallbackCarrier | undefined, token: string): carrier is CallbackCarrier {
    return (
      carrier !== undefined && token.length <= longestToken && sameBytes(Buffer.from(token), Buffer.from(carrier.token))
    );
  }

  return {
    follow(rows) {
      const carriers = rows.filter(({ kind }) => kind === 'http').flatMap((row) => open(row) ?? []);
      known = new Map(carriers.map((carrier) => [carrier.name, carrier]));
    },
    knows(path) {
      const [name = '', , token = ''] = path.slice(callbackPath.length + 1).split('/', 4);
      return fits(known.get(name), token);
    },
    async find(name, token) {
      const carrier = known.get(name);
      if (fits(carrier, token)) return carrier;
      // The carrier may be new on another node. Guesses are rate-limited by address.
      const row = await findCarrier(database, name);
      const newest = row?.kind === 'http' ? open(row) : undefined;
      return fits(newest, token) ? newest : undefined;
    },
  };
}
