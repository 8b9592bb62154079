import { type Clock, hourMs } from '../../platform/clock.ts';
import type { Database, Tx } from '../../platform/database/database.ts';
import { retryCollisions } from '../../platform/database/retry-collisions.ts';
import type { ReadReceipt, Receipt } from '../carrier/carrier.ts';
import { readCarrierId } from '../carrier/id.ts';
import { readCarrierWords } from '../carrier/words.ts';
import { type AppliedReceipts, createReceiptApplier, type ReceiptSource } from './apply.ts';
import type { ChangedText } from './changed-text.ts';
import type { CodeResendOptions } from './code-resends.ts';
import { createUnmatchedCap, type UnmatchedCapOptions } from './unmatched-cap.ts';
import * as store from './unmatched-store.ts';

const unmatchedKeptMs = 72 * hourMs;
const mostKeys = 8;
const mostNumbers = 2;
const longestNumber = 15;

/**
 * Records carriers' receipts. States never go backwards, so late, repeated or out-of-order receipts change nothing. An
 * unmatched receipt may have come before the carrier's answer was recorded: it is kept and tried again.
 */
export interface Receipts {
  apply(source: ReceiptSource, receipts: Receipt[]): Promise<void>;
  /** Retries unmatched receipts that are due and deletes those older than 72 hours. Returns how many it tried. */
  rematch(): Promise<number>;
}

export interface ReceiptsOptions {
  database: Database;
  clock: Clock;
  onCount?: (carrier: string, name: ReceiptCount, by: number) => void;
  /** The keys that may match a receipt's text now: an operator may have changed how an account's ids are read. */
  keysOf?: (account: string, carrierMessageId: string) => string[] | undefined;
  /** Called once for each text (uuid) that a receipt has made delivered, before the commit. */
  onDelivered?: (tx: Tx, source: ReceiptSource, ids: string[]) => Promise<void>;
  /** Counts the texts that receipts have changed, after the commit. */
  onChanged?: ((carrier: string, texts: readonly ChangedText[]) => void) | undefined;
  /** Ends the spans of sampled texts whose receipts were applied, from `sinceMs` on (steady). */
  onTraced?: ((carrier: string, texts: readonly ChangedText[], sinceMs: number) => void) | undefined;
  /** Resends undelivered codes; undefined if they are not resent. */
  resend?: CodeResendOptions | undefined;
  /** Called after the commit with the texts that the carrier reports as unwanted by their recipients. */
  onUnwanted?: ((texts: readonly ChangedText[]) => void) | undefined;
  log?: UnmatchedCapOptions['log'];
  /** Maximum number of unmatched receipts of an account. */
  unmatched?: Pick<UnmatchedCapOptions, 'most' | 'checkEvery'>;
}

/**
 * `ambiguous` receipts match several texts, and are applied to none; `dropped` ones match no text, and exceeded the
 * maximum.
 */
export type ReceiptCount = 'received' | 'unmatched' | 'ambiguous' | 'dropped';

export function createReceipts({
  database,
  clock,
  onCount = () => {},
  keysOf = () => undefined,
  onDelivered = async () => {},
  onChanged = () => {},
  onTraced,
  resend,
  onUnwanted = () => {},
  log,
  unmatched,
}: ReceiptsOptions): Receipts {
  const cap = createUnmatchedCap({ database, log, ...unmatched });
  const onAmbiguous = (carrier: string, by: number) => count(carrier, 'ambiguous', by);
  const applyAll = createReceiptApplier({ clock, onAmbiguous, onDelivered, resend });

  function count(carrier: string, name: ReceiptCount, by: number): void {
    if (by > 0) onCount(carrier, name, by);
  }

  function reportChanged(works: AppliedReceipts[], sinceMs: number): void {
    const resentTo = works.flatMap((work) => work.resent.map(({ carrier }) => carrier));
    if (resentTo.length > 0) resend?.onMoved(resentTo);
    for (const { source, changed, resent, unwanted } of works) {
      if (changed.length + resent.length > 0)
        onChanged(source.key, [...changed, ...resent.map((code) => code.changed)]);
      onTraced?.(source.key, changed, sinceMs);
      if (unwanted.length > 0) onUnwanted(unwanted);
    }
  }

  /** Retries on deadlock: results and receipts for the same messages may be written at the same time. */
  function transaction<Result>(work: (tx: Tx) => Promise<Result>): Promise<Result> {
    return retryCollisions(() => database.transaction(work));
  }

  return {
    async apply(source, receipts) {
      const sinceMs = clock.steadyMs();
      const readable = withoutRepeats(receipts.map(readReceipt));
      // A text of a carrier without receipts waits for none.
      const isKept = source.awaitsReceipts !== false;
      const { left, works } = await transaction(async (tx) => {
        const applied = await applyAll(tx, [{ source, receipts: readable }]);
        if (applied.left.length > 0 && isKept) await store.insertUnmatched(tx, source, applied.left, clock.nowMs());
        return applied;
      });
      count(source.key, 'received', receipts.length);
      count(source.key, 'unmatched', left.length);
      reportChanged(works, sinceMs);
      if (left.length > 0 && isKept) count(source.key, 'dropped', await cap.note(source.account, left.length));
    },

    async rematch() {
      // Most polls find nothing, and need no transaction.
      if (!(await store.isAnyDue(database, clock.nowMs()))) return 0;
      const sinceMs = clock.steadyMs();
      const { tried, works } = await transaction(async (tx) => {
        const nowMs = clock.nowMs();
        const locked = await store.lockDue(tx, nowMs);
        const due = locked.map((row) => {
          const keys = keysOf(row.account, row.carrierMessageId)?.map(readCarrierId);
          return { ...row, keys: keys ?? row.keys };
        });
        const accounts = [...new Set(due.map((row) => row.account))];
        const batches = accounts.map((account) => {
          const receipts = due.filter((row) => row.account === account);
          return { source: { key: receipts[0]?.carrier ?? '', account }, receipts };
        });
        const { left, works } = await applyAll(tx, batches);
        const kept = new Set(left.filter(({ receivedAtMs }) => receivedAtMs >= nowMs - unmatchedKeptMs));
        await store.postpone(tx, [...kept], nowMs);
        await store.deleteUnmatched(
          tx,
          due.filter((row) => !kept.has(row)),
        );
        return { tried: due.length, works };
      });
      reportChanged(works, sinceMs);
      return tried;
    },
  };
}

/** Makes a carrier's data storable, so that one bad receipt does not fail the whole batch. */
function readReceipt(receipt: Receipt): ReadReceipt {
  return {
    ...receipt,
    carrierMessageId: readCarrierId(receipt.carrierMessageId),
    keys: receipt.keys.slice(0, mostKeys).map(readCarrierId),
    reported: receipt.outcome === 'delivered' ? null : readCarrierWords(receipt.reported),
    numbers: receipt.numbers
      .slice(0, mostNumbers)
      .map((number) => number.replaceAll(/[^\d*]/g, '').slice(-longestNumber)),
  };
}

function withoutRepeats(receipts: ReadReceipt[]): ReadReceipt[] {
  const seen = new Map<string, ReadReceipt>();
  for (const receipt of receipts) {
    const what = JSON.stringify([receipt.outcome, receipt.carrierMessageId, receipt.messageId, receipt.numbers]);
    if (!seen.has(what)) seen.set(what, receipt);
  }
  return [...seen.values()];
}
