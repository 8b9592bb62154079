// Tests: test/hooks/calls.test.ts
import { validationError } from '../http/request/validation.ts';
import type { Clock } from '../platform/clock.ts';
import type { Database, Note, Tx } from '../platform/database/database.ts';
import { ApiError, notFound } from '../platform/errors.ts';
import { newId } from '../platform/ids.ts';
import type { CallLog } from './calls.ts';
import { type Hook, type HookKind, type HookPointers, type HookSecret, mostHooks, mostSecrets } from './hook.ts';
import type { HookIds } from './hook-id.ts';
import { kindRules, type PastedSetting } from './kinds.ts';
import { pointerProblems } from './payload.ts';
import type { HookSecrets } from './secret.ts';
import * as store from './store.ts';

export interface NewHook {
  kind: HookKind;
  /** The signing key of a server that makes its own. */
  secret: string | undefined;
  from: string | null;
  locale: string | null;
  pointers: HookPointers | null;
}

export interface HookChange {
  from?: string | null | undefined;
  locale?: string | null | undefined;
  pointers?: HookPointers | null | undefined;
}

export interface HookDetail extends Hook {
  url: string;
  settings: PastedSetting[];
  secrets: HookSecret[];
}

export interface HookServiceOptions {
  database: Database;
  clock: Clock;
  secrets: HookSecrets;
  ids: HookIds;
  calls: Pick<CallLog, 'list'>;
  publicUrl: string;
  /** Changes the account's application; after it resolves no node acts on the old state. */
  change: <Result>(
    accountId: string,
    applicationId: string,
    work: (tx: Tx) => Promise<Result>,
    note?: Note<Result>,
  ) => Promise<Result>;
  requireOwn: (accountId: string, applicationId: string) => Promise<unknown>;
}

/** The application of an account. */
export interface Owned {
  accountId: string;
  applicationId: string;
}

export type HookService = ReturnType<typeof createHookService>;

/** The hooks of applications; one of another account is a 404. */
export function createHookService(options: HookServiceOptions) {
  const { database, clock, secrets, ids, calls, publicUrl, change, requireOwn } = options;

  async function require(tx: Tx, applicationId: string, id: string): Promise<Hook> {
    const found = ids.isPlausible(id) ? await store.findHook(tx, id) : undefined;
    if (found?.applicationId !== applicationId) throw notFound();
    return found;
  }

  function detail(hook: Hook, of: HookSecret[], shown: string | null = null): HookDetail {
    const url = `${publicUrl}/hooks/v1/${hook.kind}/${hook.id}`;
    return { ...hook, url, settings: kindRules[hook.kind].settings(url, shown), secrets: of };
  }

  async function addSecret(tx: Tx, { id: hookId, kind }: Hook, given: string | undefined) {
    const made = secrets.create(hookId, kind, given);
    const row: HookSecret = { id: newId('sec', clock), createdAtMs: clock.nowMs(), endsAtMs: null };
    await store.insertSecret(tx, hookId, { ...made, ...row });
    return { ...row, shown: made.shown };
  }

  return {
    create({ accountId, applicationId }: Owned, given: NewHook, note?: Note<{ id: string }>) {
      const nowMs = clock.nowMs();
      const { kind, from, locale, pointers } = given;
      return change(
        accountId,
        applicationId,
        async (tx) => {
          const others = await store.listHooks(tx, applicationId, mostHooks);
          if (others.length >= mostHooks) throw tooMany(`The application has ${mostHooks} hooks, the maximum.`);
          const hook = {
            id: ids.create(),
            applicationId,
            kind,
            from,
            locale,
            pointers,
            createdAtMs: nowMs,
            updatedAtMs: nowMs,
          };
          await store.insertHook(tx, hook);
          const { shown, ...secret } = await addSecret(tx, hook, given.secret);
          return { ...detail(hook, [secret], shown), secret: shown };
        },
        note,
      );
    },

    async list({ accountId, applicationId }: Owned): Promise<Hook[]> {
      await requireOwn(accountId, applicationId);
      return store.listHooks(database, applicationId, mostHooks);
    },

    async read({ accountId, applicationId }: Owned, id: string): Promise<HookDetail> {
      await requireOwn(accountId, applicationId);
      const hook = await require(database, applicationId, id);
      return detail(hook, await store.listSecrets(database, id, clock.nowMs()));
    },

    change({ accountId, applicationId }: Owned, id: string, given: HookChange, note?: Note): Promise<HookDetail> {
      return change(
        accountId,
        applicationId,
        async (tx) => {
          const before = await require(tx, applicationId, id);
          const { from = before.from, locale = before.locale, pointers = before.pointers } = given;
          const after = { ...before, from, locale, pointers, updatedAtMs: clock.nowMs() };
          const problems = pointerProblems(after);
          if (problems.length > 0) throw validationError(problems);
          await store.updateHook(tx, after);
          return detail(after, await store.listSecrets(tx, id, clock.nowMs()));
        },
        note,
      );
    },

    remove({ accountId, applicationId }: Owned, id: string, note?: Note): Promise<void> {
      return change(
        accountId,
        applicationId,
        async (tx) => {
          await require(tx, applicationId, id);
          await store.deleteHook(tx, applicationId, id);
        },
        note,
      );
    },

    /** Older secrets prove calls too until the overlap ends. */
    rotateSecret(
      { accountId, applicationId }: Owned,
      id: string,
      { overlapSeconds, secret }: { overlapSeconds: number; secret: string | undefined },
      note?: Note,
    ) {
      return change(
        accountId,
        applicationId,
        async (tx) => {
          const hook = await require(tx, applicationId, id);
          const nowMs = clock.nowMs();
          await store.endSecrets(tx, id, nowMs + overlapSeconds * 1000, nowMs);
          const others = await store.listSecrets(tx, id, nowMs);
          if (others.length >= mostSecrets) throw tooMany(`The hook has ${mostSecrets} secrets in force, the maximum.`);
          const { shown, ...row } = await addSecret(tx, hook, secret);
          const { settings } = detail(hook, [], shown);
          return { ...row, kind: hook.kind, secret: shown, settings };
        },
        note,
      );
    },

    async listCalls(owned: Owned, id: string) {
      await requireOwn(owned.accountId, owned.applicationId);
      await require(database, owned.applicationId, id);
      return calls.list(id);
    },

    async require({ accountId, applicationId }: Owned, id: string): Promise<Hook> {
      await requireOwn(accountId, applicationId);
      return require(database, applicationId, id);
    },
  };
}

function tooMany(message: string): ApiError {
  return new ApiError('INCOMPATIBLE_STATE', `${message} Delete one first.`);
}
