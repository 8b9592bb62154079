import type { components } from './openapi.ts';
import type { CanceledVerification, InboundText, Message, OptOut } from './types.ts';

type Told = components['schemas']['Event'];

export type EventType = Told['type'];
type Of<Type extends string, Data> = Omit<Told, 'type' | 'data'> & { type: Type; data: Data };

declare const notKnown: unique symbol;
/** A type that this version of the client does not know. A comparison with a known type never leads here. */
export type UnknownEventType = `${string}.${string}` & { readonly [notKnown]: true };

/** What became of a text that you sent. */
export type MessageEvent = Of<Exclude<Extract<EventType, `message.${string}`>, 'message.received'>, Message>;
/** A person sent a text to a number of yours. */
export type InboundEvent = Of<'message.received', InboundText>;
/** How a verification ended. */
export type VerificationEvent = Of<Extract<EventType, `verification.${string}`>, CanceledVerification>;
/** A person wants no more texts, or wants them again. */
export type RecipientEvent = Of<Extract<EventType, `recipient.${string}`>, OptOut>;
/** Sent on demand, to see whether a webhook arrives. */
export type TestEvent = Of<'webhook.test', Record<string, unknown>>;
/** The service may learn more types: ignore what you do not know. */
export type UnknownEvent = Of<UnknownEventType, Record<string, unknown>>;

/** One change of a record. Compare `type`, and `data` has the type of its record. */
export type Event = MessageEvent | InboundEvent | VerificationEvent | RecipientEvent | TestEvent | UnknownEvent;
