// Tests: test/parts/carrier-rows.test.ts
import { toTimestamp } from '../../platform/clock.ts';
import type { Tx } from '../../platform/database/database.ts';

/** One connection of a carrier, as its worker sees it. */
export interface BindState {
  slot: number;
  /**
   * `degraded`: it sends, but its receiver is down. `waiting`: until the next try. A carrier of kind `http` has one row on
   * each node: `ready`, or `failing` while the provider does not answer or refuses the account.
   */
  state: 'connecting' | 'binding' | 'bound' | 'degraded' | 'waiting' | 'unbinding' | 'stopped' | 'ready' | 'failing';
  mode: 'transceiver' | 'pair' | 'http';
  host: string | null;
  sinceMs: number;
  /** Why it is not bound, as a sentence. */
  error: string | null;
  nextTryAtMs: number | null;
  /** On a carrier's first slot: a hint for the operator about its receipts. */
  hint?: string | null;
  /** The carrier refuses the account: trying again does not help. */
  refused?: boolean;
  /** When the carrier's certificate expires; null without TLS. */
  certificateEndsAtMs?: number | null;
  /** On a node's first slot: the countries whose texts do not get through; `*` for all. */
  open?: readonly string[];
}

export interface CarrierBind extends BindState {
  carrierId: number;
  node: string;
}

/** A worker writes the states of its slots when they change, and every 5 s. */
export const bindsWrittenEveryMs = 5000;
/** A worker that has not written for this long is gone. */
const bindsLiveForMs = 15_000;

export interface CarrierBinds {
  carrierId: number;
  binds: readonly BindState[];
}

/** Writes the connections of several carriers of a node. */
export async function writeNodeBinds(
  tx: Tx,
  { node, carriers }: { node: string; carriers: readonly CarrierBinds[] },
  nowMs: number,
): Promise<void> {
  const rows = carriers.flatMap(({ carrierId, binds }) => binds.map((bind) => ({ carrierId, bind })));
  if (rows.length === 0) return;
  // All workers write in this order, so that two never wait for each other.
  rows.sort((a, b) => a.carrierId - b.carrierId || a.bind.slot - b.bind.slot);
  await tx.query(upsertStatement, [
    node,
    toTimestamp(nowMs),
    rows.map(({ carrierId }) => carrierId),
    rows.map(({ bind }) => bind.slot),
    rows.map(({ bind }) => JSON.stringify(bind)),
  ]);
}

export function writeBinds(
  tx: Tx,
  { carrierId, node, binds }: CarrierBinds & { node: string },
  nowMs: number,
): Promise<void> {
  return writeNodeBinds(tx, { node, carriers: [{ carrierId, binds }] }, nowMs);
}

const upsertStatement = {
  name: 'write-carrier-binds',
  text: `insert into carrier_bind (carrier_id, slot, node, state, updated_at)
    select carrier_id, slot, $1, state, $2
    from unnest($3::integer[], $4::smallint[], $5::jsonb[]) as given(carrier_id, slot, state)
    on conflict (carrier_id, slot) do update set node = excluded.node, state = excluded.state,
      updated_at = excluded.updated_at`,
};

/** Deletes the rows of slots that a worker no longer holds. */
export async function deleteBinds(
  tx: Tx,
  { carrierId, node, slots }: { carrierId: number; node: string; slots: readonly number[] },
): Promise<void> {
  await tx.query('delete from carrier_bind where carrier_id = $1 and node = $2 and slot = any($3::smallint[])', [
    carrierId,
    node,
    slots,
  ]);
}

export async function deleteBindsOf(tx: Tx, carrierId: number): Promise<void> {
  await tx.query('delete from carrier_bind where carrier_id = $1', [carrierId]);
}

/** The connections that some worker holds now, by carrier and slot. */
export async function readBinds(tx: Tx, carrierIds: readonly number[], nowMs: number): Promise<CarrierBind[]> {
  if (carrierIds.length === 0) return [];
  const { rows } = await tx.query<{ carrierId: number; slot: number; node: string; state: BindState }>(readStatement, [
    carrierIds,
    toTimestamp(nowMs - bindsLiveForMs),
  ]);
  return rows.map(({ carrierId, slot, node, state }) => ({ ...state, carrierId, slot, node }));
}

const readStatement = {
  name: 'read-carrier-binds',
  text: `select carrier_id as "carrierId", slot, node, state from carrier_bind
    where carrier_id = any($1::integer[]) and updated_at > $2 order by carrier_id, slot`,
};

/** `not_running`: no worker runs the carrier. `degraded`: some of its connections are missing or cannot receive. */
export type CarrierState = 'up' | 'degraded' | 'down' | 'not_running';

export function stateOf(binds: readonly BindState[], wanted: number): CarrierState {
  if (binds.length === 0) return 'not_running';
  const working = binds.filter(({ state }) => state === 'bound' || state === 'ready').length;
  // Nodes of an `http` carrier come and go: all that run it now should be ready.
  const isHttp = binds.some(({ mode }) => mode === 'http');
  if (working >= (isHttp ? binds.length : wanted)) return 'up';
  return binds.some(canSend) ? 'degraded' : 'down';
}

export function canSend({ state }: BindState): boolean {
  return state === 'bound' || state === 'degraded' || state === 'ready';
}
