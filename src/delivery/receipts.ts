import { type Clock, hourMs } from '../platform/clock.ts';
import type { Database, Tx } from '../platform/database.ts';
import { sqlStateOf } from '../platform/database-errors.ts';
import { toUuid } from '../platform/ids.ts';
import { readCarrierId } from './attempt-result.ts';
import type { Receipt } from './carrier.ts';
import { applyToSent, applyToUnsent, findByCarrierIds, type MatchedReceipt } from './receipt-store.ts';
import * as store from './unmatched-receipt-store.ts';

const unmatchedKeptMs = 72 * hourMs;
const collisionTries = 5;

/**
 * Records carriers' receipts. States never go backwards, so late, repeated or out-of-order receipts change nothing. An
 * unmatched receipt may have come before the carrier's answer was recorded: it is kept and tried again.
 */
export interface Receipts {
  apply(carrier: string, receipts: Receipt[]): Promise<void>;
  /** Retries unmatched receipts that are due and deletes those older than 72 hours. Returns how many it tried. */
  rematch(): Promise<number>;
}

export function createReceipts(database: Database, clock: Clock): Receipts {
  /** Returns the receipts that match no message. */
  async function apply<Given extends Receipt>(tx: Tx, carrier: string, receipts: Given[]): Promise<Given[]> {
    const named = receipts.flatMap((receipt) => {
      const id = receipt.messageId === null ? undefined : toUuid('msg', receipt.messageId);
      return id === undefined ? [] : [{ receipt, id }];
    });
    const applied = new Set(await applyMatched(tx, carrier, named));
    const others = receipts.filter((receipt) => !applied.has(receipt));
    const keys = [...new Set(others.map(({ carrierMessageId }) => carrierMessageId))];
    const found = await findByCarrierIds(tx, carrier, keys);
    const matched = others.flatMap((receipt) =>
      (found.get(receipt.carrierMessageId) ?? []).map((id) => ({ receipt, id })),
    );
    for (const receipt of await applyMatched(tx, carrier, matched)) applied.add(receipt);
    return receipts.filter((receipt) => !applied.has(receipt));
  }

  /** Returns the receipts whose message is known, whether or not they changed it. */
  async function applyMatched(tx: Tx, carrier: string, matched: MatchedReceipt[]): Promise<Receipt[]> {
    const known: Receipt[] = [];
    for (const round of inRounds(matched)) {
      const found = await applyToSent(tx, carrier, round, clock.nowMs());
      known.push(...round.filter(({ id }) => found.get(id)?.unsent === false).map(({ receipt }) => receipt));
      const early = round.filter(({ id }) => found.get(id)?.unsent === true);
      if (early.length === 0) continue;
      // A text that a worker takes or records at this moment is in none of the tables: its receipt is tried again.
      const waiting = await applyToUnsent(tx, carrier, early, clock.nowMs());
      known.push(...early.filter(({ id }) => waiting.has(id)).map(({ receipt }) => receipt));
    }
    return known;
  }

  /** Retries on deadlock: results and receipts for the same messages may be written at the same time. */
  async function transaction<Result>(work: (tx: Tx) => Promise<Result>): Promise<Result> {
    for (let tries = 1; ; tries++) {
      try {
        return await database.transaction(work);
      } catch (error) {
        if (tries === collisionTries || !/^40/.test(sqlStateOf(error) ?? '')) throw error;
      }
    }
  }

  return {
    async apply(carrier, receipts) {
      const readable = withoutRepeats(receipts.map(readReceipt));
      await transaction(async (tx) => {
        const unmatched = await apply(tx, carrier, readable);
        if (unmatched.length > 0) await store.insertUnmatched(tx, carrier, unmatched, clock.nowMs());
      });
    },

    async rematch() {
      // Most looks find nothing, and need no transaction.
      if (!(await store.isAnyDue(database, clock.nowMs()))) return 0;
      return transaction(async (tx) => {
        const nowMs = clock.nowMs();
        const due = await store.lockDue(tx, nowMs);
        const left: store.UnmatchedReceipt[] = [];
        for (const carrier of new Set(due.map((row) => row.carrier))) {
          const receipts = due.filter((row) => row.carrier === carrier);
          left.push(...(await apply(tx, carrier, receipts)));
        }
        const kept = new Set(left.filter(({ receivedAtMs }) => receivedAtMs >= nowMs - unmatchedKeptMs));
        await store.postpone(tx, [...kept], nowMs);
        await store.deleteUnmatched(
          tx,
          due.filter((row) => !kept.has(row)),
        );
        return due.length;
      });
    },
  };
}

/** Makes a carrier's data storable, so that one bad receipt does not fail the whole batch. */
function readReceipt(receipt: Receipt): Receipt {
  return { ...receipt, carrierMessageId: readCarrierId(receipt.carrierMessageId) };
}

function withoutRepeats(receipts: Receipt[]): Receipt[] {
  const seen = new Map<string, Receipt>();
  for (const receipt of receipts) {
    const what = JSON.stringify([receipt.outcome, receipt.carrierMessageId, receipt.messageId]);
    if (!seen.has(what)) seen.set(what, receipt);
  }
  return [...seen.values()];
}

/**
 * One statement cannot order several receipts for one message, so each round has one per message, in order of arrival.
 * Rounds are sorted, so that two nodes lock rows in the same order. Usually there is one round.
 */
function inRounds(matched: MatchedReceipt[]): MatchedReceipt[][] {
  const perMessage = new Map<string, MatchedReceipt[]>();
  for (const each of matched) perMessage.set(each.id, [...(perMessage.get(each.id) ?? []), each]);
  const sorted = [...perMessage.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, each]) => each);
  const rounds = Math.max(0, ...sorted.map((each) => each.length));
  return Array.from({ length: rounds }, (_, round) => sorted.flatMap((each) => each[round] ?? []));
}
