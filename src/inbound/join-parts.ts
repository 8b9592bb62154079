// Tests: test/contract/inbound.test.ts, test/smpp/inbound.test.ts
import type { InboundPart, InboundText } from '../delivery/carrier/carrier.ts';
import type { Tx } from '../platform/database/database.ts';
import { type Arrival, readableText } from './inbound.ts';
import { deleteParts, insertPart, type LongText, lockLongTexts, readParts, type StoredPart } from './part-store.ts';

export type PartText = InboundText & { part: InboundPart };

/** Parts that never complete are delivered after this time. */
export const partsKeptMs = 60 * 60_000;

/**
 * Keeps parts until a text is complete. Returns the texts that are. A part that exists already with another content
 * belongs to a newer text with the same reference: the older parts are then delivered as a partial text.
 */
export async function joinParts(tx: Tx, carrier: string, parts: PartText[], nowMs: number): Promise<Arrival[]> {
  if (parts.length === 0) return [];
  await lockLongTexts(
    tx,
    parts.map((part) => longTextOf(carrier, part)),
  );
  const arrivals: Arrival[] = [];
  for (const each of parts) arrivals.push(...(await addPart(tx, longTextOf(carrier, each), each, nowMs)));
  return arrivals;
}

function longTextOf(carrier: string, { from, to, part: { width, reference, total } }: PartText): LongText {
  return { carrier, from, to, width, reference, total };
}

async function addPart(tx: Tx, long: LongText, given: PartText, nowMs: number): Promise<Arrival[]> {
  const stored = await readParts(tx, long);
  const { part } = given.part;
  const same = stored.find((each) => each.part === part);
  if (same?.text === given.text) return [];
  const isOver = same !== undefined || stored.some(({ receivedAtMs }) => receivedAtMs < nowMs - partsKeptMs);
  if (isOver) await deleteParts(tx, long);
  const arrivals = isOver ? [toArrival(long, stored)] : [];
  const all = [...(isOver ? [] : stored), { part, text: given.text, receivedAtMs: nowMs }];
  if (all.length < long.total) {
    await insertPart(tx, long, { part, text: given.text, receivedAtMs: nowMs });
    return arrivals;
  }
  if (!isOver) await deleteParts(tx, long);
  return [...arrivals, toArrival(long, all)];
}

/** Takes the parts of a text that was never completed. Returns undefined if another node has taken it. */
export async function takeIncomplete(tx: Tx, long: LongText, beforeMs: number): Promise<Arrival | undefined> {
  await lockLongTexts(tx, [long]);
  const stored = await readParts(tx, long);
  if (!stored.some(({ receivedAtMs }) => receivedAtMs < beforeMs)) return undefined;
  await deleteParts(tx, long);
  return toArrival(long, stored);
}

function toArrival({ from, to, total }: LongText, parts: StoredPart[]): Arrival {
  const sorted = parts.toSorted((a, b) => a.part - b.part);
  const text = readableText(sorted.map((part) => part.text).join(''));
  return { from, to, text, parts: parts.length, partial: parts.length < total };
}
