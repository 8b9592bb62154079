// Tests: src/smpp-server/submit-fields.test.ts
import type { Priority } from '../messages/message-service.ts';
import { numberProblem } from '../messages/numbers/phone-number.ts';
import { senderProblem } from '../messages/numbers/sender.ts';
import { type Coding, decodeText } from '../smpp/charset.ts';
import { findTlv, type SubmitFields, statuses, tlvTags } from '../smpp/pdu.ts';
import { hasHeader, headerOf, holdsOnlyParts, partOfHeader, partOfTlvs, type TextPart } from '../smpp/user-data.ts';
import { readSmppTime } from './submit-times.ts';

/** Why a request was refused: the command_status, and a sentence that names what would be right. */
export interface Refusal {
  status: number;
  why: string;
}

export function refuse(status: number, why: string): Refusal {
  return { status, why };
}

export function isRefusal(found: object): found is Refusal {
  return 'why' in found;
}

/**
 * The receipts that registered_delivery asks for: `a` of every end, `f` of failures, `s` of success; in upper case also when
 * a carrier has taken the text. `E`: only that, which older nodes read as `F`. Empty for none.
 */
export type ReceiptWish = '' | 'a' | 'f' | 's' | 'A' | 'F' | 'S' | 'E';

/** Whether the sender asked to hear that a text is not delivered. */
export function wantsFailure(wish: string): boolean {
  return ['a', 'A', 'f', 'F'].includes(wish);
}

/** A submit_sm as this service understands it. */
export interface SubmitRequest {
  to: string;
  from: string;
  coding: Coding;
  /** The text without its header. */
  octets: Buffer;
  part: TextPart | null;
  validitySeconds: number;
  sendAtMs: number | null;
  wish: ReceiptWish;
  priority: Priority;
  reference: string | null;
}

export interface ReadOptions {
  nowMs: number;
  environment: 'sandbox' | 'production';
  /** Whether an operator allows high priority to the application. */
  highPriority: boolean;
}

/** Statuses whose meaning differs by field are in the contract, section 20. */
export function readSubmit(pdu: SubmitFields, options: ReadOptions): SubmitRequest | Refusal {
  const { nowMs, environment, highPriority } = options;
  const to = readDestination(pdu, environment);
  if (typeof to === 'object') return to;
  const from = readSource(pdu);
  const problem = senderProblem(from);
  if (problem !== undefined) return refuse(statuses.invalidSource, `source_addr ${problem}`);
  const text = readText(pdu);
  if (isRefusal(text)) return text;
  const times = readTimes(pdu, nowMs);
  if (isRefusal(times)) return times;
  if (pdu.replaceIfPresent !== 0)
    return refuse(statuses.replaceFailed, 'replace_if_present_flag must be 0: replacing a text is not supported');
  const given = findTlv(pdu.tlvs, tlvTags.userMessageReference);
  return {
    to,
    from,
    coding: text.coding,
    octets: text.octets,
    part: text.part,
    validitySeconds: times.validitySeconds,
    sendAtMs: times.sendAtMs,
    wish: wishOf(pdu.registeredDelivery),
    priority: pdu.priority >= 2 && highPriority ? 'high' : 'normal',
    reference: given?.length === 2 ? String(given.readUInt16BE()) : null,
  };
}

const international = /^(?:\+|00)?([1-9][0-9]{6,14})$/;

function readDestination(pdu: SubmitFields, environment: 'sandbox' | 'production'): string | Refusal {
  const digits = pdu.destinationTon <= 1 ? international.exec(pdu.destination)?.[1] : undefined;
  if (digits === undefined)
    return refuse(
      statuses.invalidDestination,
      'destination_addr must be an international number: TON 0 or 1, and 7 to 15 digits with the country code',
    );
  const to = `+${digits}`;
  const problem = numberProblem(to, environment);
  return problem === undefined ? to : refuse(statuses.invalidDestination, `destination_addr ${problem}`);
}

const internationalTon = 1;

/** With a plus if its type says that it is international. */
function readSource({ source, sourceTon }: SubmitFields): string {
  const digits = sourceTon === internationalTon ? international.exec(source)?.[1] : undefined;
  return digits === undefined ? source : `+${digits}`;
}

const codings: Readonly<Record<number, Coding>> = { 0: 'gsm7', 1: 'gsm7', 3: 'latin1', 8: 'ucs2' };
/** The bits of esm_class that say what kind of message it is; a text has none of them. */
const typeBits = 0x3c;

