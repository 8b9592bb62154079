import type { components, operations } from './openapi.ts';

type Schemas = components['schemas'];
/** The filters of a list, without its paging. An undefined filter is left out. */
type FiltersOf<Operation extends { parameters: { query?: unknown } }> = Loose<
  Omit<NonNullable<Operation['parameters']['query']>, 'cursor'>
>;
type Loose<Fields> = { [Name in keyof Fields]: Fields[Name] | undefined };
/** Today's values, which an editor suggests, and any other text: the service may add values. */
type Open<Known extends string> = Known | (string & {});
/** A record with more exact types for some fields. */
type With<Record, Exact> = Omit<Record, keyof Exact> & Exact;

export type MessageStatus = Open<Schemas['MessageStatus']>;
export type DeliveryErrorCode = Open<Schemas['DeliveryErrorCode']>;
export type DeliveryError = With<Schemas['DeliveryError'], { code: DeliveryErrorCode }>;
export type Encoding = Open<Schemas['Encoding']>;
export type Segments = With<Schemas['Segments'], { encoding: Encoding }>;
export type Message = With<
  Schemas['Message'],
  { status: MessageStatus; error: DeliveryError | null; segments: Segments }
>;
export type NewMessage = With<Schemas['MessageToSend'], { channel?: Open<'sms'> }>;
/** A text of a batch that was refused, and why. */
export type RefusedMessage = Schemas['RefusedMessage'];
export type MessageBatch = With<Schemas['Batch'], { data: (Message | RefusedMessage)[] }>;
export type MessagePreview = With<Schemas['Preview'], { segments: Segments; with_smart_encoding: Segments }>;
export type MessageFilters = FiltersOf<operations['listSms']>;
export type InboundText = With<Schemas['InboundText'], { segments: Segments }>;
export type InboundFilters = FiltersOf<operations['listInboundSms']>;
export type OptOut = With<Schemas['OptOut'], { source: Open<Schemas['OptOutSource']> }>;
export type OptOutFilters = FiltersOf<operations['listSmsOptOuts']>;

export type VerificationStatus = Open<Schemas['VerificationStatus']>;
export type VerificationReason = Open<Schemas['VerificationReason']>;
/** The newest text of a verification. */
export type VerificationDelivery = With<
  Schemas['VerificationDelivery'],
  { status: MessageStatus; error: DeliveryError | null }
>;
interface VerificationFields {
  status: VerificationStatus;
  reason: VerificationReason | null;
  delivery: VerificationDelivery | null;
}
export type Verification = With<Schemas['ReadVerification'], VerificationFields>;
export type NewVerification = With<
  Schemas['VerificationToStart'],
  { channel?: Open<'sms' | 'voice' | 'whatsapp' | 'inbound'> }
>;
export type StartedVerification = With<Schemas['StartedVerification'], VerificationFields>;
export type CheckedVerification = With<Schemas['CheckedVerification'], VerificationFields>;
export type CanceledVerification = With<Schemas['Verification'], VerificationFields>;
export type ReportedVerification = With<Schemas['Verification'], VerificationFields>;
export type Payment = Schemas['Payment'];
export type NumberToCheck = Schemas['NumberToCheck'];
export type VerificationOutcome = Schemas['OutcomeToReport']['outcome'];
export type VerificationFilters = FiltersOf<operations['listVerifications']>;
export type GuardDecision = With<
  Schemas['GuardDecision'],
  { decision: Open<Schemas['GuardVerdict']>; reason: VerificationReason | null }
>;
