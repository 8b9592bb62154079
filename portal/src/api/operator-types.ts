/** Responses that only operators get. */
import type { NodeLogEntry } from '../../../src/delivery/carrier/log-service.ts';
import type { CarrierRecord, toTest } from '../../../src/portal/operator/carrier-record.ts';

export type { AuditRecord as AuditEntry } from '../../../src/accounts/audit/api.ts';
export type { OperatedSignIn } from '../../../src/accounts/sign-in-api.ts';
export type { RouteRule } from '../../../src/delivery/routing/table.ts';
export type { AnalyticsRecord as Analytics } from '../../../src/portal/developer/analytics-record.ts';
export type { ListedSenderRecord as ListedSender } from '../../../src/portal/developer/sender-api.ts';
export type { SenderRecord } from '../../../src/portal/developer/sender-record.ts';
export type { TemplateRecord as Template } from '../../../src/portal/developer/template-api.ts';
export type { OperatedAccount, OperatedAccountDetail, ResetLink } from '../../../src/portal/operator/account-api.ts';
export type { AlertRecord as Alert } from '../../../src/portal/operator/alert-api.ts';
export type { AlertCountRecord as AlertCount } from '../../../src/portal/operator/alert-count-api.ts';
export type { OperatedApplication } from '../../../src/portal/operator/application-api.ts';
export type {
  DeliveryGroupRecord as DeliveryGroup,
  DeliveryRecord as Delivery,
} from '../../../src/portal/operator/delivery-api.ts';
export type { GuardHoldRecord as GuardHold } from '../../../src/portal/operator/guard-hold-api.ts';
export type { GuardRulesRecord as GuardRules } from '../../../src/portal/operator/guard-rule-api.ts';
export type {
  ListedInbound as InboundText,
  OperatorOptOut as OptOut,
  UnassignedInbound,
} from '../../../src/portal/operator/inbound-api.ts';
export type { OperatorSmppBindRecord as OperatorSmppBind } from '../../../src/portal/operator/smpp-bind-api.ts';
export type { NodeRecord as SeenNode } from '../../../src/portal/operator/node-api.ts';
export type { NowRecord as NowReport } from '../../../src/portal/operator/now-api.ts';
export type { NumberRecord as OwnNumber } from '../../../src/portal/operator/number-api.ts';
export type {
  LimitedPlanRecord as LimitedPlan,
  PlanVersionRecord as PlanVersion,
} from '../../../src/portal/operator/plan-api.ts';
export type { PresetRecord as Preset } from '../../../src/portal/operator/preset-api.ts';
export type { QueueRecord as CarrierQueue } from '../../../src/portal/operator/queue-api.ts';
export type {
  RouteEffectRecord as RouteEffect,
  RouteExplanationRecord as RouteExplanation,
  RouteTableRecord as RouteTable,
} from '../../../src/portal/operator/route-api.ts';
export type {
  LimitedApplicationRecord as LimitedApplication,
  SpendRecord as Spend,
} from '../../../src/portal/operator/spend-api.ts';
export type { TotalRecord as Total, TotalsRecord as TotalsReport } from '../../../src/portal/operator/total-api.ts';
export type { TrafficRecord as Traffic } from '../../../src/portal/operator/traffic-api.ts';

export type Carrier = CarrierRecord;
export type CarrierBind = Carrier['binds'][number];
export type CarrierTest = ReturnType<typeof toTest>;
export type CarrierLogEntry = NodeLogEntry;
