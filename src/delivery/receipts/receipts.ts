import { type Clock, hourMs } from '../../platform/clock.ts';
import type { Database, Tx } from '../../platform/database/database.ts';
import { retryCollisions } from '../../platform/database/retry-collisions.ts';
import { toUuid } from '../../platform/ids.ts';
import type { Carrier, ReadReceipt, Receipt } from '../carrier/carrier.ts';
import { readCarrierId } from '../carrier/id.ts';
import { readCarrierWords } from '../carrier/words.ts';
import { notePartReceipts, type PartReceipt, type WholeOutcome } from '../queue/part-store.ts';
import { type CodeResendOptions, type ResentCode, resendCodes } from './code-resends.ts';
import { type Candidate, choose, findCandidates, isOfKnownCopy } from './matching.ts';
import { applyToSent, applyToUnsent, type ChangedText, type KnownMessage, type MatchedReceipt } from './store.ts';
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

/** The carrier that receipts come from, and its account, which their ids belong to. */
export type ReceiptSource = Pick<Carrier, 'key' | 'account' | 'awaitsReceipts'>;

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

/** Receipts of one source in one transaction. */
interface Work {
  tx: Tx;
  source: ReceiptSource;
  /** The texts that these receipts have made delivered so far. */
  delivered: string[];
  /** All texts that these receipts have changed so far. */
  changed: ChangedText[];
  /** The codes that move to other carriers. */
  resent: ResentCode[];
  /** The changed texts that their recipients do not want. */
  unwanted: ChangedText[];
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

  /** Returns the receipts that match no message, and the changes by the others. */
  async function applyAll<Given extends ReadReceipt>(
    tx: Tx,
    batches: { source: ReceiptSource; receipts: Given[] }[],
  ): Promise<{ left: Given[]; works: Work[] }> {
    const left: Given[] = [];
    const works: Work[] = [];
    for (const { source, receipts } of batches) {
      const work: Work = { tx, source, delivered: [], changed: [], unwanted: [], resent: [] };
      works.push(work);
      left.push(...(await apply(work, receipts)));
    }
    // Last, because `onDelivered` takes locks: no transaction should hold them while it waits for messages of another one.
    for (const { source, delivered } of works) if (delivered.length > 0) await onDelivered(tx, source, delivered);
    return { left, works };
  }

  async function apply<Given extends ReadReceipt>(work: Work, receipts: Given[]): Promise<Given[]> {
    const { tx, source } = work;
    const named = receipts.flatMap((receipt) => {
      const id = receipt.messageId === null ? undefined : toUuid('msg', receipt.messageId);
      return id === undefined ? [] : [{ receipt, id, reportedId: receipt.carrierMessageId }];
    });
    const applied = new Set(await applyMatched(work, named));
    const others = receipts.filter((receipt) => !applied.has(receipt));
    const candidates = await findCandidates(tx, source.account, others);
    const chosen = others.map((receipt) => ({ receipt, match: choose(receipt, candidates) }));
    const settled = chosen.filter(({ match }) => match === 'settled' || match === 'ambiguous');
    for (const { receipt } of settled) applied.add(receipt);
    count(source.key, 'ambiguous', chosen.filter(({ match }) => match === 'ambiguous').length);
    const matched = chosen.flatMap(({ receipt, match }) => {
      if (typeof match !== 'object') return [];
      const reportedId = isOfKnownCopy(match) ? (match.textId ?? '') : receipt.carrierMessageId;
      return [{ ...match, receipt, reportedId }];
    });
    const whole = matched.filter(({ part }) => part === 0);
    for (const receipt of await applyMatched(work, whole)) applied.add(receipt);
    const ofParts = matched.filter(({ part }) => part > 0);
    for (const receipt of await applyToParts(work, ofParts)) applied.add(receipt);
    return receipts.filter((receipt) => !applied.has(receipt));
  }

  function count(carrier: string, name: ReceiptCount, by: number): void {
    if (by > 0) onCount(carrier, name, by);
  }

