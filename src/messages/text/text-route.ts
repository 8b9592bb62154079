import type { Api } from '../../http/route.ts';
import type { SendingChannel } from '../channel.ts';

/** The facts that choose a text's carrier. */
export interface TextFacts {
  messageId: string;
  applicationId: string;
  api: Api;
  /** Absent for `sms`. */
  channel?: SendingChannel | undefined;
  to: string;
  from: string;
  /** Texts of verifications and of high priority ignore the hours of a route. */
  urgent: boolean;
  /** Names of the carriers that the sender is registered with; null: any. */
  senderCarriers: readonly string[] | null;
  /** The application holds this sender: a verification keeps it, whatever the route says. */
  holdsSender: boolean;
  /** Carriers that had a text of this verification before. */
  used: readonly string[];
  /** When it may leave. */
  sendAtMs: number;
}

/** The chosen carrier of a text. */
export interface TextRoute {
  carrier: string;
  /** The sender that the route substitutes for the caller's. */
  sentAs: string | null;
  /** When the hours of the route begin, if they defer the text; else null. */
  deferredUntilMs: number | null;
  /** Undefined where there was nothing to choose: no table, and every carrier up. */
  routing: Routing | undefined;
}

/** Stored with the text, so that the choice can be explained later. */
export interface Routing {
  /** Version of the table; null with an empty one. */
  version: number | null;
  /** The rule's index in the table. */
  rule: number | null;
  /** Other facts of the decision; null if every carrier was up and none was used before. */
  given: RoutingGiven | null;
}

/** Empty lists are left out. */
export interface RoutingGiven {
  /** Absent for `sms`. */
  channel?: SendingChannel;
  /** Keys of carriers that could not send, by the reason. */
  down?: string[];
  paused?: string[];
  breaker_open?: string[];
  /** Keys of carriers that had a text of this verification before. */
  used?: string[];
  /** Names of the carriers that the sender was registered with. */
  sender_carriers?: string[];
}

/** Chooses the carrier of a text. `no_carrier`: none is connected. `unroutable`: no route leads to the number. */
export type RouteText = (facts: TextFacts) => TextRoute | 'no_carrier' | 'unroutable';
