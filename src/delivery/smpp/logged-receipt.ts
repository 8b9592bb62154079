import { shownCarrierId } from '../carrier-id.ts';
import { type DataPdu, type DeliverPdu, emptySubmit, messageOctets, type Tlv, tlvTags } from './pdu.ts';
import { readDelivered } from './receipt.ts';
import { receiptWords } from './receipt-words.ts';

/** What the log keeps of a receipt until an operator reads it: reading every one of them would cost too much. */
export interface KeptReceipt {
  esmClass: number;
  dataCoding: number;
  octets: Buffer;
  tlvs: Tlv[];
}

/** No receipt is longer. */
const mostOctets = 2048;
const receiptKinds = 0x3c;
const shownTags: readonly number[] = [tlvTags.receiptedMessageId, tlvTags.messageState, tlvTags.networkErrorCode];

/** Undefined for a text of a phone. Octets are copied, because they are a piece of what the socket has read. */
export function keepReceipt(pdu: DeliverPdu | DataPdu): KeptReceipt | undefined {
  const { esmClass, dataCoding } = pdu;
  const isReceipt = (esmClass & receiptKinds) !== 0 || pdu.tlvs.some(({ tag }) => tag === tlvTags.receiptedMessageId);
  if (!isReceipt) return undefined;
  const octets = messageOctets({ shortMessage: emptySubmit.shortMessage, ...pdu });
  const tlvs = pdu.tlvs.filter(({ tag }) => shownTags.includes(tag));
  return {
    esmClass,
    dataCoding,
    octets: Buffer.from(octets.subarray(0, mostOctets)),
    tlvs: tlvs.map(({ tag, value }) => ({ tag, value: Buffer.from(value.subarray(0, mostOctets)) })),
  };
}

/** The id that a receipt names, in its TLV or else in its text, and its state and error in the carrier's own words. */
export function readKeptReceipt({ octets, ...kept }: KeptReceipt): { id: string | null; words: string | null } {
  const delivered = readDelivered({ ...emptySubmit, ...kept, shortMessage: octets }, { sniff: false });
  if (delivered.kind !== 'receipt') return { id: null, words: null };
  return { id: shownCarrierId(delivered.carrierMessageIds[0] ?? null), words: receiptWords(delivered, kept.tlvs) };
}
