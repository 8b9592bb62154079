/** What only operators read, as the service answers it. */
import type { NodeLogEntry } from '../../../src/delivery/carrier-log-service.ts';
import type { CarrierRecord, toTest } from '../../../src/portal/carrier-record.ts';

export type { RouteRule } from '../../../src/delivery/route-table.ts';
export type { DeliveryRecord as Delivery } from '../../../src/portal/delivery-api.ts';
export type {
  RouteExplanationRecord as RouteExplanation,
  RouteTableRecord as RouteTable,
} from '../../../src/portal/route-api.ts';
export type { TotalRecord as Total, TotalsRecord as TotalsReport } from '../../../src/portal/total-api.ts';

export type Carrier = CarrierRecord;
export type CarrierBind = Carrier['binds'][number];
export type CarrierTest = ReturnType<typeof toTest>;
export type CarrierLogEntry = NodeLogEntry;

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
