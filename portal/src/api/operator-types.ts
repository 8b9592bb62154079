/** What only operators read, as the service answers it. */
import type { NodeLogEntry } from '../../../src/delivery/carrier-log-service.ts';
import type { CarrierRecord, toTest } from '../../../src/portal/carrier-record.ts';

export type { RouteRule } from '../../../src/delivery/route-table.ts';
export type { AlertRecord as Alert } from '../../../src/portal/alert-api.ts';
export type { DeliveryRecord as Delivery } from '../../../src/portal/delivery-api.ts';
export type {
  ListedInbound as InboundText,
  OperatorOptOut as OptOut,
  UnassignedInbound,
} from '../../../src/portal/inbound-api.ts';
export type { NumberRecord as OwnNumber } from '../../../src/portal/number-api.ts';
export type { PresetRecord as Preset } from '../../../src/portal/preset-api.ts';
export type {
  RouteExplanationRecord as RouteExplanation,
  RouteTableRecord as RouteTable,
} from '../../../src/portal/route-api.ts';
export type { ListedSenderRecord as ListedSender } from '../../../src/portal/sender-api.ts';
export type { SenderRecord } from '../../../src/portal/sender-record.ts';
export type {
  LimitedApplicationRecord as LimitedApplication,
  LimitedPlanRecord as LimitedPlan,
  SpendRecord as Spend,
} from '../../../src/portal/spend-api.ts';
export type { TemplateRecord as Template } from '../../../src/portal/template-api.ts';
export type { TotalRecord as Total, TotalsRecord as TotalsReport } from '../../../src/portal/total-api.ts';

export type Carrier = CarrierRecord;
export type CarrierBind = Carrier['binds'][number];
export type CarrierTest = ReturnType<typeof toTest>;
export type CarrierLogEntry = NodeLogEntry;
