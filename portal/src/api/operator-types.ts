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
