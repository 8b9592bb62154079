import type { AlertFacts } from './facts.ts';

/** Causes before symptoms: open alerts are listed in this order. */
export const alertKinds = [
  'account_refused',
  'bind_down',
  'answers_slow',
  'throttled',
  'refused',
  'undelivered',
  'codes_waiting',
  'bulk_waiting',
  'receipts_missing',
  'receipts_unmatched',
  'conversion_drop',
  'spend',
  'suspected_pumping',
  'certificate_expiry',
] as const;
export type AlertKind = (typeof alertKinds)[number];

/** A problem that exists now. */
export interface Condition {
  /** The rule and its subject. */
  key: string;
  kind: AlertKind;
  carrier: string | null;
  country: string | null;
  applicationId: string | null;
  /** The alert is raised once the condition has lasted this long. */
  forMs: number;
  summary: string;
  advice: string;
}

/** A pure rule: the same facts give the same conditions. */
export type AlertRule = (facts: AlertFacts) => Condition[];

/** A carrier's name, from the key that queues use. */
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
