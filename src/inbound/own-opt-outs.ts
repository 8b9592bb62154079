import { type Batch, createBatch } from '../platform/batch.ts';
import type { Clock } from '../platform/clock.ts';
import type { Database, Tx } from '../platform/database.ts';
import { ApiError, notFound } from '../platform/errors.ts';
import { applicationScope, type OptOut, type Told } from './opt-out.ts';
import {
  addOptOuts,
  endOptOuts,
  type HashedNumber,
  listOptOuts,
  lockNumbers,
  type NewOptOut,
} from './opt-out-store.ts';

/** What an application says about a person itself. */
export interface OwnOptOut {
  act: 'put' | 'remove';
  told: Told;
  number: string;
}

/** What the application is told of an opt-out that is there. */
export type ToldOptOut = Pick<OptOut, 'number' | 'source' | 'word' | 'createdAtMs'>;

/** Few, because their numbers are locked until the commit. */
const mostAtOnce = 50;
const first = { limit: 1, after: undefined };

/** Puts and removes applications' own opt-outs, one after the other in a commit. Null for a removed one. */
export function createOwnOptOuts(options: {
  database: Database;
  clock: Clock;
  hashed: (number: string) => HashedNumber;
}): Batch<OwnOptOut, ToldOptOut | ApiError | null> {
  const { database, clock, hashed } = options;

  /** A new one is as it was written; one that was there is read. */
  async function put(tx: Tx, told: Told, number: string): Promise<ToldOptOut> {
    const scope = applicationScope(told.applicationId);
    const [given, nowMs] = [hashed(number), clock.nowMs()];
    const scopes = [{ ...scope, told }];
    const added: NewOptOut = { number, hashed: given, scopes, source: 'api', word: null };
    const changed = await addOptOuts(tx, added, { ...clock, nowMs: () => nowMs });
    if (changed > 0) return { number, source: 'api', word: null, createdAtMs: nowMs };
    const [optOut] = await listOptOuts(tx, { scope, hashes: given.all }, first);
    if (optOut === undefined) throw new Error('an opt-out was not written');
    return { ...optOut, number };
  }

  /** Undoes what the application has said itself. */
  async function remove(tx: Tx, { applicationId, api }: Told, number: string): Promise<ApiError | null> {
    const scope = applicationScope(applicationId);
    const given = hashed(number);
    const about = { number, hashed: given, scopes: [scope], apiOf: () => api };
    const ended = await endOptOuts(tx, { ...about, only: 'api', source: 'api', word: null }, clock);
    if (ended > 0) return null;
    const [left] = await listOptOuts(tx, { scope, hashes: given.all }, first);
    return left === undefined ? notFound() : notYours();
  }

  return createBatch<OwnOptOut, ToldOptOut | ApiError | null>({
    database,
    clock,
    repeatable: false,
    repeats: true,
    ownerOf: ({ told }) => told.applicationId,
    keysOf: ({ told, number }) => [`${told.applicationId} ${number}`],
    limits: { perBatch: mostAtOnce },
    async run(tx, items) {
      await lockNumbers(
        tx,
        items.map(({ number }) => number),
      );
      const results: (ToldOptOut | ApiError | null)[] = [];
      for (const { act, told, number } of items)
        results.push(await (act === 'put' ? put(tx, told, number) : remove(tx, told, number)));
      return results;
    },
  });
}

function notYours(): ApiError {
  return new ApiError(
    'INCOMPATIBLE_STATE',
    'The person has opted out by a text or at the carrier. Only that person, by a start word, or an operator can undo it.',
  );
}
