// Tests: test/parts/carrier-rows.test.ts

import { type SendingChannel, sendingChannels } from '../../messages/channel.ts';
import { toTimestamp } from '../../platform/clock.ts';
import type { Tx } from '../../platform/database/database.ts';

/** In the order in which error messages list them. */
export const carrierKinds = ['smpp', 'http'] as const;
export type CarrierKind = (typeof carrierKinds)[number];

export interface CarrierRow {
  id: number;
  name: string;
  kind: CarrierKind;
  /** Without secrets. */
  settings: Record<string, unknown>;
  /** Sealed by the key ring. */
  secrets: Buffer | null;
  /** The token of its callbacks, sealed too. */
  callback: Buffer | null;
  version: number;
  generation: number;
  paused: boolean;
  logWantedAtMs: number | null;
  tryWantedAtMs: number | null;
  createdAtMs: number;
  updatedAtMs: number;
}

/** NOTIFY channel: nodes read the rows again. */
export const carriersChannel = 'heliograph_carriers';
/** Every worker runs every carrier, so there must not be too many. */
export const mostCarriers = 200;

/** Names the carrier in the queue's tables. The id is in it because a name can be used again. */
export function carrierKey({ name, id }: Pick<CarrierRow, 'name' | 'id'>): string {
  return `${name}#${id}`;
}

/** The channels that a carrier offers, as its settings say; undefined for `sms` alone. */
export function channelsOf({ settings }: Pick<CarrierRow, 'settings'>): readonly SendingChannel[] | undefined {
  const { channels } = settings;
  return Array.isArray(channels) ? sendingChannels.filter((channel) => channels.includes(channel)) : undefined;
}

/** Names the account that the carrier's message ids and receipts belong to. */
export function carrierAccount({ id, generation }: Pick<CarrierRow, 'id' | 'generation'>): string {
  return `${id}.${generation}`;
}

/** Makes every node read the rows when this transaction commits. */
export async function notifyCarriers(tx: Tx): Promise<void> {
  await tx.query('select pg_notify($1, $2)', [carriersChannel, '']);
}

const columns = `id, name, kind, settings, secrets, callback, version, generation, paused, log_wanted_at as "logWantedAtMs",
  try_wanted_at as "tryWantedAtMs", created_at as "createdAtMs", updated_at as "updatedAtMs"`;

/** An id for a new row: secrets are sealed for one row, so it is needed before the row is written. */
export async function newCarrierId(tx: Tx): Promise<number> {
  const { rows } = await tx.query<{ id: number }>(`select nextval(pg_get_serial_sequence('carrier', 'id')) as id`);
  return rows[0]?.id ?? 0;
}

export async function countCarriers(tx: Tx): Promise<number> {
  const { rows } = await tx.query<{ count: number }>('select count(*) as count from carrier where deleted_at is null');
  return rows[0]?.count ?? 0;
}

export async function insertCarrier(
  tx: Tx,
  carrier: Pick<CarrierRow, 'id' | 'name' | 'kind' | 'settings' | 'secrets' | 'callback'>,
  nowMs: number,
): Promise<CarrierRow> {
  const { id, name, kind, settings, secrets, callback } = carrier;
  const { rows } = await tx.query<CarrierRow>(
    `insert into carrier (id, name, kind, settings, secrets, callback, created_at, updated_at)
     values ($1, $2, $3, $4, $5, $6, $7, $7) returning ${columns}`,
    [id, name, kind, JSON.stringify(settings), secrets, callback, toTimestamp(nowMs)],
  );
  return requireRow(rows);
}

export async function findCarrier(tx: Tx, name: string): Promise<CarrierRow | undefined> {
  const { rows } = await tx.query<CarrierRow>(`select ${columns} from carrier where name = $1 and deleted_at is null`, [
    name,
  ]);
  return rows[0];
}

