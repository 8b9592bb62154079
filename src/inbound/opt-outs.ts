import type { PageRequest } from '../http/list-page.ts';
import type { Message } from '../messages/message.ts';
import type { OptOutCheck } from '../messages/opt-out-check.ts';
import { type Clock, minuteMs } from '../platform/clock.ts';
import type { Database, Tx } from '../platform/database.ts';
import { ApiError, notFound } from '../platform/errors.ts';
import { fromUuid, uuidOf } from '../platform/ids.ts';
import type { KeyRing } from '../platform/keys.ts';
import {
  applicationScope,
  createNumberHashes,
  type OptOut,
  type OptOutSource,
  type Scope,
  senderScope,
} from './opt-out.ts';
import { type AskedText, addOptOuts, endOptOuts, findUnwanted, listOptOuts, lockNumbers } from './opt-out-store.ts';

/** What of a text decides whether it is wanted. */
export type TextToCheck = Pick<Message, 'id' | 'applicationId' | 'api' | 'to' | 'sender' | 'sentAs'>;

export type OptOuts = ReturnType<typeof createOptOuts>;

export interface OptOutsOptions {
  database: Database;
  clock: Clock;
  keys: KeyRing;
  /** Whether texts of verifications are kept from people who opted out too. */
  verifications: boolean;
}

/** Who does not want texts of a sender, or of an application. */
export function createOptOuts({ database, clock, keys, verifications }: OptOutsOptions) {
  const hashes = createNumberHashes(keys);
  const hashed = (number: string) => ({ newest: hashes.newest(number), all: hashes.all(number) });

  /** The ids of the texts that must not leave. */
  async function find(tx: Tx, texts: readonly TextToCheck[]): Promise<Set<string>> {
    const asked = texts
      .filter(({ api }) => verifications || api !== 'verify')
      .flatMap((text) =>
        hashes.all(text.to).map((hash): AskedText => {
          const sender = senderScope(text.sentAs ?? text.sender).subject;
          return { id: uuidOf(text.id), hash, sender, application: text.applicationId };
        }),
      );
    if (asked.length === 0) return new Set();
    return new Set((await findUnwanted(tx, asked)).map((id) => fromUuid('msg', id)));
  }

  /** Until then (steady time) this node looks at each text. */
  let someUntilMs = Number.NEGATIVE_INFINITY;
  const check: OptOutCheck = {
    none: () => clock.steadyMs() >= someUntilMs,
    noteSome() {
      someUntilMs = clock.steadyMs() + minuteMs;
    },
    find,
  };

  return {
    check,
    find,

    /** For a transaction with `stop` and `start`: it names all their numbers first. */
    lock: lockNumbers,

    /** A person's own word. Returns whether it changed anything. */
    async stop(tx: Tx, number: string, scopes: Scope[], word: string): Promise<boolean> {
      return (await addOptOuts(tx, { number, hashed: hashed(number), scopes, source: 'mo', word }, clock)) > 0;
    },

    async start(tx: Tx, number: string, scopes: Scope[], word: string): Promise<boolean> {
      return (await endOptOuts(tx, { hashed: hashed(number), scopes, source: 'mo', word }, clock)) > 0;
    },

    /** A carrier has refused texts because the person does not want them. */
    async learn(tx: Tx, refused: { number: string; sender: string }[]): Promise<void> {
      await lockNumbers(
        tx,
        refused.map(({ number }) => number),
      );
      for (const { number, sender } of refused) {
        const scopes = [senderScope(sender)];
        await addOptOuts(tx, { number, hashed: hashed(number), scopes, source: 'carrier', word: null }, clock);
      }
    },

    /** The application says that this person wants no texts of it. */
    put: (applicationId: string, number: string): Promise<OptOut> =>
      database.transaction(async (tx) => {
        await lockNumbers(tx, [number]);
        const scope = applicationScope(applicationId);
        const source: OptOutSource = 'api';
        await addOptOuts(tx, { number, hashed: hashed(number), scopes: [scope], source, word: null }, clock);
        const page = { limit: 1, after: undefined };
        const [optOut] = await listOptOuts(tx, { scope, hashes: hashes.all(number) }, page);
        if (optOut === undefined) throw new Error('an opt-out was not written');
        return { ...optOut, number };
      }),

    /** Undoes what the application has said itself. */
    remove: (applicationId: string, number: string): Promise<void> =>
      database.transaction(async (tx) => {
        await lockNumbers(tx, [number]);
        const scopes = [applicationScope(applicationId)];
        const given = hashed(number);
        const ended = await endOptOuts(tx, { hashed: given, scopes, only: 'api', source: 'api', word: null }, clock);
        if (ended > 0) return;
        const filter = { scope: applicationScope(applicationId), hashes: given.all };
        const [left] = await listOptOuts(tx, filter, { limit: 1, after: undefined });
        throw left === undefined ? notFound() : notYours();
      }),

    /** An operator opts a number in everywhere. */
    removeAll: (number: string, reason: string, accountId: string): Promise<void> =>
      database.transaction(async (tx) => {
        await lockNumbers(tx, [number]);
        const about = { source: 'operator', word: null, reason, accountId } as const;
        const ended = await endOptOuts(tx, { hashed: hashed(number), scopes: null, ...about }, clock);
        if (ended === 0) throw notFound();
      }),

    list: (filter: { scope?: Scope; number?: string | undefined }, page: PageRequest): Promise<OptOut[]> => {
      const { scope, number } = filter;
      return listOptOuts(database, { scope, hashes: number === undefined ? undefined : hashes.all(number) }, page);
    },

    hashes,
  };
}

function notYours(): ApiError {
  return new ApiError(
    'INCOMPATIBLE_STATE',
    'The person has opted out by a text or at the carrier. Only that person, by a start word, or an operator can undo it.',
  );
}
