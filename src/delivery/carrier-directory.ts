import type { Clock } from '../platform/clock.ts';
import type { Database } from '../platform/database.ts';
import type { Log } from '../platform/log.ts';
import { type CarrierBind, type CarrierState, canSend, readBinds, stateOf } from './carrier-bind-store.ts';
import { createCarrierPoll } from './carrier-poll.ts';
import { type CarrierKind, type CarrierRow, carrierKey, readCarriers } from './carrier-store.ts';
import { route } from './routing.ts';

/** A carrier as this node last saw it. */
export interface KnownCarrier {
  key: string;
  name: string;
  kind: CarrierKind;
  paused: boolean;
  /** It can send now. */
  up: boolean;
  state: CarrierState;
  binds: CarrierBind[];
  /** On the steady clock: since when this node has seen it unable to send, or paused. Null while it works. */
  downSinceMs: number | null;
}

/** The carriers and their states, at most 2 s old. Reading it costs no query. */
export interface CarrierDirectory {
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Reads the rows now. */
  refresh(): Promise<void>;
  /** By name. */
  list(): readonly KnownCarrier[];
  /** The key of the best carrier for a number; undefined when there are no carriers. */
  carrierFor(to: string): string | undefined;
  /** True when there are carriers, and none has worked for this long. */
  allDownFor(ms: number): boolean;
}

export interface CarrierDirectoryOptions {
  database: Database;
  clock: Clock;
  log: Log;
}

export function createCarrierDirectory({ database, clock, log }: CarrierDirectoryOptions): CarrierDirectory {
  let known: KnownCarrier[] = [];

  async function read(): Promise<boolean> {
    const rows = await readCarriers(database);
    const binds = await readBinds(
      database,
      rows.map(({ id }) => id),
      clock.nowMs(),
    );
    const before = new Map(known.map((carrier) => [carrier.key, carrier]));
    const steadyMs = clock.steadyMs();
    known = rows.map((row) => {
      const own = binds.filter(({ carrierId }) => carrierId === row.id);
      return toKnown(row, own, before.get(carrierKey(row))?.downSinceMs ?? steadyMs);
    });
    return known.length !== before.size || known.some((carrier) => !isSame(carrier, before.get(carrier.key)));
  }

  return {
    ...createCarrierPoll({ database, log, read }),
    list: () => known,
    carrierFor: (to) => route({ to }, known)[0]?.carrier.key,
    allDownFor: (ms) =>
      known.length > 0 &&
      known.every(({ downSinceMs }) => downSinceMs !== null && clock.steadyMs() - downSinceMs >= ms),
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
    state: stateOf(binds, Number(settings.binds)),
    binds,
    downSinceMs: up && !paused ? null : downSinceMs,
  };
}

function isSame(carrier: KnownCarrier, before: KnownCarrier | undefined): boolean {
  return before !== undefined && before.paused === carrier.paused && before.state === carrier.state;
}
