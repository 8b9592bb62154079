/** What only operators read, as the service answers it. */
import type { NodeLogEntry } from '../../../src/delivery/carrier-log-service.ts';
import type { CarrierRecord, toTest } from '../../../src/portal/carrier-record.ts';

export type { DeliveryRecord as Delivery } from '../../../src/portal/delivery-api.ts';
export type { TotalRecord as Total, TotalsRecord as TotalsReport } from '../../../src/portal/total-api.ts';

export type Carrier = CarrierRecord;
export type CarrierBind = Carrier['binds'][number];
export type CarrierTest = ReturnType<typeof toTest>;
export type CarrierLogEntry = NodeLogEntry;

/** A rule of the route table, as operators write it. */
export interface RouteRule {
  name: string;
  match: {
    countries?: string[];
    prefixes?: string[];
    apis?: string[];
    applications?: string[];
    senders?: string[];
  };
  carriers: { carrier: string; weight: number }[];
  failover: string[];
  failover_bulk: false | { per_minute: number };
  from: string | null;
  hours: null | { from: string; to: string; days: string[]; zone: string };
}

export interface RouteTable {
  version: number;
  routes: RouteRule[];
  updated_at: string | null;
}

export interface RouteExplanation {
  version: number;
  rule: RouteRule | null;
  outcome: string;
  from: string | null;
  deferred_until: string | null;
  candidates: { carrier: string; group: string; available: boolean; share: number; reason: string }[];
  chosen: string | null;
  carrier: string | null;
}

export interface SenderRecord {
  id: string;
  sender: string;
  countries: string[];
  status: string;
  registration: string | null;
  per_second: number | null;
  reason: string | null;
  created_at: string;
  decided_at: string | null;
}

export interface ListedSender extends SenderRecord {
  carriers: string[];
  application_id: string;
  application_name: string;
  account_email: string;
}

export interface OwnNumber {
  number: string;
  keyword: string | null;
  carrier: string | null;
  application_id: string;
  api: string;
  ignored_words: string[];
  created_at: string;
  updated_at: string;
}

export interface InboundText {
  id: string;
  to: string;
  from: string;
  message: string | null;
  segments: { count: number };
  keyword: string | null;
  partial: boolean;
  possible_opt_out?: true;
  received_at: string;
}

export interface OptOut {
  number: string;
  source: string;
  word: string | null;
  created_at: string;
  scope: string;
  sender: string | null;
  application_id: string | null;
}

export interface AlertRecord {
  id: string;
  kind: string;
  summary: string;
  advice: string;
  since: string;
  raised_at: string | null;
  cleared_at: string | null;
}
