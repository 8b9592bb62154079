// Tests: test/contract/operator-carriers.test.ts
import { validationError } from '../../http/request/validation.ts';
import type { Clock } from '../../platform/clock.ts';
import type { KeyRing } from '../../platform/crypto/keys.ts';
import type { Database, Note, Tx } from '../../platform/database/database.ts';
import { violates } from '../../platform/database/errors.ts';
import type { Environment } from '../../platform/environment.ts';
import { ApiError, type FieldProblem, notFound } from '../../platform/errors.ts';
import { type CarrierBind, deleteBindsOf, readBinds } from '../carrier/bind-store.ts';
import {
  type CarrierKind,
  type CarrierRow,
  changeCarrier,
  countCarriers,
  deleteCarrier,
  findCarrier,
  insertCarrier,
  listCarriers,
  mostCarriers,
  newCarrierId,
  notifyCarriers,
  pauseCarrier,
  renewCallback,
  wantTry,
} from '../carrier/store.ts';
import { callbackUrls, newCallbackToken, openCallbackToken, sealCallbackToken } from '../http/callbacks/token.ts';
import type { CallbackUrls } from '../http/profile.ts';
import { hideSecrets } from '../http/secrets.ts';
import { namesOf } from '../routing/known-routes.ts';
import type { RouteRule } from '../routing/table.ts';
import { lockRoutes, readNewestTable } from '../routing/table-store.ts';
import {
  type CarrierSettings,
  changesAccount,
  checkCarrier,
  keepCarrierSecrets,
  openCarrier,
  splitCarrier,
} from './kinds.ts';
import { secretsToGiveAgain } from './secret-destination.ts';
import { sealSecrets } from './secrets.ts';
import { kindProblem, mergePatch, nameProblem } from './settings.ts';

/** A carrier with its live connections. */
export interface LiveCarrier extends CarrierRow {
  binds: CarrierBind[];
  /** Where its provider reports; null for a kind that needs no callbacks. For operators only: they have a token. */
  callbacks: CallbackUrls | null;
}

export interface CarrierService {
  create(given: { name: string; kind: string; settings: unknown }, note?: Note): Promise<LiveCarrier>;
  /** Newest first. */
  list(limit: number, beforeId: number | undefined): Promise<LiveCarrier[]>;
  /** Returns the carrier; throws a 404 if there is none. */
  require(name: string): Promise<LiveCarrier>;
  /**
   * Merges settings: fields that are not named stay, null removes one. A 400 names each secret that has to be given
   * again because it would go to another host.
   */
  change(name: string, patch: unknown, note?: Note): Promise<LiveCarrier>;
  /** Replaces all settings. Secrets that are not given stay, unless they would go to another host; null removes them. */
  replace(name: string, settings: unknown, note?: Note): Promise<LiveCarrier>;
  setPaused(name: string, paused: boolean, note?: Note): Promise<LiveCarrier>;
  /** Makes every node that waits to reconnect try at once. */
  tryNow(name: string, note?: Note): Promise<LiveCarrier>;
  /** New addresses for its provider's callbacks; the old ones are gone. A 409 for a carrier without callbacks. */
  renewCallbacks(name: string, note?: Note): Promise<LiveCarrier>;
  /** A 409 while a route names it, and while texts wait or receipts are awaited unless it is forced. */
  remove(name: string, options: { force: boolean }, note?: Note): Promise<void>;
  /** The settings with their secrets, for a comparison on the machine. Never for an answer. */
  readAll(row: CarrierRow): CarrierSettings;
  /** All problems of a carrier's settings. Stores nothing. */
  check(given: { name: string; kind: string; settings: unknown }): Promise<{
    carrier: CarrierSettings;
    problems: FieldProblem[];
  }>;
}

export interface CarrierServiceOptions {
  database: Database;
  clock: Clock;
  keys: KeyRing;
  environment: Environment;
  publicUrl: string;
  /** Whether receipts of the carrier's texts may still come. */
  hasAwaitedTexts: (tx: Tx, carrier: CarrierRow, nowMs: number) => Promise<boolean>;
  /** Called after a change, before its answer: this node reads the rows at once. */
  onChanged?: () => Promise<void>;
}

/** Maximum retries of a change after concurrent changes. */
const mostTries = 5;

