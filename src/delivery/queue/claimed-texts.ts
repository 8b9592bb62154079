import type { AcceptedTexts } from '../../messages/accepted-texts.ts';
import { findTextsToSend } from '../../messages/text/text-to-send.ts';
import type { Tx } from '../../platform/database/database.ts';
import { fromUuid } from '../../platform/ids.ts';
import type { ClaimedText, QueueEntry } from '../attempts/queued-text.ts';
import { findParts } from './part-store.ts';

const noParts = { parts: [], form: null };

/** Reads the messages of entries. Entries without a message are left out. */
export async function withMessages(tx: Tx, entries: QueueEntry[], accepted?: AcceptedTexts): Promise<ClaimedText[]> {
  // A text that was tried or moved may have changed since it was accepted.
  const known = entries.map(({ messageId, attempt, moves }) =>
    attempt === 0 && moves === 0 ? accepted?.take(fromUuid('msg', messageId)) : undefined,
  );
  const read = await findTextsToSend(
    tx,
    entries.filter((_, index) => known[index] === undefined).map(({ messageId }) => messageId),
  );
  // Texts of one segment may have parts, too: the carrier's charset may have split them.
  const parts = await findParts(
    tx,
    entries.filter(({ attempt }) => attempt > 0),
  );
  const texts: ClaimedText[] = [];
  for (const [index, entry] of entries.entries()) {
    const message = known[index] ?? read.get(entry.messageId);
    const sent = parts.size === 0 ? noParts : (parts.get(entry.messageId) ?? noParts);
    if (message !== undefined) texts.push({ message, entry, parts: sent.parts, form: sent.form });
  }
  return texts;
}
