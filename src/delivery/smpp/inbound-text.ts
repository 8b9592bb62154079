import { type CharsetName, charsetOf, decodeText } from '../../smpp/charset.ts';
import { findTlv, messageOctets, type SubmitFields, type Tlv, tlvTags } from '../../smpp/pdu.ts';
import type { InboundPart, InboundText } from '../carrier/carrier.ts';

type Deliver = Pick<
  SubmitFields,
  'esmClass' | 'dataCoding' | 'shortMessage' | 'tlvs' | 'source' | 'sourceTon' | 'destination' | 'destinationTon'
>;

const hasHeader = 0x40;
const internationalTon = 1;

/** Reads a text from a phone. Never throws: reads as much of a malformed text as it can. */
export function readInboundText(deliver: Deliver, { charsets }: { charsets: readonly CharsetName[] }): InboundText {
  const octets = messageOctets(deliver);
  const header = (deliver.esmClass & hasHeader) === 0 ? undefined : headerOf(octets);
  const headerOctets = header === undefined ? 0 : 1 + header.length;
  const part = (header === undefined ? null : partOfHeader(header)) ?? partOfTlvs(deliver.tlvs);
  return {
    carrierMessageId: null,
    from: readAddress(deliver.source, deliver.sourceTon),
    to: readAddress(deliver.destination, deliver.destinationTon),
    text: decodeBody(octets.subarray(headerOctets), deliver.dataCoding, charsets, headerOctets),
    part,
  };
}

/** The user data header without its length; undefined if it is longer than the text. */
function headerOf(octets: Buffer): Buffer | undefined {
  const length = octets[0];
  return length === undefined || length + 1 > octets.length ? undefined : octets.subarray(1, 1 + length);
}

const [part8, part16] = [0x00, 0x08];

/** Information elements are an id, a length and data (3GPP TS 23.040, section 9.2.3.24). Others than parts are skipped. */
function partOfHeader(header: Buffer): InboundPart | null {
  for (let at = 0; at + 2 <= header.length; ) {
    const [id, length] = [header[at], header[at + 1] ?? 0];
    const data = header.subarray(at + 2, at + 2 + length);
    at += 2 + length;
    if (data.length < length) return null;
    if (id === part8 && length === 3) return toPart(data.readUInt8(0), 8, data.readUInt8(1), data.readUInt8(2));
    if (id === part16 && length === 4) return toPart(data.readUInt16BE(0), 16, data.readUInt8(2), data.readUInt8(3));
  }
  return null;
}

function partOfTlvs(tlvs: readonly Tlv[]): InboundPart | null {
  const [reference, total, part] = [tlvTags.sarReference, tlvTags.sarTotal, tlvTags.sarPart].map((tag) =>
    findTlv(tlvs, tag),
  );
  if (reference?.length !== 2 || total?.length !== 1 || part?.length !== 1) return null;
  return toPart(reference.readUInt16BE(0), 16, total.readUInt8(0), part.readUInt8(0));
}

/** A total of one, or a number beyond the total, marks no part. */
function toPart(reference: number, width: 8 | 16, total: number, part: number): InboundPart | null {
  return total > 1 && part >= 1 && part <= total ? { reference, width, part, total } : null;
}

/** The meaning of data_coding beyond the codings that we send (SMPP 3.4, section 5.2.19). */
const otherCodings: Readonly<Record<number, string>> = {
  5: 'shift_jis',
  6: 'iso-8859-5',
  7: 'iso-8859-8',
  10: 'iso-2022-jp',
  14: 'euc-kr',
};

function decodeBody(octets: Buffer, dataCoding: number, charsets: readonly CharsetName[], headerOctets: number) {
  const other = otherCodings[dataCoding];
  if (other !== undefined) return new TextDecoder(other).decode(octets);
  if (isUcs2(dataCoding)) return decodeText(octets, 'ucs2');
  if (isOctets(dataCoding)) return decodeText(octets, 'latin1');
  const own = charsets.map(charsetOf).find((charset) => charset.dataCoding === 0)?.coding ?? 'gsm7';
  return decodeText(octets, own, headerOctets);
}

/** 8, or a group of GSM's data coding scheme with this alphabet (3GPP TS 23.038, section 4). */
function isUcs2(dataCoding: number): boolean {
  return dataCoding === 8 || (isGeneralGroup(dataCoding) && (dataCoding & 0x0c) === 0x08) || dataCoding >> 4 === 0xe;
}

function isOctets(dataCoding: number): boolean {
  if (dataCoding < 0x10) return [1, 2, 3, 4].includes(dataCoding);
  if (dataCoding >> 4 === 0xf) return (dataCoding & 0x04) !== 0;
  return isGeneralGroup(dataCoding) && (dataCoding & 0x0c) === 0x04;
}

function isGeneralGroup(dataCoding: number): boolean {
  return dataCoding >= 0x10 && dataCoding < 0x80;
}

/** With a plus if the carrier says that it is international: some then write 00 or the plus as well. */
function readAddress(address: string, ton: number): string {
  const international = /^(?:\+|00)?([1-9][0-9]{6,14})$/.exec(address)?.[1];
  if (international === undefined) return address;
  return ton === internationalTon || address.startsWith('+') ? `+${international}` : address;
}
