// Tests: test/parts/carrier-rows.test.ts
import type { Clock } from '../../platform/clock.ts';
import type { KeyRing } from '../../platform/crypto/keys.ts';
import type { Database } from '../../platform/database/database.ts';
import type { Log } from '../../platform/log.ts';
import { type CarrierPoll, createCarrierPoll } from '../carrier/poll.ts';
import { type CarrierRow, carrierAccount, carrierKey, channelsOf } from '../carrier/store.ts';
import { findWaitingTests } from '../carrier/test-store.ts';
import { openCallbackToken } from '../http/callbacks/token.ts';
import type { ConfiguredHttpCarrier } from '../http/carrier.ts';
import { createKnownRoutes } from '../routing/known-routes.ts';
import type { RouteTable } from '../routing/table.ts';
import type { ConfiguredSmppCarrier } from '../smpp/carrier.ts';
import { openCarrier } from './kinds.ts';

/** A carrier that a worker has to run, with its secrets. */
export type ConfiguredCarrier = ConfiguredSmppCarrier | ConfiguredHttpCarrier;

export interface WatchOptions {
  database: Database;
  clock: Clock;
  keys: KeyRing;
  log: Log;
  /** Gets the whole list, by name, and the routes, at the start and whenever something in them changes. */
  onChange: (carriers: ConfiguredCarrier[], table: RouteTable) => void;
}

/** Follows the carriers and the routes, for a worker. */
export function watchCarriers({ database, clock, keys, log, onChange }: WatchOptions): CarrierPoll {
  const routes = createKnownRoutes();
  let known = new Map<number, ConfiguredCarrier>();

  /** A carrier whose secrets cannot be opened now stays as it was; one that is new waits for the next read. */
  function configure(row: CarrierRow, testWaiting: boolean): ConfiguredCarrier | undefined {
    const before = known.get(row.id);
    const wanted = { logWantedAtMs: row.logWantedAtMs, tryWantedAtMs: row.tryWantedAtMs, testWaiting };
    if (before?.version === row.version) return { ...before, ...wanted };
    try {
      return {
        id: row.id,
        key: carrierKey(row),
        account: carrierAccount(row),
        name: row.name,
        channels: channelsOf(row),
        ...openCarrier(keys, row),
        callbackToken: openCallbackToken(keys, row),
        version: row.version,
        generation: row.generation,
        paused: row.paused,
        ...wanted,
      };
    } catch (error) {
      log.warn({ carrier: row.name, reason: (error as Error).message }, 'the secrets of a carrier could not be opened');
      return before && { ...before, ...wanted };
    }
  }

  return createCarrierPoll({
    database,
    log,
    async read() {
      const { rows, changed: changedRoutes } = await routes.read(database);
      const waiting = rows.length === 0 ? new Set<number>() : await findWaitingTests(database, clock.nowMs());
      const carriers = rows.flatMap((row) => configure(row, waiting.has(row.id)) ?? []);
      const changedCarriers =
        carriers.length !== known.size || carriers.some((each) => !isSame(each, known.get(each.id)));
      const changed = changedRoutes || changedCarriers;
      known = new Map(carriers.map((each) => [each.id, each]));
      if (changed) onChange(carriers, routes.table());
      return changed;
    },
  });
}

function isSame(carrier: ConfiguredCarrier, before: ConfiguredCarrier | undefined): boolean {
  return (
    before !== undefined &&
    before.version === carrier.version &&
    before.logWantedAtMs === carrier.logWantedAtMs &&
    before.tryWantedAtMs === carrier.tryWantedAtMs &&
    before.testWaiting === carrier.testWaiting
  );
}