/** Whether the network behind a carrier vouches for the senders of texts; the carrier is named as in the queue. */
export async function isTrustedSender(tx: Tx, key: string): Promise<boolean> {
  const id = Number(key.split('#')[1]);
  if (!Number.isSafeInteger(id)) return false;
  const { count } = await tx.query(
    `select from carrier where id = $1 and deleted_at is null and settings->'trusted_sender' = 'true'`,
    [id],
  );
  return count > 0;
}

/** The names of the carriers with trusted senders. */
export async function findTrustedSenders(tx: Tx): Promise<string[]> {
  const { rows } = await tx.query<{ name: string }>(
    `select name from carrier where deleted_at is null and settings->'trusted_sender' = 'true' order by name limit $1`,
    [mostCarriers],
  );
  return rows.map(({ name }) => name);
}

/** All carriers, by name. */
export async function readCarriers(tx: Tx): Promise<CarrierRow[]> {
  const { rows } = await tx.query<CarrierRow>(readStatement, [mostCarriers]);
  return rows;
}

/** All carriers, by name, and the version of the newest table of routes, as they are at one moment. */
export async function readCarriersAndVersion(tx: Tx): Promise<{ carriers: CarrierRow[]; routesVersion: number }> {
  type Row = CarrierRow & { routesVersion: number };
  const { rows } = await tx.query<Row | { id: null; routesVersion: number }>(readWithVersion, [mostCarriers]);
  return { carriers: rows.filter((row) => row.id !== null), routesVersion: rows[0]?.routesVersion ?? 0 };
}

const readStatement = {
  name: 'read-carriers',
  text: `select ${columns} from carrier where deleted_at is null order by name limit $1`,
};

const readWithVersion = {
  name: 'read-carriers-and-routes-version',
  text: `select c.*, t.version as "routesVersion"
    from (select coalesce(max(version), 0) as version from route_table) t left join (${readStatement.text}) c on true
    order by c.name`,
};

/** The carriers at a past time, and those deleted so shortly before it that a node may still have known them. */
export async function readCarriersAt(tx: Tx, atMs: number): Promise<PastCarrier[]> {
  const { rows } = await tx.query<PastCarrier>(
    `select id, name, coalesce(deleted_at < $1, false) as "wasDeleted", settings->'channels' as channels from carrier
     where created_at <= $1 and (deleted_at is null or deleted_at > $2) order by id limit $3`,
    [toTimestamp(atMs), toTimestamp(atMs - knownAfterMs), 2 * mostCarriers],
  );
  return rows;
}

/** Nodes follow the rows within 2 s. */
const knownAfterMs = 2000;

export interface PastCarrier extends Pick<CarrierRow, 'id' | 'name'> {
  /** Null: `sms` alone. */
  channels: SendingChannel[] | null;
  /** It was deleted shortly before the time that was asked for. */
  wasDeleted: boolean;
}

/** A page, newest first. */
export async function listCarriers(tx: Tx, limit: number, beforeId: number | undefined): Promise<CarrierRow[]> {
  const { rows } = await tx.query<CarrierRow>(
    `select ${columns} from carrier where deleted_at is null and id < $1 order by id desc limit $2`,
    [beforeId ?? 2 ** 31 - 1, limit],
  );
  return rows;
}

export interface CarrierChange {
  id: number;
  /** The version that the change was made from. */
  version: number;
  settings: CarrierRow['settings'];
  secrets: CarrierRow['secrets'];
  isOtherAccount: boolean;
}

/** Writes new settings. Undefined if the carrier was changed or deleted in the meantime. */
export async function changeCarrier(tx: Tx, change: CarrierChange, nowMs: number): Promise<CarrierRow | undefined> {
  const { id, version, settings, secrets, isOtherAccount } = change;
  const { rows } = await tx.query<CarrierRow>(
    `update carrier set settings = $3, secrets = $4, version = version + 1, generation = generation + $5::integer,
       updated_at = $6
     where id = $1 and version = $2 and deleted_at is null returning ${columns}`,
    [id, version, JSON.stringify(settings), secrets, isOtherAccount ? 1 : 0, toTimestamp(nowMs)],
  );
  return rows[0];
}

