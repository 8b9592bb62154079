// Tests: test/parts/receipts.test.ts, test/parts/carrier-rules.test.ts
import type { Clock } from '../../platform/clock.ts';
import type { Tx } from '../../platform/database/database.ts';
import { toUuid } from '../../platform/ids.ts';
import type { Carrier, ReadReceipt, Receipt } from '../carrier/carrier.ts';
import { notePartReceipts, type PartReceipt, type WholeOutcome } from '../queue/part-store.ts';
import type { ChangedText, MatchedReceipt } from './changed-text.ts';
import { type CodeResendOptions, type ResentCode, resendCodes } from './code-resends.ts';
import { type Candidate, choose, findCandidates, isOfKnownCopy } from './matching.ts';
import { applyToSent, type KnownMessage } from './sent-store.ts';
import { applyToUnsent } from './unsent-store.ts';

/** The carrier that receipts come from, and its account, which their ids belong to. */
export type ReceiptSource = Pick<Carrier, 'key' | 'account' | 'awaitsReceipts'>;

/** The changes that the receipts of one source have made in one transaction. */
export interface AppliedReceipts {
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

export interface ApplierOptions {
  clock: Clock;
  /** Counts receipts that match several texts. */
  onAmbiguous: (carrier: string, by: number) => void;
  /** Called once for each text (uuid) that a receipt has made delivered, before the commit. */
  onDelivered: (tx: Tx, source: ReceiptSource, ids: string[]) => Promise<void>;
  /** Resends undelivered codes; undefined if they are not resent. */
  resend: CodeResendOptions | undefined;
}

/** Applies receipts to their texts, in a transaction of the caller. */
export function createReceiptApplier({ clock, onAmbiguous, onDelivered, resend }: ApplierOptions) {
  /** Returns the receipts that match no message, and the changes by the others. */
  async function applyAll<Given extends ReadReceipt>(
    tx: Tx,
    batches: { source: ReceiptSource; receipts: Given[] }[],
  ): Promise<{ left: Given[]; works: AppliedReceipts[] }> {
    const left: Given[] = [];
    const works: AppliedReceipts[] = [];
    for (const { source, receipts } of batches) {
      const work: AppliedReceipts = { tx, source, delivered: [], changed: [], unwanted: [], resent: [] };
      works.push(work);
      left.push(...(await apply(work, receipts)));
    }
    // Last, because `onDelivered` takes locks: no transaction should hold them while it waits for messages of another one.
    for (const { source, delivered } of works) if (delivered.length > 0) await onDelivered(tx, source, delivered);
    return { left, works };
  }

  async function apply<Given extends ReadReceipt>(work: AppliedReceipts, receipts: Given[]): Promise<Given[]> {
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
    onAmbiguous(source.key, chosen.filter(({ match }) => match === 'ambiguous').length);
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

  /** A receipt for a part waits until all parts of its text were sent: the text cannot end before that. */
  async function applyToParts(
    work: AppliedReceipts,
    receipts: (PartReceipt & MatchedReceipt & Candidate)[],
  ): Promise<Receipt[]> {
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

  /** Applies receipts to their messages. Returns the receipts whose message was found, also those that changed nothing. */
  async function applyMatched(work: AppliedReceipts, matched: MatchedReceipt[]): Promise<Receipt[]> {
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
  async function resendSome(
    work: AppliedReceipts,
    matched: MatchedReceipt[],
  ): Promise<ReadonlyMap<string, ResentCode>> {
    if (resend === undefined) return new Map();
    const resent = await resendCodes(work.tx, resend, work.source.key, matched, clock.nowMs());
    work.resent.push(...resent.values());
    return resent;
  }

  return applyAll;
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
