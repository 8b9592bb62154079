// Tests: src/delivery/smpp/inbound-text.test.ts, src/smpp-server/submit-fields.test.ts
import { findTlv, type Tlv, tlvTags } from './pdu.ts';

/** Which part of a long text. `width` is that of the reference: phones keep texts of both widths apart. */
export interface TextPart {
  reference: number;
  width: 8 | 16;
  part: number;
  total: number;
}

export const hasHeader = 0x40;
const [part8, part16] = [0x00, 0x08];

/** The user data header without its length; undefined if it is longer than the text. */
export function headerOf(octets: Buffer): Buffer | undefined {
  const length = octets[0];
  return length === undefined || length + 1 > octets.length ? undefined : octets.subarray(1, 1 + length);
}

/** Information elements are an id, a length and data (3GPP TS 23.040, section 9.2.3.24). Others than parts are skipped. */
export function partOfHeader(header: Buffer): TextPart | null {
  for (const { id, data } of elementsOf(header)) {
    if (id === part8 && data.length === 3) return toPart(data.readUInt8(0), 8, data.readUInt8(1), data.readUInt8(2));
    if (id === part16 && data.length === 4)
      return toPart(data.readUInt16BE(0), 16, data.readUInt8(2), data.readUInt8(3));
  }
  return null;
}

/** Whether a header holds nothing but parts: ports and other alphabets change what the text means. */
export function holdsOnlyParts(header: Buffer): boolean {
  let octets = 0;
  for (const { id, data } of elementsOf(header)) {
    if (id !== part8 && id !== part16) return false;
    octets += 2 + data.length;
  }
  return octets === header.length;
}

/** Ends at an element that is longer than the header. */
function* elementsOf(header: Buffer): Generator<{ id: number; data: Buffer }> {
  for (let at = 0; at + 2 <= header.length; ) {
    const [id, length] = [header[at] ?? 0, header[at + 1] ?? 0];
    const data = header.subarray(at + 2, at + 2 + length);
    if (data.length < length) return;
    at += 2 + length;
    yield { id, data };
  }
}

export function partOfTlvs(tlvs: readonly Tlv[]): TextPart | null {
  if (tlvs.length < 3) return null;
  const [reference, total, part] = [tlvTags.sarReference, tlvTags.sarTotal, tlvTags.sarPart].map((tag) =>
    findTlv(tlvs, tag),
  );
  if (reference?.length !== 2 || total?.length !== 1 || part?.length !== 1) return null;
  return toPart(reference.readUInt16BE(0), 16, total.readUInt8(0), part.readUInt8(0));
}

/** A total of one, or a number beyond the total, marks no part. */
function toPart(reference: number, width: 8 | 16, total: number, part: number): TextPart | null {
  return total > 1 && part >= 1 && part <= total ? { reference, width, part, total } : null;
}
