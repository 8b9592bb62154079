// Tests: test/smpp-server/receipts.test.ts
import type { MessageErrorCode, MessageStatus } from '../messages/message.ts';
import { encodeText, fits } from '../smpp/charset.ts';
import { emptySubmit, type SubmitFields, tlvTags } from '../smpp/pdu.ts';
import { writeReceiptDate } from './submit-times.ts';

/** How receipts and query_sm write a status: the word, and the number of the TLV message_state. */
const states: Record<MessageStatus, { stat: string; number: number }> = {
  scheduled: { stat: 'ACCEPTD', number: 6 },
  queued: { stat: 'ENROUTE', number: 1 },
  sent: { stat: 'ENROUTE', number: 1 },
  delivered: { stat: 'DELIVRD', number: 2 },
  undelivered: { stat: 'UNDELIV', number: 5 },
  failed: { stat: 'REJECTD', number: 8 },
  expired: { stat: 'EXPIRED', number: 3 },
  canceled: { stat: 'DELETED', number: 4 },
  unknown: { stat: 'UNKNOWN', number: 7 },
};

/** `err` of a receipt and error_code of a query: the contract lists them. */
const errorNumbers: Record<MessageErrorCode, number> = {
  invalid_destination: 1,
  unreachable: 2,
  blocked_by_carrier: 3,
  blocked_by_recipient: 4,
  content_rejected: 5,
  sender_rejected: 6,
  carrier_unavailable: 7,
  expired: 8,
  unknown: 9,
  // Only codes that go by other channels than `sms` have these errors.
  no_answer: 9,
  busy: 9,
  not_on_channel: 9,
};
/** A part whose text never came together. */
export const incompleteError = 10;

export function stateNumberOf(status: MessageStatus): number {
  return states[status].number;
}

export function errorNumberOf(code: MessageErrorCode | null): number {
  return code === null ? 0 : errorNumbers[code];
}

const [isReceipt, isIntermediate] = [0x04, 0x20];

export interface Receipt {
  id: string;
  /** The phone's number, and the sender of the text. */
  to: string;
  from: string;
  submittedAtMs: number;
  changedAtMs: number;
  status: MessageStatus;
  error: number;
  /** Null once it is masked. */
  body: string | null;
}

/** The deliver_sm that reports a text, from the phone to the sender: the text of the standard, and its TLVs. */
export function toReceiptPdu(receipt: Receipt): SubmitFields {
  const { id, to, from, submittedAtMs, changedAtMs, status, error, body } = receipt;
  const { stat, number } = states[status];
  const dates = `submit date:${writeReceiptDate(submittedAtMs)} done date:${writeReceiptDate(changedAtMs)}`;
  const delivered = status === 'delivered' ? '001' : '000';
  const err = String(error).padStart(3, '0');
  const text = `id:${id} sub:001 dlvrd:${delivered} ${dates} stat:${stat} err:${err} text:${echoOf(body)}`;
  return {
    ...emptySubmit,
    ...addressesOf(to, from),
    esmClass: status === 'sent' ? isIntermediate : isReceipt,
    shortMessage: Buffer.from(text, 'latin1'),
    tlvs: [
      { tag: tlvTags.receiptedMessageId, value: Buffer.from(`${id}\0`, 'latin1') },
      { tag: tlvTags.messageState, value: Buffer.of(number) },
    ],
  };
}

/** The first 20 characters, in ASCII: programs read the text of a receipt in many encodings. */
function echoOf(body: string | null): string {
  return [...(body ?? '').slice(0, 20)].map((each) => (/^[\x20-\x7e]$/.test(each) ? each : '?')).join('');
}

const longestShortMessage = 254;
/** A whole number of UCS-2 characters. Longer texts, which come by HTTP and never from a phone, are cut to fit a PDU. */
const longestPayload = 65_534;

/** The deliver_sm of a text from a phone. A long one is in message_payload. */
export function toInboundPdu(text: { from: string; to: string; body: string }): SubmitFields {
  const isGsm = fits(text.body, 'gsm7');
  const octets = encodeText(text.body, isGsm ? 'gsm7' : 'ucs2').subarray(0, longestPayload);
  const isShort = octets.length <= longestShortMessage;
  return {
    ...emptySubmit,
    ...addressesOf(text.from, text.to),
    dataCoding: isGsm ? 0 : 8,
    shortMessage: isShort ? octets : emptySubmit.shortMessage,
    tlvs: isShort ? [] : [{ tag: tlvTags.messagePayload, value: octets }],
  };
}

function addressesOf(source: string, destination: string) {
  const [from, to] = [addressOf(source), addressOf(destination)];
  return {
    ...{ sourceTon: from.ton, sourceNpi: from.npi, source: from.address },
    ...{ destinationTon: to.ton, destinationNpi: to.npi, destination: to.address },
  };
}

/** International numbers are TON 1 without their plus, short codes TON 3, names TON 5. A masked number keeps its digits. */
function addressOf(text: string): { ton: number; npi: number; address: string } {
  if (text.startsWith('+')) return { ton: 1, npi: 1, address: text.replaceAll(/[^0-9]/g, '').slice(0, 20) };
  if (/^[0-9]+$/.test(text))
    return { ton: text.length <= 8 ? 3 : 0, npi: text.length <= 8 ? 0 : 1, address: text.slice(0, 20) };
  return { ton: 5, npi: 0, address: text.replaceAll(/[^\x20-\x7e]/g, '?').slice(0, 20) };
}
