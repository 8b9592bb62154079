import type { Clock } from '../../platform/clock.ts';
import type { Database } from '../../platform/database/database.ts';
import type { Log } from '../../platform/log.ts';
import { type CarrierBind, type CarrierState, readBinds, stateOf } from '../carrier/bind-store.ts';
import { createCarrierPoll } from '../carrier/poll.ts';
import { type CarrierKind, type CarrierRow, carrierKey, channelsOf } from '../carrier/store.ts';
import { bindsOf, createTroubleTimes, healthOf, isDown } from './carriers-now.ts';
import { createKnownRoutes } from './known-routes.ts';
import type { CarrierHealth } from './routing.ts';
import type { RouteTable } from './table.ts';

/** A carrier as this node last saw it. */
export interface KnownCarrier extends CarrierHealth {
  kind: CarrierKind;
  state: CarrierState;
  binds: CarrierBind[];
  /** Since when this node has seen it down or paused; null while it works. */
  downSinceMs?: number | null;
}

/** The carriers, their states and the routes, at most 2 s old. Reading it costs no query. */
export interface CarrierDirectory {
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Reads the rows now. */
  refresh(): Promise<void>;
  /** The carriers by name. */
  list(): readonly KnownCarrier[];
  table(): RouteTable;
  /** True when none of these carriers has worked for this long. */
  areDownFor(keys: readonly string[], ms: number): boolean;
}

export interface CarrierDirectoryOptions {
  database: Database;
  clock: Clock;
  log: Log;
  /** Called with the rows of each read. */
  onRows?: (rows: readonly CarrierRow[]) => void;
}

export function createCarrierDirectory({
  database,
  clock,
  log,
  onRows = () => {},
}: CarrierDirectoryOptions): CarrierDirectory {
  const routes = createKnownRoutes();
  const downTimes = createTroubleTimes(clock);
  let known: KnownCarrier[] = [];

  async function read(): Promise<boolean> {
    const { rows, changed } = await routes.read(database);
    const binds = await readBinds(
      database,
      rows.map(({ id }) => id),
      clock.nowMs(),
    );
    onRows(rows);
    const before = new Map(known.map((carrier) => [carrier.key, carrier]));
    known = rows.map((row) => toKnown(row, bindsOf(binds, row)));
    downTimes.note(known.filter(isDown).map(({ key }) => key));
    for (const carrier of known) {
      const sinceMs = downTimes.sinceMs(carrier.key);
      carrier.downSinceMs = sinceMs === null ? null : clock.nowMs() - (clock.steadyMs() - sinceMs);
    }
    return (
      changed || known.length !== before.size || known.some((carrier) => !isSame(carrier, before.get(carrier.key)))
    );
  }

  return {
    ...createCarrierPoll({ database, log, read }),
    list: () => known,
    table: routes.table,
    areDownFor(keys, ms) {
      const untilMs = clock.steadyMs() - ms;
      return keys.every((key) => (downTimes.sinceMs(key) ?? Number.POSITIVE_INFINITY) <= untilMs);
    },
  };
}

function toKnown(row: CarrierRow, binds: CarrierBind[]): KnownCarrier {
  const { name, kind, paused, settings } = row;
  const health = healthOf({ key: carrierKey(row), name, paused, channels: channelsOf(row) }, binds);
  return { ...health, kind, state: stateOf(binds, Number(settings.binds)), binds };
}

function isSame(carrier: KnownCarrier, before: KnownCarrier | undefined): boolean {
  return (
    before !== undefined &&
    before.paused === carrier.paused &&
    before.state === carrier.state &&
    String(before.channels) === String(carrier.channels) &&
    String(before.open) === String(carrier.open)
  );
}
