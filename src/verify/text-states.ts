import { newestTexts, type VerificationText } from '../messages/message-store.ts';
import type { Tx } from '../platform/database.ts';

/** The newest text of each verification, by verification id. */
export async function textsOf(tx: Tx, verificationIds: string[]): Promise<Map<string, VerificationText>> {
  return new Map((await newestTexts(tx, verificationIds)).map((text) => [text.verificationId, text]));
}
