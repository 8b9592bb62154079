// Tests: test/smpp-server/parts.test.ts
import { findMessages } from '../messages/message-store.ts';
import type { Database, Tx } from '../platform/database/database.ts';
import { insertUnsent } from './delivery-store.ts';
import { closeParts, endParts, type PartEnd, type StoredPart, takeOldParts } from './part-store.ts';
import { wantsFailure } from './submit-fields.ts';

/** Parts that come within this time become one text. */
export const joinWithinMs = 60_000;
/** For this time, a repeated part of a whole text is recognized although the text's message was not written. */
export const writeWithinMs = joinWithinMs + 60_000;
/** Clocks of nodes differ by two seconds at most, and a text is written within half a minute after it is whole. */
export const givenUpAfterMs = joinWithinMs + 5000;
const unwrittenAfterMs = writeWithinMs + 45_000;

/** Ends parts without a text, with receipts for those that were asked to report failures. */
export async function giveUpParts(
  tx: Tx,
  parts: StoredPart[],
  nowMs: number,
  as: PartEnd = 'undelivered',
): Promise<void> {
  const reported = parts.flatMap(({ id, applicationId, accountId, body, createdAtMs }) =>
    body === null || !wantsFailure(body.wish)
      ? []
      : [{ id, applicationId, accountId, detail: { to: body.to, from: body.from, createdAtMs } }],
  );
  if (reported.length > 0) await insertUnsent(tx, reported, as, nowMs);
  if (parts.length > 0)
    await endParts(
      tx,
      parts.map(({ id }) => id),
      as,
      nowMs,
    );
}

/** Gives up a batch of the texts that did not come together. Returns how many parts it ended. */
export function sweepParts(database: Database, nowMs: number, most: number): Promise<number> {
  return database.transaction(async (tx) => {
    const old = await takeOldParts(tx, nowMs - givenUpAfterMs, most);
    if (old.length === 0) return 0;
    const named = new Set(old.flatMap(({ messageId }) => messageId ?? []));
    const written = new Set((await findMessages(tx, [...named])).map(({ id }) => id));
    const isSent = ({ messageId }: StoredPart) => messageId !== null && written.has(messageId);
    // A part that has a message is lost only once that message can no longer be written.
    const isLost = (part: StoredPart) => part.messageId === null || part.createdAtMs < nowMs - unwrittenAfterMs;
    const sent = old.filter(isSent);
    const lost = old.filter((part) => !isSent(part) && isLost(part));
    await closeParts(
      tx,
      sent.map(({ id }) => id),
    );
    await giveUpParts(tx, lost, nowMs);
    return sent.length + lost.length;
  });
}
