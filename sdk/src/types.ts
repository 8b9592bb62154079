import type { components, operations } from './openapi.ts';

type Schemas = components['schemas'];
/** What a list can be asked for, but for its pages. A filter that is undefined is left out. */
type FiltersOf<Operation extends { parameters: { query?: unknown } }> = Loose<
  Omit<NonNullable<Operation['parameters']['query']>, 'cursor'>
>;
type Loose<Fields> = { [Name in keyof Fields]: Fields[Name] | undefined };

export type Message = Schemas['Message'];
export type NewMessage = Schemas['MessageToSend'];
export type MessageBatch = Schemas['Batch'];
/** A text of a batch that was not accepted, and why. */
export type RefusedMessage = Schemas['RefusedMessage'];
export type MessagePreview = Schemas['Preview'];
export type MessageFilters = FiltersOf<operations['listSms']>;
export type InboundText = Schemas['InboundText'];
export type InboundFilters = FiltersOf<operations['listInboundSms']>;
export type OptOut = Schemas['OptOut'];
export type OptOutFilters = FiltersOf<operations['listSmsOptOuts']>;
export type Verification = Schemas['ReadVerification'];
export type NewVerification = Omit<Schemas['VerificationToStart'], 'channel'> & { channel?: string };
export type StartedVerification = Schemas['StartedVerification'];
export type CheckedVerification = Schemas['CheckedVerification'];
export type CanceledVerification = Schemas['Verification'];
export type VerificationFilters = FiltersOf<operations['listVerifications']>;
export type GuardDecision = Schemas['GuardDecision'];
/** The service may learn more of them. */
export type EventType = Schemas['Event']['type'];
export type Event = Omit<Schemas['Event'], 'type'> & { type: EventType | (string & {}) };
