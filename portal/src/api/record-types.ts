/** Messages, verifications, requests and usage, as the service returns them. */
import type { MessageDetail } from '../../../src/portal/developer/message-api.ts';
import type { UsageRecord } from '../../../src/portal/developer/usage-api.ts';

export type { OptOutRecord as OwnOptOut } from '../../../src/inbound/inbound-record.ts';
export type { FailureRecord as Failure } from '../../../src/portal/developer/failure-api.ts';
export type {
  ListedMessage as Message,
  MessageBatchRecord as MessageBatch,
  MessageDetail,
} from '../../../src/portal/developer/message-api.ts';
export type { RecordTotal } from '../../../src/portal/developer/record-total.ts';
export type {
  ListedRequest as RequestSummary,
  RequestStoryRecord as RequestTrace,
} from '../../../src/portal/developer/request-api.ts';
export type { VerificationDetail } from '../../../src/portal/developer/verification-api.ts';
export type { OwnGuardHoldRecord as OwnGuardHold } from '../../../src/portal/operator/guard-hold-api.ts';
export type { InboxItem as InboxText } from '../../../src/sandbox/inbox-api.ts';
export type { Payment } from '../../../src/verify/assurance/payment.ts';
export type { VerificationRecord as Verification } from '../../../src/verify/verification-record.ts';

export type TimelineEntry = MessageDetail['timeline'][number];

export type Usage = UsageRecord;
export type ApiUsage = Usage['data'][number];
