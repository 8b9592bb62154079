import type { PageRequest } from '../http/list-page.ts';
import type { Message } from '../messages/message.ts';
import type { OptOutCheck } from '../messages/opt-out-check.ts';
import { type Clock, minuteMs } from '../platform/clock.ts';
import type { KeyRing } from '../platform/crypto/keys.ts';
import type { Database, Note, Tx } from '../platform/database/database.ts';
import { ApiError, notFound } from '../platform/errors.ts';
import { fromUuid, uuidOf } from '../platform/ids.ts';
import {
  applicationScope,
  createNumberHashes,
  type OptOut,
  type Scope,
  senderScope,
  type Told,
  type ToldScope,
} from './opt-out.ts';
import { type AskedText, addOptOuts, endOptOuts, findUnwanted, listOptOuts, lockNumbers } from './opt-out-store.ts';
import type { ToldOptOut } from './own-opt-out-store.ts';
import { createOwnOptOuts } from './own-opt-outs.ts';

/** What of a text decides whether it is wanted. */
export type TextToCheck = Pick<Message, 'id' | 'applicationId' | 'api' | 'to' | 'sender' | 'sentAs'>;

/** A text that a carrier refused because its recipient does not want it. */
export interface RefusedText {
  number: string;
  /** What it was sent from. */
  sender: string;
  /** The application that sent it. */
  told: Told;
}

export type OptOuts = ReturnType<typeof createOptOuts>;

export interface OptOutsOptions {
  database: Database;
  /** For what applications put and remove; defaults to `database`. */
  mainDatabase?: Database;
  clock: Clock;
  keys: KeyRing;
  /** Whether texts of verifications are kept from people who opted out too. */
  verifications: boolean;
}

/** Who does not want texts of a sender, or of an application. */
export function createOptOuts(options: OptOutsOptions) {
  const { database, mainDatabase = database, clock, keys, verifications } = options;
  const hashes = createNumberHashes(keys);
  const hashed = (number: string) => ({ newest: hashes.newest(number), all: hashes.all(number) });

  const own = createOwnOptOuts({ database: mainDatabase, clock, hashed });

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
    async stop(tx: Tx, number: string, scopes: ToldScope[], word: string): Promise<boolean> {
      return (await addOptOuts(tx, { number, hashed: hashed(number), scopes, source: 'mo', word }, clock)) > 0;
    },

    async start(tx: Tx, number: string, scopes: ToldScope[], word: string): Promise<boolean> {
      const told = scopes.flatMap((scope) => scope.told ?? []);
      const apiOf = (id: string) => (told.find(({ applicationId }) => applicationId === id) ?? told[0])?.api ?? 'sms';
      const about = { number, hashed: hashed(number), scopes, apiOf };
      return (await endOptOuts(tx, { ...about, source: 'mo', word }, clock)) > 0;
    },

    /** A carrier has refused texts because the person does not want them. */
    async learn(tx: Tx, refused: RefusedText[]): Promise<void> {
      await lockNumbers(
        tx,
        refused.map(({ number }) => number),
      );
      for (const { number, sender, told } of refused) {
        // An application that the person has left already has been told.
        const filter = { scope: applicationScope(told.applicationId), hashes: hashes.all(number) };
        const known = await listOptOuts(tx, filter, { limit: 1, after: undefined });
        const scopes = [{ ...senderScope(sender), told: known.length === 0 ? told : null }];
        await addOptOuts(tx, { number, hashed: hashed(number), scopes, source: 'carrier', word: null }, clock);
      }
    },

    /** The application says that this person wants no texts of it. */
    async put(told: Told, number: string): Promise<ToldOptOut> {
      const optOut = await own.submit({ act: 'put', told, number });
      if (optOut === null || optOut instanceof ApiError) throw optOut ?? new Error('an opt-out was not written');
      return optOut;
    },

    /** Undoes what the application has said itself. */
    async remove(told: Told, number: string): Promise<void> {
      const refusal = await own.submit({ act: 'remove', told, number });
      if (refusal instanceof ApiError) throw refusal;
    },

    /** An operator opts a number in everywhere. */
    removeAll: (number: string, reason: string, accountId: string, note?: Note): Promise<void> =>
      database.transaction(async (tx) => {
        await lockNumbers(tx, [number]);
        const about = { source: 'operator', word: null, reason, accountId } as const;
        const given = { number, hashed: hashed(number), scopes: null, apiOf: () => 'sms' as const };
        const ended = await endOptOuts(tx, { ...given, ...about }, clock);
        if (ended === 0) throw notFound();
        await note?.(tx, ended);
      }),

    list: (filter: { scope?: Scope; number?: string | undefined }, page: PageRequest): Promise<OptOut[]> => {
      const { scope, number } = filter;
      return listOptOuts(database, { scope, hashes: number === undefined ? undefined : hashes.all(number) }, page);
    },

    drain: own.drain,

    hashes,
  };
}
