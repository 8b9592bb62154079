/** What only operators read, as the service answers it. */
import type { NodeLogEntry } from '../../../src/delivery/carrier-log-service.ts';
import type { CarrierRecord, toTest } from '../../../src/portal/carrier-record.ts';

export type { RouteRule } from '../../../src/delivery/route-table.ts';
export type { AlertRecord as Alert } from '../../../src/portal/alert-api.ts';
export type { AuditRecord as AuditEntry } from '../../../src/portal/audit-api.ts';
export type { DeliveryRecord as Delivery } from '../../../src/portal/delivery-api.ts';
export type { GuardHoldRecord as GuardHold } from '../../../src/portal/guard-hold-api.ts';
export type { GuardRulesRecord as GuardRules } from '../../../src/portal/guard-rule-api.ts';
export type {
  ListedInbound as InboundText,
  OperatorOptOut as OptOut,
  UnassignedInbound,
} from '../../../src/portal/inbound-api.ts';
export type { NodeRecord as SeenNode } from '../../../src/portal/node-api.ts';
export type { NumberRecord as OwnNumber } from '../../../src/portal/number-api.ts';
export type { OperatedAccount, OperatedAccountDetail, ResetLink } from '../../../src/portal/operator-account-api.ts';
export type { OperatedApplication } from '../../../src/portal/operator-application-api.ts';
export type {
  LimitedPlanRecord as LimitedPlan,
  PlanVersionRecord as PlanVersion,
} from '../../../src/portal/plan-api.ts';
export type { PresetRecord as Preset } from '../../../src/portal/preset-api.ts';
export type { QueueRecord as CarrierQueue } from '../../../src/portal/queue-api.ts';
export type {
  RouteExplanationRecord as RouteExplanation,
  RouteTableRecord as RouteTable,
} from '../../../src/portal/route-api.ts';
export type { ListedSenderRecord as ListedSender } from '../../../src/portal/sender-api.ts';
export type { SenderRecord } from '../../../src/portal/sender-record.ts';
export type { OperatedSignIn } from '../../../src/portal/sign-in-api.ts';
export type {
  LimitedApplicationRecord as LimitedApplication,
  SpendRecord as Spend,
} from '../../../src/portal/spend-api.ts';
export type { TemplateRecord as Template } from '../../../src/portal/template-api.ts';
export type { TotalRecord as Total, TotalsRecord as TotalsReport } from '../../../src/portal/total-api.ts';
export type { TrafficRecord as Traffic } from '../../../src/portal/traffic-api.ts';

export type Carrier = CarrierRecord;
export type CarrierBind = Carrier['binds'][number];
export type CarrierTest = ReturnType<typeof toTest>;
export type CarrierLogEntry = NodeLogEntry;
