import { type Charset, type CharsetName, charsetOf, charsets, chooseCharset, encodeText } from '../../smpp/charset.ts';
import { type SubmitFields, type Tlv, tlvTags } from '../../smpp/pdu.ts';
import { fitsInOnePart, splitText } from '../../smpp/split-text.ts';
import type { OutgoingText } from '../carrier/carrier.ts';
import { destinationAddress, sourceAddress } from './addresses.ts';
import { longForms, type SmppSettings } from './settings.ts';
import { validityPeriod } from './validity.ts';

type Text = Pick<OutgoingText, 'messageId' | 'to' | 'from' | 'text' | 'templateId' | 'expiresAtMs' | 'form'>;
/** Fields that differ between parts. */
type PartFields = Pick<SubmitFields, 'esmClass' | 'shortMessage' | 'tlvs'>;

const hasHeader = 0x40;
const finalReceipt = 0x01;

/** How a text is cut into parts. */
interface Form {
  charset: CharsetName;
  long: SmppSettings['long_messages'];
}

/** A partly sent text keeps its form, even if the settings have changed; undefined if no charset can carry it. */
function formOf({ text, form }: Text, settings: SmppSettings): Form | undefined {
  const [name, long] = form?.split(' ') ?? [];
  const before = { charset: charsets.find((each) => each === name), long: longForms.find((each) => each === long) };
  if (before.charset !== undefined && before.long !== undefined) return { charset: before.charset, long: before.long };
  const charset = chooseCharset(text, settings.charsets);
  return charset && { charset, long: settings.long_messages };
}

/** The parts of a text, and the form that they have. */
export interface Submits {
  form: string;
  submits: SubmitFields[];
}

/**
 * The submit_sm of all parts, in order. The same text and form give the same parts and reference, so that a retry
 * resumes where the first attempt ended. Empty if none of the carrier's charsets can carry the text.
 */
export function toSubmits(text: Text, settings: SmppSettings, nowMs: number): Submits {
  const form = formOf(text, settings);
  if (form === undefined) return { form: '', submits: [] };
  const charset = charsetOf(form.charset);
  const source = sourceAddress(text.from, settings.ton_npi);
  const destination = destinationAddress(text.to, settings.ton_npi);
  const ownTlvs = readTlvs(settings.tlvs, text.templateId);
  const parts = partsOf(text, charset, form.long);
  const validity = validityPeriod(text.expiresAtMs, nowMs, settings);
  // All fields by name: to copy an object and change it takes V8 several times as long.
  const submits = parts.map(
    (part, index): SubmitFields => ({
      serviceType: settings.service_type,
      sourceTon: source.ton,
      sourceNpi: source.npi,
      source: source.address,
      destinationTon: destination.ton,
      destinationNpi: destination.npi,
      destination: destination.address,
      esmClass: part.esmClass,
      protocolId: 0,
      priority: 0,
      scheduleDeliveryTime: '',
      validityPeriod: validity,
      registeredDelivery: asksReceipt(settings.receipts, index + 1, parts.length) ? finalReceipt : 0,
      replaceIfPresent: 0,
      dataCoding: charset.dataCoding,
      defaultMessageId: 0,
      shortMessage: part.shortMessage,
      tlvs: ownTlvs.length === 0 ? part.tlvs : [...part.tlvs, ...ownTlvs],
    }),
  );
  return { form: `${form.charset} ${form.long}`, submits };
}

/**
 * Whether a part's submit_sm asks for a receipt. `one` asks on every part: such a carrier sends a single receipt for the
 * whole text, and itself chooses which part's id it names.
 */
export function asksReceipt(receipts: SmppSettings['receipts'], part: number, total: number): boolean {
  switch (receipts) {
    case 'all':
    case 'one':
      return true;
    case 'first':
      return part === 1;
    case 'last':
      return part === total;
    case 'none':
      return false;
  }
}

/** How many receipts settle a text of `total` parts: with `one`, `first` and `last` the first one stands for all parts. */
export function receiptsAwaited(receipts: SmppSettings['receipts'], total: number): number {
  if (receipts === 'none') return 0;
  return receipts === 'all' ? total : 1;
}

function partsOf({ text, messageId }: Text, charset: Charset, form: SmppSettings['long_messages']): PartFields[] {
  const { coding } = charset;
  if (fitsInOnePart(text, coding)) return [{ esmClass: 0, shortMessage: encodeText(text, coding), tlvs: [] }];
  switch (form) {
    case 'payload':
      return [payloadPart(text, charset)];
    case 'sar':
      return sarParts(text, charset, referenceOf(messageId));
    case 'udh8':
      return headerParts(splitText(text, coding, 6), charset, shortHeader(messageId));
    case 'udh16':
      return longHeaderParts(text, charset, messageId);
  }
}

