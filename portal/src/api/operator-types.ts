/** What only operators read, as the service answers it. */
import type { NodeLogEntry } from '../../../src/delivery/carrier-log-service.ts';
import type { CarrierRecord, toTest } from '../../../src/portal/carrier-record.ts';

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
  rule: string | null;
  outcome: string;
  from: string | null;
  deferred_until: string | null;
  candidates: { carrier: string; group: string; available: boolean; share: number; reason: string }[];
  chosen: string | null;
}

export interface SenderRecord {
  id: string;
  application_id: string;
  sender: string;
  countries: string[];
  status: string;
  carriers: string[];
  registration: string | null;
  per_second: number | null;
  reason: string | null;
  created_at: string;
  decided_at: string | null;
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
  possible_opt_out: boolean;
  received_at: string;
}

export interface OptOut {
  number: string;
  source: string;
  word: string | null;
  created_at: string;
}

export interface Delivery {
  message_id: string;
  application_id: string;
  carrier: string | null;
  number_ends: string;
  since: string;
  due: string | null;
  reason: string;
  advice: string;
}

export interface TotalsReport {
  from: string;
  to: string;
  by: string[];
  data: Total[];
  truncated: boolean;
}

export interface Total {
  day?: string;
  carrier?: string;
  country?: string | null;
  sender?: string;
  application_id?: string;
  attempts: number;
  copies: number;
  throttled: number;
  in_doubt: number;
  sent: number;
  parts: number;
  delivered: number;
  undelivered: number;
  failed: number;
  codes: number;
  approved: number;
  quality: number | null;
  quality_low: number | null;
  quality_high: number | null;
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
