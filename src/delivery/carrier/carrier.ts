import type { SendingChannel } from '../../messages/channel.ts';
import type { Lane, MessageErrorCode, ReceiptOutcome } from '../../messages/message.ts';
import type { CarrierId } from './id.ts';

/** The name and key of the sandbox's carrier, whose phones are virtual. */
export const sandboxCarrier = 'sandbox';

/** How a code goes by another channel than `sms`: carriers fill templates of their own with it, or let a voice read it. */
export interface CodeWay {
  channel: SendingChannel;
  code: string;
  /** The language of the text, like `en` or `zh-Hans`. */
  language: string;
  /** What a call says, in English: for a carrier whose voices do not speak the language. */
  inEnglish?: string;
}

/** A text rendered for sending. */
export interface OutgoingText {
  messageId: string;
  attempt: number;
  applicationId: string;
  lane: Lane;
  /** A verification's text: without an answer it soon goes to another carrier, since a second copy does no harm. */
  isCode: boolean;
  to: string;
  from: string;
  text: string;
  /** Set for a code that goes by another channel than `sms`. */
  way?: CodeWay | undefined;
  /** The id of a registered template, where a country requires one; null for most texts. */
  templateId: string | null;
  expiresAtMs: number;
  /** The known states of the parts, if the text was tried before; empty at first. */
  parts: readonly PartState[];
  /** The form of those parts; null if there are none. All parts need the same form, or no phone can join them. */
  form: string | null;
  /** The `traceparent` of its submit, for carriers that take headers. Undefined unless its trace is sampled. */
  traceparent?: string;
}

/** A part of a long text. A part that was never submitted, or that the carrier did not take, has no state. */
export interface PartState<Id extends string = string> {
  /** From 1. */
  part: number;
  state: 'accepted' | 'in_doubt';
  carrierMessageId: Id | null;
  receiptKey: Id | null;
}

/** The parts of a text that takes more than one submit. */
export interface LongText<Id extends string = string> {
  total: number;
  /** How the text was cut and written, in the carrier's own words. */
  form: string;
  /** Number of delivered parts that make the text delivered: all, or one if the carrier reports only one. */
  needed: number;
  parts: PartState<Id>[];
}

/**
 * A carrier's answer to a text:
 * - `accepted`: the carrier has it. Receipts name it by `receiptKey`.
 * - `not_sent`: the text did not leave. It is requeued unchanged, and due after `afterMs` if that is given.
 * - `retry`: not now. `elsewhere` says that another carrier may take it, `account` that the account does not work at all.
 * - `throttled`: the carrier works and wants fewer texts, so the pauses do not grow.
 * - `never`: refused for good.
 * - `in_doubt`: no usable answer, so it may have arrived. `silent`: the connection is open, and the answer may still come.
 *
 * `reported`: the error in the carrier's own words, like `0x45: submit failed`.
 */
export type SubmitResult = (
  | { outcome: 'accepted'; carrierMessageId: string; receiptKey?: string; details?: AcceptedDetails }
  | { outcome: 'not_sent'; afterMs?: number }
  | { outcome: 'retry'; error: MessageErrorCode; afterMs?: number; elsewhere?: boolean; account?: boolean }
  | { outcome: 'throttled'; afterMs?: number }
  | { outcome: 'never'; error: MessageErrorCode }
  | { outcome: 'in_doubt'; silent?: boolean }
) & { long?: LongText; reported?: string | undefined };

/** Details that a provider returns for a text that it accepted. */
export interface AcceptedDetails {
  parts?: number;
  /** A decimal number, as the provider wrote it. */
  price?: string;
  currency?: string;
  /** The phone's network, like 23410. */
  network?: string;
}

export type Answer = (index: number, result: SubmitResult) => void;

/**
 * Reports the progress of a text: it is written to the network, it waits here again (only the time in between is the
 * carrier's), or the carrier throttled a submit that is repeated here, with the words of its answer.
 */
export type Progress = (index: number, state: 'written' | 'waits' | 'throttled', reported?: string) => void;

/** How many texts of each lane a carrier takes now. */
export type Capacity = Record<Lane, number>;