  /** A receipt for a part waits until all parts of its text were sent: the text cannot end before that. */
  async function applyToParts(work: Work, receipts: (PartReceipt & MatchedReceipt & Candidate)[]): Promise<Receipt[]> {
    const sent = receipts.filter(({ unsent }) => !unsent);
    const counting = sent.filter((each) => {
      return each.textId === null || each.receipt.outcome === 'delivered' || isOfKnownCopy(each);
    });
    if (counting.length === 0) return sent.map(({ receipt }) => receipt);
    const outcomes = await notePartReceipts(work.tx, counting);
    const decided = [...outcomes].flatMap(([id, whole]): MatchedReceipt[] => {
      const first = counting.find((each) => each.id === id);
      if (whole === undefined || first === undefined) return [];
      const reportedId = first.textId ?? first.receipt.carrierMessageId;
      const reported = counting.find((each) => each.id === id && each.receipt.reported)?.receipt.reported;
      return [{ id, reportedId, receipt: { ...first.receipt, ...whole, reported: wordsOf(whole, reported) } }];
    });
    await applyMatched(work, decided);
    return sent.map(({ receipt }) => receipt);
  }

  /** Returns the receipts whose message is known, whether or not they changed it. */
  async function applyMatched(work: Work, matched: MatchedReceipt[]): Promise<Receipt[]> {
    const { tx, source, delivered, changed } = work;
    const known: Receipt[] = [];
    const before = changed.length;
    const noteChanged = (found: Map<string, Pick<KnownMessage, 'changed'>>, round: MatchedReceipt[]) => {
      for (const { changed: text } of found.values()) if (text !== undefined) changed.push(withWords(text, round));
    };
    for (const all of inRounds(matched)) {
      const resent = await resendSome(work, all);
      known.push(...all.filter(({ id }) => resent.has(id)).map(({ receipt }) => receipt));
      const round = all.filter(({ id }) => !resent.has(id));
      const found = await applyToSent(tx, source.key, round, clock.nowMs());
      delivered.push(...[...found.values()].filter((each) => each.delivered).map(({ id }) => id));
      noteChanged(found, round);
      known.push(...round.filter(({ id }) => found.get(id)?.unsent === false).map(({ receipt }) => receipt));
      const early = round.filter(({ id }) => found.get(id)?.unsent === true);
      if (early.length === 0) continue;
      // A text that a worker takes or records at this moment is in none of the tables: its receipt is tried again.
      const waiting = await applyToUnsent(tx, source, early, clock.nowMs());
      delivered.push(...[...waiting.values()].filter((each) => each.delivered).map(({ id }) => id));
      noteChanged(waiting, early);
      known.push(...early.filter(({ id }) => waiting.has(id)).map(({ receipt }) => receipt));
    }
    const refused = new Set(
      matched.filter(({ receipt }) => receipt.error === 'blocked_by_recipient').map(({ id }) => id),
    );
    work.unwanted.push(...changed.slice(before).filter(({ id }) => refused.has(id)));
    return known;
  }

  /** The messages whose codes move to another carrier: they have not ended yet. */
  async function resendSome(work: Work, matched: MatchedReceipt[]): Promise<ReadonlyMap<string, ResentCode>> {
    if (resend === undefined) return new Map();
    const resent = await resendCodes(work.tx, resend, work.source.key, matched, clock.nowMs());
    work.resent.push(...resent.values());
    return resent;
  }

  function reportChanged(works: Work[], sinceMs: number): void {
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

/** The text with the words of its receipt, or our code for them. */
function withWords(text: ChangedText, round: MatchedReceipt[]): ChangedText {
  const receipt = text.now === 'delivered' ? undefined : round.find(({ id }) => id === text.id)?.receipt;
  return receipt === undefined ? text : { ...text, reported: receipt.reported ?? receipt.error };
}

/** A delivered text needs no error words, even if a part failed. */
function wordsOf({ outcome }: WholeOutcome, reported: Receipt['reported']): Receipt['reported'] {
  return outcome === 'delivered' ? null : reported;
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
