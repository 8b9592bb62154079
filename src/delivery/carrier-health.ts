import { backOffMs } from './back-off.ts';

/**
 * Whether a carrier takes texts at all. While it does not, one text at a time is risked on it, after waits that grow: a
 * carrier that is away must not put a whole queue in doubt, nor be hammered until it is back.
 */
export interface CarrierHealth {
  /** How many texts may go out in one submit. */
  limit(): number;
  /** How long to leave it alone now. */
  waitMs(): number;
  note(works: boolean): void;
}

const backOff = { fromMs: 500, toMs: 60_000 };

export function createCarrierHealth(maxBatch: number): CarrierHealth {
  let failures = 0;
  return {
    limit: () => (failures === 0 ? maxBatch : 1),
    waitMs: () => (failures === 0 ? 0 : backOffMs(failures, backOff)),
    note(works) {
      failures = works ? 0 : failures + 1;
    },
  };
}
