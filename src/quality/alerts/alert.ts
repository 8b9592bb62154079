import type { AlertFacts } from './facts.ts';

export const alertKinds = [
  'bind_down',
  'account_refused',
  'codes_waiting',
  'bulk_waiting',
  'answers_slow',
  'throttled',
  'receipts_missing',
  'receipts_unmatched',
  'conversion_drop',
  'spend',
  'suspected_pumping',
  'certificate_expiry',
] as const;
export type AlertKind = (typeof alertKinds)[number];

/** Something that is wrong now. */
export interface Condition {
  /** The rule and what it is about. */
  key: string;
  kind: AlertKind;
  carrier: string | null;
  country: string | null;
  applicationId: string | null;
  /** It is told when it has lasted for so long. */
  forMs: number;
  summary: string;
  advice: string;
}

/** A pure rule: the same facts have the same conditions. */
export type AlertRule = (facts: AlertFacts) => Condition[];

/** A carrier's name, from the key that queues know it by. */
export function nameOfCarrier(key: string): string {
  const end = key.indexOf('#');
  return end === -1 ? key : key.slice(0, end);
}

export function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}

/** For sentences: the country, if there is one. */
export function inCountry(country: string): string {
  return country === '' ? '' : ` to ${country}`;
}
