// Tests: test/parts/carrier-rules.test.ts
import type { Carrier } from './carrier.ts';

/**
 * Stands for a carrier that was deleted while texts waited for it. Its worker moves them to another carrier, ends those
 * in doubt, and lets the rest expire.
 */
export function createClosedCarrier(key: string): Carrier {
  return {
    key,
    account: key,
    submitTimeoutMs: 1000,
    repeatsMessageId: true,
    watchesItself: true,
    isClosed: true,
    onDoubt: { resend: false, afterMs: 0 },
    capacity: () => ({ first: 100, bulk: 100 }),
    async submit(texts, answer) {
      for (const index of texts.keys())
        answer(index, { outcome: 'retry', error: 'carrier_unavailable', elsewhere: true });
    },
    start() {},
    stop: () => Promise.resolve(),
  };
}
