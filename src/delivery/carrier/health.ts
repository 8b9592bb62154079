// Tests: test/parts/delivery-worker.test.ts
import { minuteMs } from '../../platform/clock.ts';
import { backOffMs } from './back-off.ts';

/**
 * Tracks whether a carrier accepts texts. While it does not, the worker sends one text at a time after growing waits:
 * an outage must not put a whole queue in doubt, and the carrier is not hammered.
 */
export interface CarrierHealth {
  /** Maximum number of texts for one submit; at most the carrier's capacity. */
  limit(capacity: number): number;
  /** How long to wait before the next submit. */
  waitMs(): number;
  note(works: boolean): void;
}

const backOff = { fromMs: 500, toMs: minuteMs };

export function createCarrierHealth(): CarrierHealth {
  let failures = 0;
  return {
    limit: (capacity) => (failures === 0 ? capacity : Math.min(1, capacity)),
    waitMs: () => (failures === 0 ? 0 : backOffMs(failures, backOff)),
    note(works) {
      failures = works ? 0 : failures + 1;
    },
  };
}
