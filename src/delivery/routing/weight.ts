// Tests: src/delivery/routing/routing.test.ts
import { createHash } from 'node:crypto';

const scale = 2 ** 48;

/**
 * The rank of a carrier among the weighted carriers of its group; the lowest is the first choice. It depends only on
 * the message id and the name, so a change of health moves no other text. Each carrier is first in proportion to its
 * weight (exponential clocks). Without a message the heaviest comes first.
 */
export function weightedRank(messageId: string | null, carrier: string, weight: number): number {
  if (messageId === null) return -weight;
  const digest = createHash('sha256').update(`${messageId} ${carrier}`).digest();
  const chance = (digest.readUIntBE(0, 6) + 1) / (scale + 1);
  return -Math.log(chance) / weight;
}
