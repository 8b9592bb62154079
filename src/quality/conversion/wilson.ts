// Tests: src/quality/counts.test.ts
/** A share with the bounds between which the true one lies, 19 times out of 20. */
export interface Share {
  value: number;
  low: number;
  high: number;
}

const z = 1.959963984540054;

/** Wilson's score interval: it stays sensible for few cases and for shares near 0 and 1. Undefined without cases. */
export function wilson(hits: number, cases: number): Share | undefined {
  if (cases <= 0) return undefined;
  const value = Math.min(1, Math.max(0, hits / cases));
  const spread = z * Math.sqrt((value * (1 - value)) / cases + (z * z) / (4 * cases * cases));
  const middle = value + (z * z) / (2 * cases);
  const scale = 1 + (z * z) / cases;
  return {
    value,
    low: Math.max(0, (middle - spread) / scale),
    high: Math.min(1, (middle + spread) / scale),
  };
}