/** The longer header leaves room for one unit less. Where that would cost a part more than is billed, take the shorter. */
function longHeaderParts(text: string, charset: Charset, messageId: string): PartFields[] {
  const asBilled = splitText(text, charset.coding, 6);
  const parts = splitText(text, charset.coding, 7);
  if (parts.length > asBilled.length) return headerParts(asBilled, charset, shortHeader(messageId));
  const reference = referenceOf(messageId);
  return headerParts(parts, charset, (total, part) =>
    Buffer.of(0x06, 0x08, 0x04, reference >> 8, reference & 0xff, total, part),
  );
}

function shortHeader(messageId: string) {
  const reference = referenceOf(messageId) & 0xff;
  return (total: number, part: number) => Buffer.of(0x05, 0x00, 0x03, reference, total, part);
}

/** Parts that the phone joins by the header before each of them (3GPP TS 23.040, section 9.2.3.24). */
function headerParts(
  texts: string[],
  { coding }: Charset,
  header: (total: number, part: number) => Buffer,
): PartFields[] {
  return texts.map((text, index) => {
    const before = header(texts.length, index + 1);
    const shortMessage = Buffer.concat([before, encodeText(text, coding, before.length)]);
    return { esmClass: hasHeader, shortMessage, tlvs: [] };
  });
}

/** Parts that the SMSC gives their headers. */
function sarParts(text: string, { coding }: Charset, reference: number): PartFields[] {
  const texts = splitText(text, coding, 6, 0);
  return texts.map((part, index) => ({
    esmClass: 0,
    shortMessage: encodeText(part, coding),
    tlvs: [
      { tag: tlvTags.sarReference, value: Buffer.of(reference >> 8, reference & 0xff) },
      { tag: tlvTags.sarTotal, value: Buffer.of(texts.length) },
      { tag: tlvTags.sarPart, value: Buffer.of(index + 1) },
    ],
  }));
}

/** The SMSC cuts the text itself. */
function payloadPart(text: string, { coding }: Charset): PartFields {
  const payload = { tag: tlvTags.messagePayload, value: encodeText(text, coding) };
  return { esmClass: 0, shortMessage: Buffer.alloc(0), tlvs: [payload] };
}

/** 16 bits of the id's FNV-1a hash: no state to keep, and every retry agrees. */
export function referenceOf(messageId: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < messageId.length; i++) hash = Math.imul(hash ^ messageId.charCodeAt(i), 0x01000193);
  return ((hash >>> 16) ^ hash) & 0xffff;
}

const octets = /^hex:((?:[0-9a-fA-F]{2})*)$/;
/** TLVs that say how a text is joined. The settings may not set them: they could contradict the parts. */
const ourTags: readonly number[] = [tlvTags.messagePayload, tlvTags.sarReference, tlvTags.sarTotal, tlvTags.sarPart];

/** Stands for the text's template id in the value of a TLV. */
const templateMark = '{{template_id}}';

/** A value is sent as its UTF-8 octets, or as those that `hex:` names: `hex:00` is one octet of zero. */
function readTlvs(settings: SmppSettings['tlvs'], templateId: string | null): Tlv[] {
  return settings.flatMap(({ tag, value: written }) => {
    // A text without a template has no such TLV.
    if (ourTags.includes(tag) || (templateId === null && written.includes(templateMark))) return [];
    const hex = octets.exec(written)?.[1];
    const value = hex === undefined ? written.replaceAll(templateMark, () => templateId ?? '') : hex;
    return [{ tag, value: Buffer.from(value, hex === undefined ? 'utf8' : 'hex') }];
  });
}

/** Why `tlvs` can't be used (completes a sentence that begins with its name), or undefined. */
export function tlvsProblem(settings: SmppSettings['tlvs']): string | undefined {
  for (const { tag, value } of settings) {
    const written = `0x${tag.toString(16).padStart(4, '0')}`;
    if (ourTags.includes(tag)) return `must not have the tag ${written}: long_messages decides how long texts travel`;
    if (value.startsWith('hex:') && !octets.test(value)) {
      return `must have pairs of hexadecimal digits after hex: in the value of ${written}`;
    }
  }
  return undefined;
}