/** Sends texts to phones. */
export interface Carrier {
  /** Names its queue. */
  readonly key: string;
  /** Names the account that ids in receipts belong to. It changes when the carrier is connected to another account. */
  readonly account: string;
  readonly submitTimeoutMs: number;
  /** True if receipts repeat our message id, so that the carrier's own id need not be kept. */
  readonly repeatsMessageId: boolean;
  /** False where the settings turn receipts off: then unmatched receipts are not kept. */
  readonly awaitsReceipts?: boolean | undefined;
  /** True if `capacity` falls to 0 while the carrier does not work. Otherwise the worker finds that out by failures. */
  readonly watchesItself: boolean;
  /** What to do with a plain text in doubt: send it again after a wait for a late answer or a receipt, or give it up. */
  readonly onDoubt: { resend: boolean; afterMs: number } | undefined;
  /** True for a deleted carrier: its texts go to others. */
  readonly isClosed?: boolean;
  /** True if the carrier itself answers people who text a stop, start or help word: then we do not. */
  readonly confirmsOptOuts?: boolean | undefined;
  /** Maximum texts that a worker may claim now: other workers cannot send a claimed text. */
  capacity(): Capacity;
  /** The rest of the pause that the carrier asked for; 0 without one. */
  throttledMs?(): number;
  /**
   * Calls `answer` once for each text, by its index; after `in_doubt` a late answer may follow. Resolves when all are
   * answered. If it throws or takes longer than `submitTimeoutMs`, the texts without an answer are in doubt. `progress`
   * reports written texts, so that the wait of a text here does not count as the carrier's silence.
   */
  submit(texts: OutgoingText[], answer: Answer, progress?: Progress): Promise<void>;
  /**
   * Starts reporting receipts. They may come early, late, twice, out of order, or for unknown messages. The carrier calls
   * `onCapacity` when it takes texts again after a capacity of 0, and `receiveInbound` with what phones send us.
   */
  start(receive: ReceiveReceipts, onCapacity: () => void, receiveInbound: ReceiveInbound): void;
  stop(): Promise<void>;
}

export interface Receipt {
  /** The id as the carrier writes it. */
  carrierMessageId: string;
  /** The keys that its text may have been kept under; empty if the carrier repeats our id. */
  keys: string[];
  /**
   * The numbers in the receipt, as digits: the phone's, and our sender's if the sender is a number. Empty if there are none.
   * `*` stands for a digit that the carrier hides.
   */
  numbers: string[];
  /** Our id, if the carrier returns it: it finds a message whose acceptance was never recorded. */
  messageId: string | null;
  outcome: ReceiptOutcome;
  error: MessageErrorCode | null;
  /** The failure in the carrier's own words, like `stat:UNDELIV err:069`. */
  reported?: string | null | undefined;
}

/** A receipt whose ids can be stored. */
export interface ReadReceipt extends Receipt {
  carrierMessageId: CarrierId;
  keys: CarrierId[];
}

/** Resolves once the receipts are on disk; only then may we acknowledge them to the carrier. */
export type ReceiveReceipts = (receipts: Receipt[]) => Promise<void>;

/** The carrier that texts come from, and its account, which their ids belong to. */
export type InboundSource = Pick<Carrier, 'key' | 'account' | 'confirmsOptOuts'>;

/** A text that a phone sent to a number of ours, or a part of one. */
export interface InboundText {
  /** The carrier's id of the text; null if the carrier gives none. */
  carrierMessageId: string | null;
  /** The phone's number: with a plus where the carrier says that it is international, else as the carrier writes it. */
  from: string;
  /** Our number or short code, in the same form. */
  to: string;
  /** UTF-16 as the phone cut it: the halves of a pair may be in two parts. */
  text: string;
  /** Null if the text came whole. */
  part: InboundPart | null;
}

/** Parts of one text have the same numbers, reference, width and total. */
export interface InboundPart {
  reference: number;
  /** The bits of the reference: two phones of different kinds may use the same number at the same time. */
  width: 8 | 16;
  /** From 1. */
  part: number;
  total: number;
}

/** Resolves once the texts are on disk; only then may we acknowledge them to the carrier. */
export type ReceiveInbound = (texts: InboundText[]) => Promise<void>;
