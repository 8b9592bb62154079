import { findSentTexts, type SentText } from '../../messages/text/sent-texts.ts';
import type { Tx } from '../../platform/database/database.ts';
import type { Verification } from '../verification.ts';

/** The texts of those verifications that have several, oldest first, by the verification's id. */
export async function findAllTexts(
  tx: Tx,
  verifications: readonly Pick<Verification, 'id' | 'textIds'>[],
): Promise<Map<string, SentText[]>> {
  const several = verifications.filter(({ textIds }) => textIds.length > 1);
  if (several.length === 0) return new Map();
  const texts = await findSentTexts(
    tx,
    several.flatMap(({ textIds }) => textIds),
  );
  return new Map(several.map(({ id, textIds }) => [id, textIds.flatMap((each) => texts.get(each) ?? [])]));
}
