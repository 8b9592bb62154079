import { type DataPdu, type DeliverPdu, emptySubmit, findTlv, type Tlv, tlvTags } from '../../smpp/pdu.ts';
import { readDelivered } from '../../smpp/receipt.ts';
import { shownCarrierId } from '../carrier/id.ts';
import { receiptWords } from './receipt-words.ts';

/** A receipt in the log, parsed only when an operator reads it: parsing every one would cost too much. */
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

/** Undefined for a text of a phone. Octets are copied, because they share the memory of the socket's chunk. */
export function keepReceipt(pdu: DeliverPdu | DataPdu): KeptReceipt | undefined {
  const { esmClass, dataCoding } = pdu;
  if ((esmClass & receiptKinds) === 0 && findTlv(pdu.tlvs, tlvTags.receiptedMessageId) === undefined) return undefined;
  const short = pdu.command === 'deliver_sm' ? pdu.shortMessage : noOctets;
  const octets = short.length > 0 ? short : (findTlv(pdu.tlvs, tlvTags.messagePayload) ?? noOctets);
  const tlvs: Tlv[] = [];
  for (const { tag, value } of pdu.tlvs) if (shownTags.includes(tag)) tlvs.push({ tag, value: copyOf(value) });
  return { esmClass, dataCoding, octets: copyOf(octets), tlvs };
}

function copyOf(octets: Buffer): Buffer {
  return Buffer.from(octets.length > mostOctets ? octets.subarray(0, mostOctets) : octets);
}

const noOctets = Buffer.alloc(0);

/** The id that a receipt names, in its TLV or else in its text, and its state and error in the carrier's own words. */
export function readKeptReceipt({ octets, ...kept }: KeptReceipt): { id: string | null; words: string | null } {
  const delivered = readDelivered({ ...emptySubmit, ...kept, shortMessage: octets }, { sniff: false });
  if (delivered.kind !== 'receipt') return { id: null, words: null };
  return { id: shownCarrierId(delivered.carrierMessageIds[0] ?? null), words: receiptWords(delivered, kept.tlvs) };
}
