import type { Clock } from '../platform/clock.ts';
import { type Batch, createBatch } from '../platform/database/batch.ts';
import type { Database, Tx } from '../platform/database/database.ts';
import { ApiError, notFound } from '../platform/errors.ts';
import { applicationScope, type Notified } from './opt-out.ts';
import { endOptOuts, type HashedNumber, listOptOuts, lockNumbers } from './opt-out-store.ts';
import { type PutOptOut, putOwnOptOuts, type ShownOptOut } from './own-opt-out-store.ts';

/** An opt-out that an application puts or removes itself. */
export interface OwnOptOut {
  act: 'put' | 'remove';
  notified: Notified;
  number: string;
}

/** A small maximum, because the numbers are locked until the commit. */
const mostAtOnce = 50;
const first = { limit: 1, after: undefined };

/** Puts and removes applications' own opt-outs, in the order of the requests. Null for a removed one. */
export function createOwnOptOuts(options: {
  database: Database;
  clock: Clock;
  hashed: (number: string) => HashedNumber;
}): Batch<OwnOptOut, ShownOptOut | ApiError | null> {
  const { database, clock, hashed } = options;

  /** Removes the application's own opt-out. */
  async function remove(tx: Tx, { applicationId, api }: Notified, number: string): Promise<ApiError | null> {
    const scope = applicationScope(applicationId);
    const given = hashed(number);
    const about = { number, hashed: given, scopes: [scope], apiOf: () => api };
    const ended = await endOptOuts(tx, { ...about, only: 'api', source: 'api', word: null }, clock);
    if (ended > 0) return null;
    const [left] = await listOptOuts(tx, { scope, hashes: given.all }, first);
    return left === undefined ? notFound() : notYours();
  }

  const withHashes = ({ notified, number }: OwnOptOut): PutOptOut => ({ notified, number, hashed: hashed(number) });

  /** A second put of the same opt-out returns the first one. */
  async function putAll(tx: Tx, puts: readonly OwnOptOut[]): Promise<ShownOptOut[]> {
    const distinct = [...new Map(puts.map((put) => [keyOf(put), put])).values()];
    const there = await putOwnOptOuts(tx, distinct.map(withHashes), clock);
    const byKey = new Map(distinct.map((put, index) => [keyOf(put), there[index]]));
    return puts.flatMap((put) => byKey.get(keyOf(put)) ?? []);
  }

  return createBatch<OwnOptOut, ShownOptOut | ApiError | null>({
    database,
    clock,
    repeatable: false,
    repeats: true,
    ownerOf: ({ notified }) => notified.applicationId,
    keysOf: (item) => [keyOf(item)],
    limits: { perBatch: mostAtOnce },
    async run(tx, items) {
      await lockNumbers(
        tx,
        items.map(({ number }) => number),
      );
      const results: (ShownOptOut | ApiError | null)[] = [];
      for (const { puts, removal } of inOrder(items)) {
        if (puts.length > 0) results.push(...(await putAll(tx, puts)));
        if (removal !== undefined) results.push(await remove(tx, removal.notified, removal.number));
      }
      return results;
    },
  });
}

const keyOf = ({ notified, number }: OwnOptOut) => `${notified.applicationId} ${number}`;

/** Puts that follow each other are one statement, up to the next removal. */
function inOrder(items: readonly OwnOptOut[]): { puts: OwnOptOut[]; removal?: OwnOptOut }[] {
  const runs: { puts: OwnOptOut[]; removal?: OwnOptOut }[] = [];
  for (const item of items) {
    let run = runs.at(-1);
    if (run === undefined || run.removal !== undefined) {
      run = { puts: [] };
      runs.push(run);
    }
    if (item.act === 'remove') run.removal = item;
    else run.puts.push(item);
  }
  return runs;
}

function notYours(): ApiError {
  return new ApiError(
    'INCOMPATIBLE_STATE',
    'The person has opted out by a text or at the carrier. Only that person, by a start word, or an operator can undo it.',
  );
}
