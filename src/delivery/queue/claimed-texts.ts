import { findTextsToSend } from '../../messages/text/text-to-send.ts';
import type { Tx } from '../../platform/database/database.ts';
import type { ClaimedText, QueueEntry } from '../attempts/queued-text.ts';
import { findParts } from './part-store.ts';

const noParts = { parts: [], form: null };

/** Reads the messages of entries. Entries without a message are left out. */
export async function withMessages(tx: Tx, entries: QueueEntry[]): Promise<ClaimedText[]> {
  const messages = await findTextsToSend(
    tx,
    entries.map(({ messageId }) => messageId),
  );
  // Texts of one segment may have parts, too: the carrier's charset may have split them.
  const parts = await findParts(
    tx,
    entries.filter(({ attempt }) => attempt > 0),
  );
  const texts: ClaimedText[] = [];
  for (const entry of entries) {
    const message = messages.get(entry.messageId);
    const sent = parts.size === 0 ? noParts : (parts.get(entry.messageId) ?? noParts);
    if (message !== undefined) texts.push({ message, entry, parts: sent.parts, form: sent.form });
  }
  return texts;
}
