import { type SubmitFields, tlvTags } from '../../src/smpp/pdu.ts';

type Form = 'udh8' | 'udh16' | 'sar';

/** What makes a submit_sm the part of a text. */
export function part(
  form: Form,
  reference: number,
  total: number,
  number: number,
  text: string,
): Partial<SubmitFields> {
  const octets = Buffer.from(text);
  const udh =
    form === 'udh8'
      ? Buffer.of(5, 0, 3, reference & 0xff, total, number)
      : Buffer.of(6, 8, 4, reference >> 8, reference & 0xff, total, number);
  if (form !== 'sar') return { esmClass: 0x40, shortMessage: Buffer.concat([udh, octets]) };
  const tlvs = [
    { tag: tlvTags.sarReference, value: Buffer.of(reference >> 8, reference & 0xff) },
    { tag: tlvTags.sarTotal, value: Buffer.of(total) },
    { tag: tlvTags.sarPart, value: Buffer.of(number) },
  ];
  return { shortMessage: octets, tlvs };
}
