import type { ReceiptOutcome } from '../messages/message.ts';
import { decodeText } from './charset.ts';
import { findTlv, messageOctets, type SubmitFields, tlvTags } from './pdu.ts';
import { type ReceiptError, readNetworkError } from './receipt-errors.ts';
import { type ReceiptText, readCommaReceipt, readReceiptText } from './receipt-text.ts';

/** The kind and content of a deliver_sm or data_sm. */
export type Delivered =
  | ({ kind: 'receipt' } & ParsedReceipt)
  /** A text from a phone. */
  | { kind: 'inbound' }
  /** Marked as a receipt, with neither an id nor a state that we can read. */
  | { kind: 'unreadable' };

export interface ParsedReceipt {
  /** The ids as the carrier wrote them: the TLV's, then the text's if it differs. Empty if there is none. */
  carrierMessageIds: string[];
  /** `intermediate`: the text is still on its way; such receipts are only counted. */
  outcome: ReceiptOutcome | 'intermediate';
  /** The state as the carrier named it, for the log: `DELIVRD`, or the number of the TLV. */
  state: string;
  /** False for a state that no list has: it counts as intermediate. */
  isKnownState: boolean;
  error: ReceiptError;
  /**
   * The phone's number and our sender's, in digits, with `*` for those that the carrier hides; without names and short
   * codes. Carriers differ in their order.
   */
  numbers: string[];
}

type Deliver = Pick<
  SubmitFields,
  'esmClass' | 'dataCoding' | 'shortMessage' | 'tlvs' | 'source' | 'sourceTon' | 'destination' | 'destinationTon'
>;

const kindMask = 0x3c;
const receiptKinds: readonly number[] = [0x04, 0x08, 0x10, 0x20];
const intermediateKind = 0x20;
const hasHeader = 0x40;

/**
 * Reads a delivery. It is a receipt if esm_class or the TLV receipted_message_id says so. Its text
 * alone decides only where the carrier's settings say `sniff`, since any phone that texts us could forge one.
 */
export function readDelivered(deliver: Deliver, { sniff }: { sniff: boolean }): Delivered {
  const kind = deliver.esmClass & kindMask;
  const receiptedId = findTlv(deliver.tlvs, tlvTags.receiptedMessageId);
  const isMarked = receiptKinds.includes(kind) || receiptedId !== undefined;
  if (!isMarked && !sniff) return { kind: 'inbound' };
  const text = readText(deliver);
  const fields = readReceiptText(text);
  if (!isMarked) {
    const looksRight = fields.id !== null && fields.stat !== null && outcomes.has(fields.stat.toUpperCase());
    return looksRight ? receiptOf(deliver, fields, undefined) : { kind: 'inbound' };
  }
  const isEmpty = fields.id === null && fields.stat === null;
  return receiptOf(deliver, (isEmpty ? readCommaReceipt(text) : undefined) ?? fields, receiptedId);
}

function receiptOf(deliver: Deliver, text: ReceiptText, receiptedId: Buffer | undefined): Delivered {
  const state = stateOf(findTlv(deliver.tlvs, tlvTags.messageState), text.stat);
  const ids = [receiptedId === undefined ? null : idOf(receiptedId), text.id];
  const carrierMessageIds = [...new Set(ids.filter((id) => id !== null))];
  if (state === undefined && carrierMessageIds.length === 0) return { kind: 'unreadable' };
  const isIntermediate = (deliver.esmClass & kindMask) === intermediateKind;
  return {
    kind: 'receipt',
    carrierMessageIds,
    outcome: isIntermediate ? 'intermediate' : (state?.outcome ?? 'intermediate'),
    state: state?.name ?? '',
    isKnownState: state?.outcome !== undefined,
    error: { code: text.err, network: readNetworkError(findTlv(deliver.tlvs, tlvTags.networkErrorCode)) },
    numbers: numbersOf(deliver),
  };
}

type State = ReceiptOutcome | 'intermediate';

