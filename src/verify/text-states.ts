import { newestTexts } from '../messages/message-store.ts';
import type { Tx } from '../platform/database.ts';
import type { TextState } from './verification-record.ts';

/** How the newest text of each verification stands. Nobody tells us: it is read from the message's own row. */
export async function textsOf(tx: Tx, verificationIds: string[]): Promise<Map<string, TextState>> {
  return new Map((await newestTexts(tx, verificationIds)).map((text) => [text.verificationId, text]));
}
