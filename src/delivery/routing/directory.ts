import type { Clock } from '../../platform/clock.ts';
import type { Database } from '../../platform/database/database.ts';
import type { Log } from '../../platform/log.ts';
import { type CarrierBind, type CarrierState, canSend, readBinds, stateOf } from '../carrier/bind-store.ts';
import { createCarrierPoll } from '../carrier/poll.ts';
import { type CarrierKind, type CarrierRow, carrierKey } from '../carrier/store.ts';
import { createKnownRoutes } from './known-routes.ts';
import { openOf } from './outlook.ts';
import type { CarrierHealth } from './routing.ts';
import type { RouteTable } from './table.ts';

/** A carrier as this node last saw it. */
export interface KnownCarrier extends CarrierHealth {
  kind: CarrierKind;
  state: CarrierState;
  binds: CarrierBind[];
  /** On the steady clock: since when this node has seen it unable to send, or paused. Null while it works. */
  downSinceMs: number | null;
}

/** The carriers, their states and the routes, at most 2 s old. Reading it costs no query. */
export interface CarrierDirectory {
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Reads the rows now. */
  refresh(): Promise<void>;
  /** By name. */
  list(): readonly KnownCarrier[];
  table(): RouteTable;
  /** True when none of these carriers has worked for this long. */
  areDownFor(keys: readonly string[], ms: number): boolean;
}

export interface CarrierDirectoryOptions {
  database: Database;
  clock: Clock;
  log: Log;
  /** Gets the rows of each read, with what only some need of them. */
  onRows?: (rows: readonly CarrierRow[]) => void;
}

export function createCarrierDirectory({
  database,
  clock,
  log,
  onRows = () => {},
}: CarrierDirectoryOptions): CarrierDirectory {
  const routes = createKnownRoutes();
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
    const steadyMs = clock.steadyMs();
    known = rows.map((row) => {
      const own = binds.filter(({ carrierId }) => carrierId === row.id);
      return toKnown(row, own, before.get(carrierKey(row))?.downSinceMs ?? steadyMs);
    });
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
      const isDown = (key: string) => {
        const since = known.find((carrier) => carrier.key === key)?.downSinceMs ?? null;
        return since !== null && since <= untilMs;
      };
      return keys.every(isDown);
    },
  };
}

function toKnown(row: CarrierRow, binds: CarrierBind[], downSinceMs: number): KnownCarrier {
  const { name, kind, paused, settings } = row;
  const up = binds.some(canSend);
  return {
    key: carrierKey(row),
    name,
    kind,
    paused,
    up,
    open: openOf(binds).get(row.id) ?? [],
    state: stateOf(binds, Number(settings.binds)),
    binds,
    downSinceMs: up && !paused ? null : downSinceMs,
  };
}

function isSame(carrier: KnownCarrier, before: KnownCarrier | undefined): boolean {
  return (
    before !== undefined &&
    before.paused === carrier.paused &&
    before.state === carrier.state &&
    String(before.open) === String(carrier.open)
  );
}