function readText(pdu: SubmitFields): Pick<SubmitRequest, 'coding' | 'octets' | 'part'> | Refusal {
  const { esmClass, dataCoding, shortMessage, tlvs } = pdu;
  if ((esmClass & typeBits) !== 0)
    return refuse(
      statuses.invalidEsmClass,
      'esm_class must have no message type: send 0, or 0x40 with a user data header',
    );
  const payload = findTlv(tlvs, tlvTags.messagePayload);
  if (payload !== undefined && shortMessage.length > 0)
    return refuse(statuses.invalidMessageLength, 'short_message must be empty where message_payload has the text');
  const whole = payload ?? shortMessage;
  const coding = codings[dataCoding];
  if (coding === undefined)
    return refuse(statuses.invalidDataCoding, 'data_coding must be 0 or 1 (GSM-7), 3 (Latin-1) or 8 (UCS-2)');
  const header = (esmClass & hasHeader) === 0 ? null : headerOf(whole);
  if (header === undefined || (header !== null && !holdsOnlyParts(header)))
    return refuse(
      statuses.invalidEsmClass,
      'the user data header must be complete, and have only concatenation elements (part numbers)',
    );
  const part = (header === null ? null : partOfHeader(header)) ?? partOfTlvs(tlvs);
  const octets = header === null ? whole : whole.subarray(1 + header.length);
  if (octets.length === 0) {
    const status = pdu.defaultMessageId === 0 ? statuses.invalidMessageLength : statuses.invalidDefaultMessage;
    return refuse(status, 'short_message or message_payload must have the text');
  }
  if (part !== null && part.total > mostParts)
    return refuse(statuses.invalidMessageLength, `a text must have at most ${mostParts} parts`);
  if (coding === 'gsm7' && hasHighBit(octets))
    return refuse(
      statuses.invalidDataCoding,
      'data_coding 0 and 1 mean GSM-7, one septet in each octet; this text has octets above 0x7F: set data_coding to 3 or 8',
    );
  if (coding === 'ucs2' && octets.length % 2 === 1)
    return refuse(statuses.invalidMessageLength, 'a text in UCS-2 must have an even number of octets');
  return { coding, octets, part };
}

/** Ten segments in the shortest parts that are usual: 134 octets. */
export const mostParts = 12;

function hasHighBit(octets: Buffer): boolean {
  for (let at = 0; at < octets.length; at++) if ((octets[at] ?? 0) > 0x7f) return true;
  return false;
}

const [shortestSeconds, longestSeconds, usualSeconds] = [60, 259_200, 86_400];
const latestMs = 7 * 86_400_000;
const usualTimes = Object.freeze({ validitySeconds: usualSeconds, sendAtMs: null });

function readTimes(pdu: SubmitFields, nowMs: number): Pick<SubmitRequest, 'validitySeconds' | 'sendAtMs'> | Refusal {
  if (pdu.scheduleDeliveryTime === '' && pdu.validityPeriod === '') return usualTimes;
  const wantedMs = readSmppTime(pdu.scheduleDeliveryTime, nowMs);
  if (wantedMs === undefined || (wantedMs !== null && wantedMs > nowMs + latestMs))
    return refuse(statuses.invalidSchedule, 'schedule_delivery_time must be YYMMDDhhmmsstnnp, at most 7 days ahead');
  const sendAtMs = wantedMs !== null && wantedMs > nowMs ? wantedMs : null;
  const endsMs = readSmppTime(pdu.validityPeriod, nowMs);
  const leftMs = endsMs === null ? usualSeconds * 1000 : (endsMs ?? 0) - (sendAtMs ?? nowMs);
  if (endsMs === undefined || leftMs <= 0)
    return refuse(statuses.invalidValidity, 'validity_period must be YYMMDDhhmmsstnnp, after the text is to be sent');
  const validitySeconds = Math.min(longestSeconds, Math.max(shortestSeconds, Math.ceil(leftMs / 1000)));
  return { validitySeconds, sendAtMs };
}

function wishOf(registeredDelivery: number): ReceiptWish {
  const wish = (['', 'a', 'f', 's'] as const)[registeredDelivery & 0x03] ?? '';
  if ((registeredDelivery & 0x10) === 0) return wish;
  return wish === '' ? 'E' : (wish.toUpperCase() as ReceiptWish);
}

export function textOf({ coding, octets }: Pick<SubmitRequest, 'coding' | 'octets'>): string {
  return decodeText(octets, coding);
}
