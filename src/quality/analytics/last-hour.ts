// Tests: test/contract/operator-now.test.ts
import type { Tx } from '../../platform/database/database.ts';
import { nameOfCarrier } from '../alerts/alert.ts';
import { readArrivals, readMinutes } from '../minute-store.ts';
import { addTexts, noTexts, type TextSums } from './figures.ts';

/** Outcomes of the texts of a carrier to a country. */
export interface CarrierHour extends TextSums {
  /** The carrier's name. Carriers that had the same name count as one. */
  name: string;
  country: string;
  /** Submits without a usable answer. */
  unanswered: number;
  /** Submits that the carrier deferred. */
  putOff: number;
}

/** The texts that were accepted between two times, by carrier and country. */
export async function readLastHour(tx: Tx, fromMs: number, toMs: number): Promise<CarrierHour[]> {
  const found = new Map<string, CarrierHour>();
  function add(key: string, country: string, sums: Partial<CarrierHour>): void {
    const name = nameOfCarrier(key);
    const before = found.get(`${name} ${country}`) ?? { name, country, unanswered: 0, putOff: 0, ...noTexts };
    found.set(`${name} ${country}`, {
      ...{ name, country, ...addTexts(before, { ...noTexts, ...sums }) },
      unanswered: before.unanswered + (sums.unanswered ?? 0),
      putOff: before.putOff + (sums.putOff ?? 0),
    });
  }
  for (const { carrier, country, ...counts } of await readMinutes(tx, fromMs, toMs)) {
    const { in_doubt: unanswered, throttled, unavailable } = counts;
    add(carrier, country, { ...counts, unanswered, putOff: throttled + unavailable });
  }
  for (const { carrier, country, arrived, codeArrived } of await readArrivals(tx, fromMs, toMs))
    add(carrier, country, { arrived, codeArrived });
  return [...found.values()];
}