export async function pauseCarrier(
  tx: Tx,
  name: string,
  paused: boolean,
  nowMs: number,
): Promise<CarrierRow | undefined> {
  const { rows } = await tx.query<CarrierRow>(
    `update carrier set paused = $2, version = version + (paused <> $2)::integer,
       updated_at = case when paused <> $2 then $3 else updated_at end
     where name = $1 and deleted_at is null returning ${columns}`,
    [name, paused, toTimestamp(nowMs)],
  );
  return rows[0];
}

/** Replaces the token of the carrier's callbacks. Undefined if it has none, or was deleted. */
export async function renewCallback(
  tx: Tx,
  { id, callback }: { id: number; callback: Buffer },
  nowMs: number,
): Promise<CarrierRow | undefined> {
  const { rows } = await tx.query<CarrierRow>(
    `update carrier set callback = $2, version = version + 1, updated_at = $3
     where id = $1 and deleted_at is null and callback is not null returning ${columns}`,
    [id, callback, toTimestamp(nowMs)],
  );
  return rows[0];
}

/** The row stays, since its id is in messages and receipts; its settings and secrets go. */
export async function deleteCarrier(tx: Tx, id: number, nowMs: number): Promise<boolean> {
  const { count } = await tx.query(
    `update carrier set deleted_at = $2, updated_at = $2, version = version + 1, ${emptied}
     where id = $1 and deleted_at is null`,
    [id, toTimestamp(nowMs)],
  );
  return count > 0;
}

/** Texts outlive their carrier: whether it gave receipts is kept. */
const keptOfDeleted = `case when settings ->> 'receipts' = 'none' then '{"receipts": "none"}'::jsonb else '{}'::jsonb end`;
const emptied = `settings = ${keptOfDeleted}, secrets = null, callback = null`;

/** A node of an older version leaves the settings of a carrier that it deletes. */
export async function emptyDeletedCarriers(tx: Tx): Promise<number> {
  const { count } = await tx.query(
    `update carrier set ${emptied} where deleted_at is not null and settings <> ${keptOfDeleted}`,
  );
  return count;
}

/** Carriers of kind http that have one of these fields unsealed in their settings. */
export async function findReadable(tx: Tx, fields: readonly string[]): Promise<CarrierRow[]> {
  const { rows } = await tx.query<CarrierRow>(
    `select ${columns} from carrier where deleted_at is null and kind = 'http' and settings ?| $1 order by id limit $2`,
    [fields, mostCarriers],
  );
  return rows;
}

/** Asks the workers for their logs. Returns the time that their answers will name. */
export async function wantLog(tx: Tx, id: number, nowMs: number): Promise<number> {
  const { rows } = await tx.query<{ wantedAtMs: number }>(
    `update carrier set log_wanted_at = greatest($2, log_wanted_at + interval '1 millisecond') where id = $1
     returning log_wanted_at as "wantedAtMs"`,
    [id, toTimestamp(nowMs)],
  );
  return rows[0]?.wantedAtMs ?? nowMs;
}

/** Asks the workers to connect at once. Undefined if there is no such carrier. */
export async function wantTry(tx: Tx, name: string, nowMs: number): Promise<CarrierRow | undefined> {
  const { rows } = await tx.query<CarrierRow>(
    `update carrier set try_wanted_at = greatest($2, try_wanted_at + interval '1 millisecond')
     where name = $1 and deleted_at is null returning ${columns}`,
    [name, toTimestamp(nowMs)],
  );
  return rows[0];
}

function requireRow(rows: CarrierRow[]): CarrierRow {
  const [row] = rows;
  if (row === undefined) throw new Error('the database returned no row');
  return row;
}
