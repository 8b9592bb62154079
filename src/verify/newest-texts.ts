import { findTexts, type VerificationText } from '../messages/message-store.ts';
import type { Tx } from '../platform/database.ts';
import type { Verification } from './verification.ts';

export function newestTextId({ textIds }: Pick<Verification, 'textIds'>): string | undefined {
  return textIds.at(-1);
}

/** The newest text of each verification, in order; undefined where none was sent. */
export async function findNewestTexts(
  tx: Tx,
  verifications: Pick<Verification, 'textIds'>[],
): Promise<(VerificationText | undefined)[]> {
  const texts = await findTexts(
    tx,
    verifications.flatMap((verification) => newestTextId(verification) ?? []),
  );
  return verifications.map((verification) => texts.get(newestTextId(verification) ?? ''));
}
