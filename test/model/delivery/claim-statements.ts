import type { ClaimedText, QueueEntry } from '../../../src/delivery/attempts/queued-text.ts';
import { actionFor, submittedEntry } from '../../../src/delivery/attempts/result.ts';
import type { PartState } from '../../../src/delivery/carrier/carrier.ts';
import { type ClaimRow, isUnsettled, messageIn, type Tables, withQueued, withScheduled } from './tables.ts';
import { type CarrierName, claimedText, expiresAtMs, nameOf, tickMs, toTickMs } from './texts.ts';

export interface ClaimArguments {
  carrier: CarrierName;
  id: number;
  /** By the worker's clock. */
  nowMs: number;
  /** By the database's clock. */
  databaseMs: number;
  limit: number;
}

/** `createClaims` in claim-store.ts: takes texts from the queue of a carrier that is not paused. */
export function claimTexts(tables: Tables, { carrier, id, nowMs, databaseMs, limit }: ClaimArguments): Tables {
  if (tables.paused.includes(carrier)) return tables;
  const taken = tables.queue.filter((row) => row.carrier === carrier).slice(0, limit);
  if (taken.length === 0) return tables;
  const row: ClaimRow = {
    id,
    carrier,
    claimedAtMs: nowMs,
    leasedUntilMs: databaseMs + tickMs,
    revision: 0,
    entries: taken.map(({ entry }) => entry),
  };
  return { ...tables, queue: tables.queue.filter((each) => !taken.includes(each)), claims: [...tables.claims, row] };
}

/** `withMessages` in claimed-texts.ts: `findTextsToSend`, and `findParts` for texts that were tried before. */
export function readTexts(tables: Tables, entries: readonly QueueEntry[]): ClaimedText[] {
  return entries.flatMap((entry) => {
    const message = messageIn(tables, nameOf(entry));
    if (message === undefined) return [];
    return [claimedText(entry, message.status, entry.attempt === 0 ? [] : partsIn(tables, entry))];
  });
}

function partsIn({ parts }: Tables, entry: QueueEntry): PartState[] {
  return parts
    .filter(({ name }) => name === entry.messageId)
    .map(({ part, state, carrierMessageId }) => ({ part, state, carrierMessageId, receiptKey: null }));
}

/**
 * `giveBackClaim` in claim-store.ts: the owner has sent nothing of it, so that the texts are as they were. A text that a
 * receipt has settled meanwhile needs no further work.
 */
export function giveBackClaim(tables: Tables, { id }: { id: number }): Tables {
  const claim = tables.claims.find((row) => row.id === id);
  if (claim === undefined) return tables;
  const rest: Tables = { ...tables, claims: tables.claims.filter((row) => row !== claim) };
  const open = readTexts(tables, claim.entries).filter(({ message }) => isUnsettled(message.status));
  return open.reduce((made, { entry }) => withQueued(made, { carrier: claim.carrier, entry }), rest);
}

export interface ReleaseArguments {
  carrier: CarrierName;
  /** By the releasing worker's clock. */
  nowMs: number;
  /** By the clock that leases go by: the database's. */
  leaseMs: number;
  atMostOnce: boolean;
  doubtAfterMs: number;
}

export function isAnyOver({ claims }: Tables, carrier: CarrierName, leaseMs: number): boolean {
  return claims.some((row) => row.carrier === carrier && row.leasedUntilMs <= leaseMs);
}

/** `releaseClaims` in release-store.ts, one transaction: what a dead worker may have sent is in doubt. */
export function releaseClaims(tables: Tables, options: ReleaseArguments): Tables {
  const { carrier, nowMs, leaseMs, atMostOnce, doubtAfterMs } = options;
  const over = tables.claims.filter((row) => row.carrier === carrier && row.leasedUntilMs <= leaseMs);
  const rest: Tables = { ...tables, claims: tables.claims.filter((row) => !over.includes(row)) };
  return over.reduce((made, { claimedAtMs, entries }) => {
    const texts = readTexts(made, entries).filter(({ message }) => isUnsettled(message.status));
    return texts.reduce((scheduled, text) => {
      const inDoubt = actionFor(text, { nowMs: claimedAtMs, atMostOnce }) === 'submit';
      const entry = inDoubt ? { ...submittedEntry(text.entry), inDoubt } : text.entry;
      const waitMs = inDoubt && text.message.api !== 'verify' ? doubtAfterMs : 0;
      const dueAtMs = toTickMs(Math.max(nowMs, Math.min(claimedAtMs + waitMs, expiresAtMs)));
      return withScheduled(scheduled, { carrier, entry, dueAtMs });
    }, made);
  }, rest);
}
