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
  type Notified,
  type NotifiedScope,
  type OptOut,
  type Scope,
  senderScope,
} from './opt-out.ts';
import { type AskedText, addOptOuts, endOptOuts, findUnwanted, listOptOuts, lockNumbers } from './opt-out-store.ts';
import type { ShownOptOut } from './own-opt-out-store.ts';
import { createOwnOptOuts } from './own-opt-outs.ts';

/** The fields of a text that decide whether it is wanted. */
export type TextToCheck = Pick<Message, 'id' | 'applicationId' | 'api' | 'to' | 'sender' | 'sentAs'>;

/** A text that a carrier refused because its recipient does not want it. */
export interface RefusedText {
  number: string;
  /** The sender of the text. */
  sender: string;
  /** The application that sent it. */
  notified: Notified;
}

export type OptOuts = ReturnType<typeof createOptOuts>;

export interface OptOutsOptions {
  database: Database;
  /** For the opt-outs that applications put and remove; defaults to `database`. */
  mainDatabase?: Database;
  clock: Clock;
  keys: KeyRing;
  /** Whether texts of verifications are kept from people who opted out too. */
  verifications: boolean;
}

/** The opt-outs from senders and applications. */
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

  /** Until then (steady time) opt-outs exist, as far as this node knows, and it checks each text. */
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

    /** Call this first in a transaction with `stop` or `start`, with all numbers of that transaction. */
    lock: lockNumbers,

    /** The person has texted a stop word. Returns whether that changed anything. */
    async stop(tx: Tx, number: string, scopes: NotifiedScope[], word: string): Promise<boolean> {
      return (await addOptOuts(tx, { number, hashed: hashed(number), scopes, source: 'mo', word }, clock)) > 0;
    },

    async start(tx: Tx, number: string, scopes: NotifiedScope[], word: string): Promise<boolean> {
      const notified = scopes.flatMap((scope) => scope.notified ?? []);
      const apiOf = (id: string) =>
        (notified.find(({ applicationId }) => applicationId === id) ?? notified[0])?.api ?? 'sms';
      const about = { number, hashed: hashed(number), scopes, apiOf };
      return (await endOptOuts(tx, { ...about, source: 'mo', word }, clock)) > 0;
    },

    /** A carrier has refused texts because the person does not want them. */
    async learn(tx: Tx, refused: RefusedText[]): Promise<void> {
      await lockNumbers(
        tx,
        refused.map(({ number }) => number),
      );
      for (const { number, sender, notified } of refused) {
        // An application that the person has opted out of was notified already.
        const filter = { scope: applicationScope(notified.applicationId), hashes: hashes.all(number) };
        const known = await listOptOuts(tx, filter, { limit: 1, after: undefined });
        const scopes = [{ ...senderScope(sender), notified: known.length === 0 ? notified : null }];
        await addOptOuts(tx, { number, hashed: hashed(number), scopes, source: 'carrier', word: null }, clock);
      }
    },

    /** Writes the application's own opt-out of a person. */
    async put(notified: Notified, number: string): Promise<ShownOptOut> {
      const optOut = await own.submit({ act: 'put', notified, number });
      if (optOut === null || optOut instanceof ApiError) throw optOut ?? new Error('an opt-out was not written');
      return optOut;
    },

    /** Removes the application's own opt-out. */
    async remove(notified: Notified, number: string): Promise<void> {
      const refusal = await own.submit({ act: 'remove', notified, number });
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
