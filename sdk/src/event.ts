import type { components } from './openapi.ts';
import type { CanceledVerification, InboundText, Message, OptOut } from './types.ts';

type Told = components['schemas']['Event'];

export type EventType = Told['type'];
type Of<Type extends string, Data> = Omit<Told, 'type' | 'data'> & { type: Type; data: Data };

declare const notKnown: unique symbol;
/** A type that this version of the client does not know. A comparison with a known type excludes it. */
export type UnknownEventType = `${string}.${string}` & { readonly [notKnown]: true };

/** The status of a text that you sent. */
export type MessageEvent = Of<Exclude<Extract<EventType, `message.${string}`>, 'message.received'>, Message>;
/** A person sent a text to a number of yours. */
export type InboundEvent = Of<'message.received', InboundText>;
/** How a verification ended. */
export type VerificationEvent = Of<Extract<EventType, `verification.${string}`>, CanceledVerification>;
/** A person opted out, or in again. */
export type RecipientEvent = Of<Extract<EventType, `recipient.${string}`>, OptOut>;
/** Sent on demand, to test a webhook. */
export type TestEvent = Of<'webhook.test', Record<string, unknown>>;
/** The service may add types: ignore unknown ones. */
export type UnknownEvent = Of<UnknownEventType, Record<string, unknown>>;

/** One change of a record. Compare `type`, and `data` has the type of its record. */
export type Event = MessageEvent | InboundEvent | VerificationEvent | RecipientEvent | TestEvent | UnknownEvent;