/** message_state, by its number. */
const outcomeOfNumber: readonly State[] = [
  'intermediate', // scheduled
  'intermediate', // on its way
  'delivered',
  'expired',
  'undelivered', // deleted
  'undelivered',
  'intermediate', // accepted
  'unknown',
  'failed', // rejected
  'undelivered', // skipped
];

/** `stat:`, as SMPP cuts the words to seven letters and as carriers write them out. */
const outcomes: ReadonlyMap<string, State> = new Map<string, State>([
  ['DELIVRD', 'delivered'],
  ['DELIVERED', 'delivered'],
  ['DELIVERD', 'delivered'],
  ['DELIVRED', 'delivered'],
  ['EXPIRED', 'expired'],
  ['DELETED', 'undelivered'],
  ['UNDELIV', 'undelivered'],
  ['UNDELIVERED', 'undelivered'],
  ['UNDELIVERABLE', 'undelivered'],
  ['FAILED', 'undelivered'],
  ['SKIPPED', 'undelivered'],
  ['REJECTD', 'failed'],
  ['REJECTED', 'failed'],
  ['UNKNOWN', 'unknown'],
  ['ENROUTE', 'intermediate'],
  ['ACCEPTD', 'intermediate'],
  ['ACCEPTED', 'intermediate'],
  ['SCHEDULED', 'intermediate'],
  ['ACKED', 'intermediate'],
  ['BUFFRED', 'intermediate'],
  ['BUFFERED', 'intermediate'],
]);

/** The TLV has precedence over the text, unless it holds a number that SMPP does not have. */
function stateOf(
  tlv: Buffer | undefined,
  stat: string | null,
): { name: string; outcome?: State | undefined } | undefined {
  // One octet by SMPP 3.4, section 5.3.2.35: in a longer one, its position would be a guess.
  const number = tlv?.length === 1 ? tlv[0] : undefined;
  const byNumber = number === undefined ? undefined : outcomeOfNumber[number];
  if (byNumber !== undefined) return { name: stat ?? String(number), outcome: byNumber };
  if (stat !== null) return { name: stat, outcome: outcomes.get(stat.toUpperCase()) };
  return number === undefined ? undefined : { name: String(number) };
}

const longestId = 64;

function idOf(value: Buffer): string | null {
  const nul = value.indexOf(0);
  const end = nul === -1 ? value.length : nul;
  const id = value.toString('latin1', 0, Math.min(end, longestId)).trim();
  return id === '' ? null : id;
}

/** More octets than any receipt has. */
const mostOctets = 4096;

/** Receipts are ASCII whatever data_coding says, except where it says UCS-2, or every other octet is zero. */
function readText(deliver: Deliver): string {
  const octets = withoutHeader(deliver).subarray(0, mostOctets);
  const [first, second, third, fourth] = octets;
  // Receipts begin with ASCII, so the zeros show the order of the octets.
  if (first !== 0 && second === 0 && third !== 0 && fourth === 0) return octets.toString('utf16le');
  const isWide = deliver.dataCoding === 8 || (octets.length % 2 === 0 && first === 0 && third === 0);
  return decodeText(octets, isWide ? 'ucs2' : 'latin1');
}

function withoutHeader(deliver: Deliver): Buffer {
  const octets = messageOctets(deliver);
  return (deliver.esmClass & hasHeader) === 0 ? octets : octets.subarray(1 + (octets[0] ?? 0));
}

const alphanumericTon = 5;

/** A receipt comes from the phone's number to our sender. Some carriers do not swap the two. */
function numbersOf({ source, sourceTon, destination, destinationTon }: Deliver): string[] {
  return [digitsOf(source, sourceTon), digitsOf(destination, destinationTon)].filter((number) => number !== null);
}

const number = /^[+0-9xX*]{7,21}$/;
/** A masked number with fewer digits says too little. */
const leastDigits = 6;

/** Null for a name or a short code. `*` stands for a digit that the carrier hides. */
function digitsOf(address: string, ton: number): string | null {
  if (ton === alphanumericTon || !number.test(address)) return null;
  if (address.replaceAll(/\D/g, '').length < leastDigits) return null;
  return address.replaceAll('+', '').replaceAll(/[xX]/g, '*');
}
