import { type CharsetName, charsetOf, decodeText } from '../../smpp/charset.ts';
import { messageOctets, type SubmitFields } from '../../smpp/pdu.ts';
import { hasHeader, headerOf, partOfHeader, partOfTlvs } from '../../smpp/user-data.ts';
import type { InboundText } from '../carrier/carrier.ts';

type Deliver = Pick<
  SubmitFields,
  'esmClass' | 'dataCoding' | 'shortMessage' | 'tlvs' | 'source' | 'sourceTon' | 'destination' | 'destinationTon'
>;

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
