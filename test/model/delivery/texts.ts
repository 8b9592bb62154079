import type { ClaimedText, QueueEntry } from '../../../src/delivery/attempts/queued-text.ts';
import type { PartState } from '../../../src/delivery/carrier/carrier.ts';
import type { MessageStatus } from '../../../src/messages/message.ts';
import type { TextToSend } from '../../../src/messages/text/text-to-send.ts';

/** A code, which is one part, and a plain text of two parts. Both are in the first lane, so that one claim has both. */
export type TextName = 'code' | 'long';
export type CarrierName = 'a' | 'b';

export const textNames: readonly TextName[] = ['code', 'long'];

export const carrierNames: readonly CarrierName[] = ['a', 'b'];
export const partsOf: Record<TextName, number> = { code: 1, long: 2 };

/**
 * Time is in ticks. A tick is a lease, and longer than any wait of the product between two attempts of the first ones:
 * what waits is due at the next tick, and within a tick everything can happen in any order.
 */
export const tickMs = 100_000;
/** Both texts expire at the beginning of this tick. */
export const expiryTick = 2;
/** Every text has its end, or waits for a receipt, when this tick begins: each fault may take a lease. */
export const lastTickOf = ({ mostFaults }: { mostFaults: number }) => expiryTick + Math.max(2, mostFaults);
export const expiresAtMs = expiryTick * tickMs;

/** Waits end with a tick: of a time within it nothing depends. */
export const toTickMs = (ms: number) => Math.ceil(ms / tickMs) * tickMs;

export function newEntry(name: TextName): QueueEntry {
  const counts = { attempt: 0, unanswered: 0, possibleDuplicates: 0, inDoubt: false, moves: 0 };
  return { lane: 0, applicationId: 'app', messageId: name, ...counts };
}

export const nameOf = ({ messageId }: QueueEntry) => messageId as TextName;

const known = new Map<string, TextToSend>();

/** The record, as `findTextsToSend` reads it. */
function messageOf(name: TextName, status: MessageStatus): TextToSend {
  const found = known.get(`${name} ${status}`);
  if (found !== undefined) return found;
  const isCode = name === 'code';
  const message: TextToSend = {
    id: name,
    applicationId: 'app',
    api: isCode ? 'verify' : 'sms',
    verificationId: isCode ? 'verification' : null,
    to: '+447700900123',
    sender: 'ACME',
    sentAs: null,
    body: isCode ? null : 'Hello',
    template: null,
    status,
    segmentCount: partsOf[name],
    expiresAtMs,
  };
  known.set(`${name} ${status}`, message);
  return message;
}

export function claimedText(entry: QueueEntry, status: MessageStatus, parts: readonly PartState[] = []): ClaimedText {
  return { message: messageOf(nameOf(entry), status), entry, parts, form: parts.length === 0 ? null : 'form' };
}

/** What a carrier calls a part that it has: unlike any other submit's. */
export function carrierIdOf(name: TextName, carrier: CarrierName, attempt: number, part: number): string {
  return `${name}/${carrier}/${attempt}/${part}`;
}

export interface WireCopy {
  name: TextName;
  carrier: CarrierName;
  attempt: number;
  part: number;
}

export function readCarrierId(id: string): WireCopy {
  const [name, carrier, attempt, part] = id.split('/');
  return { name: name as TextName, carrier: carrier as CarrierName, attempt: Number(attempt), part: Number(part) };
}
