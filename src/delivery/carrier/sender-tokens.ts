/** The number of texts that a sender may send at a point in time. It grows by `perSecond`, up to one second's worth. */
export interface SenderTokens {
  tokens: number;
  countedAtMs: number;
}

/**
 * Takes as many texts as may leave now. Texts of the first lane may borrow one second's worth: a person waits for them,
 * and bulk texts wait until it is paid back.
 */
export function takeTokens(
  before: SenderTokens,
  { perSecond, nowMs, first, bulk }: { perSecond: number; nowMs: number; first: number; bulk: number },
): { after: SenderTokens; first: number; bulk: number } {
  const passedMs = Math.max(0, nowMs - before.countedAtMs);
  const grown = Math.min(perSecond, before.tokens + (passedMs * perSecond) / 1000);
  const firstTaken = Math.min(first, whole(grown + perSecond));
  const bulkTaken = Math.min(bulk, whole(grown - firstTaken));
  return {
    after: { tokens: grown - firstTaken - bulkTaken, countedAtMs: Math.max(nowMs, before.countedAtMs) },
    first: firstTaken,
    bulk: bulkTaken,
  };
}

/** Counts a token that lacks a billionth: floating-point sums are not exact. */
function whole(tokens: number): number {
  return Math.max(0, Math.floor(tokens + 1e-9));
}

/** When the sender has a token to use. */
export function nextTokenMs({ tokens, countedAtMs }: SenderTokens, perSecond: number): number {
  return countedAtMs + Math.max(0, Math.ceil(((1 - tokens) * 1000) / perSecond));
}