export function createCarrierService(options: CarrierServiceOptions): CarrierService {
  const { database, clock, keys, environment, publicUrl, hasAwaitedTexts, onChanged = async () => {} } = options;

  async function withBinds(rows: CarrierRow[]): Promise<LiveCarrier[]> {
    const ids = rows.map(({ id }) => id);
    const binds = await readBinds(database, ids, clock.nowMs());
    return rows.map((row) =>
      live(
        row,
        binds.filter(({ carrierId }) => carrierId === row.id),
      ),
    );
  }

  async function withOwnBinds(row: CarrierRow): Promise<LiveCarrier> {
    return live(row, await readBinds(database, [row.id], clock.nowMs()));
  }

  function live(row: CarrierRow, binds: CarrierBind[]): LiveCarrier {
    const token = openCallbackToken(keys, row);
    const settings = row.kind === 'http' ? hideSecrets(row.settings) : row.settings;
    return { ...row, settings, binds, callbacks: token === null ? null : callbackUrls(publicUrl, row.name, token) };
  }

  async function requireRow(name: string): Promise<CarrierRow> {
    const row = await findCarrier(database, name);
    if (row === undefined) throw notFound();
    return row;
  }

  /** Every node reads the rows again when the change commits; this one before it answers. */
  async function notifying<Result>(work: (tx: Tx) => Promise<Result>, note?: Note): Promise<Result> {
    const changed = await database.transaction(async (tx) => {
      const result = await work(tx);
      // No row: nothing has changed.
      if (result !== undefined) await note?.(tx, result);
      await notifyCarriers(tx);
      return result;
    });
    await onChanged();
    return changed;
  }

  async function check({ name, kind, settings: given }: { name: string; kind: string; settings: unknown }) {
    const named = [
      { field: 'name', message: nameProblem(name) },
      { field: 'kind', message: kindProblem(kind) },
    ].filter((problem): problem is FieldProblem => problem.message !== undefined);
    // The settings of a kind that we do not know cannot be judged.
    if (named.some(({ field }) => field === 'kind'))
      return { carrier: { kind, settings: given } as CarrierSettings, problems: named };
    const { carrier, problems } = await checkCarrier(kind as CarrierKind, given, environment);
    return { carrier, problems: [...named, ...problems] };
  }

  const readAll = (row: CarrierRow) => openCarrier(keys, row);

  /** Reads, changes and writes; starts again after a concurrent change. */
  async function rewrite(
    name: string,
    given: unknown,
    joined: (given: unknown, before: CarrierSettings) => unknown,
    note?: Note,
  ): Promise<LiveCarrier> {
    for (let tries = 0; tries < mostTries; tries++) {
      const row = await requireRow(name);
      const before = readAll(row);
      const { carrier: after, problems } = await checkCarrier(row.kind, joined(given, before), environment);
      if (problems.length === 0) problems.push(...secretsToGiveAgain(before, given, after));
      if (problems.length > 0) throw validationError(problems);
      const { settings, secrets } = splitCarrier(after);
      const change = {
        id: row.id,
        version: row.version,
        settings,
        secrets: sealSecrets(keys, row.id, secrets),
        isOtherAccount: changesAccount(before, after),
      };
      const written = await notifying((tx) => changeCarrier(tx, change, clock.nowMs()), note);
      if (written !== undefined) return withOwnBinds(written);
    }
    throw new ApiError('INCOMPATIBLE_STATE', 'Others are changing this carrier at the same time. Try again.');
  }

  return {
    check,
    readAll,

    async create(given, note) {
      const { carrier, problems } = await check(given);
      if (problems.length > 0) throw validationError(problems);
      if ((await countCarriers(database)) >= mostCarriers)
        throw new ApiError('INCOMPATIBLE_STATE', `There are ${mostCarriers} carriers, the maximum. Delete one first.`);
      const { settings, secrets } = splitCarrier(carrier);
      try {
        return await notifying(async (tx) => {
          const id = await newCarrierId(tx);
          const sealed = sealSecrets(keys, id, secrets);
          const { kind } = carrier;
          const callback = kind === 'http' ? sealCallbackToken(keys, id, newCallbackToken()) : null;
          const row = { id, name: given.name, kind, settings, secrets: sealed, callback };
          return live(await insertCarrier(tx, row, clock.nowMs()), []);
        }, note);
      } catch (error) {
        if (!violates(error, 'carrier_name')) throw error;
        throw new ApiError('ALREADY_EXISTS', `There is a carrier ${given.name} already.`);
      }
    },

    list: async (limit, beforeId) => withBinds(await listCarriers(database, limit, beforeId)),
    require: async (name) => withOwnBinds(await requireRow(name)),
    change: (name, given, note) => rewrite(name, given, (patch, { settings }) => mergePatch(settings, patch), note),
    replace: (name, given, note) => rewrite(name, given, keepCarrierSecrets, note),

    async setPaused(name, paused, note) {
      const row = await notifying((tx) => pauseCarrier(tx, name, paused, clock.nowMs()), note);
      if (row === undefined) throw notFound();
      return withOwnBinds(row);
    },

    async tryNow(name, note) {
      const row = await notifying((tx) => wantTry(tx, name, clock.nowMs()), note);
      if (row === undefined) throw notFound();
      return withOwnBinds(row);
    },

    async renewCallbacks(name, note) {
      const { id, callback: before } = await requireRow(name);
      if (before === null) throw new ApiError('INCOMPATIBLE_STATE', `The carrier ${name} has no callbacks.`);
      const callback = sealCallbackToken(keys, id, newCallbackToken());
      const row = await notifying((tx) => renewCallback(tx, { id, callback }, clock.nowMs()), note);
      if (row === undefined) throw notFound();
      return withOwnBinds(row);
    },

    async remove(name, { force }, note) {
      const row = await requireRow(name);
      if (!force && (await hasAwaitedTexts(database, row, clock.nowMs()))) throw stillAwaited(name);
      await notifying(async (tx) => {
        await lockRoutes(tx);
        const table = force ? undefined : await readNewestTable(tx);
        if (table !== undefined && namesOf(table).includes(name)) throw stillNamed(name, table.routes);
        await deleteCarrier(tx, row.id, clock.nowMs());
        await deleteBindsOf(tx, row.id);
        return row;
      }, note);
    },
  };
}

function stillNamed(name: string, routes: RouteRule[]): ApiError {
  const rule = routes.find((each) => namesOf({ routes: [each] }).includes(name));
  return new ApiError(
    'INCOMPATIBLE_STATE',
    `The route ${rule?.name} names the carrier ${name}. Take it out of the routes first, or delete it with ?force=true.`,
  );
}

function stillAwaited(name: string): ApiError {
  return new ApiError(
    'INCOMPATIBLE_STATE',
    `The carrier ${name} has texts to send or awaits receipts. Pause it and wait, or delete it with ?force=true.`,
  );
}
