// Tests: test/contract/portal-opt-outs.test.ts

import { carrierNameOf } from '../messages/message.ts';
import type { Tx } from '../platform/database/database.ts';
import type { Inbound } from './inbound.ts';
import { holderOf } from './own-number.ts';
import { findNumbers } from './own-number-store.ts';
import { type WordKind, wordOf } from './words.ts';

/** The kind of keyword that each text is, by id. A text that is none, or that is incomplete or erased, is left out. */
export async function findKeywordKinds(tx: Tx, texts: readonly Inbound[]): Promise<Map<string, WordKind>> {
  const candidates = texts.filter(({ body, partial }) => body !== null && !partial && wordOf(body) !== undefined);
  if (candidates.length === 0) return new Map();
  const numbers = await findNumbers(tx, [...new Set(candidates.map(({ to }) => to))]);
  return new Map(
    candidates.flatMap(({ id, to, body, carrier }): [string, WordKind][] => {
      const text = body ?? '';
      const holder = holderOf(numbers, { to, text, carrier: carrierNameOf(carrier) });
      const word = wordOf(text, holder?.ignoredWords);
      return word === undefined ? [] : [[id, word.kind]];
    }),
  );
}
