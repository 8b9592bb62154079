import { createHash } from 'node:crypto';

const scale = 2 ** 48;

/**
 * Where a carrier stands among the weighted carriers of its group; the lowest is the first choice. It depends on the
 * message id and the name alone, so health moves no text that it need not move. The first of carriers with such places
 * is each of them as often as its weight says (exponential clocks). Without a message the heaviest comes first.
 */
export function weightedPlace(messageId: string | null, carrier: string, weight: number): number {
  if (messageId === null) return -weight;
  const digest = createHash('sha256').update(`${messageId} ${carrier}`).digest();
  const chance = (digest.readUIntBE(0, 6) + 1) / (scale + 1);
  return -Math.log(chance) / weight;
}
