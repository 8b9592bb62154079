import { defaultAlphabet, escapeSeptet, extensionAlphabet, septetsOf } from '../messages/text/gsm.ts';

/** How characters become octets. */
export type Coding = 'gsm7' | 'gsm7packed' | 'latin1' | 'ascii' | 'ucs2';
/** A coding, and the carrier's data_coding for it. The first entry of a carrier's list that fits a text is used. */
export const charsets = ['gsm7/0', 'gsm7packed/0', 'latin1/3', 'latin1/0', 'ascii/1', 'ucs2/8'] as const;
export type CharsetName = (typeof charsets)[number];

export interface Charset {
  coding: Coding;
  /** SMPP's number for it, as this carrier understands it. */
  dataCoding: number;
}

const byName: Record<CharsetName, Charset> = {
  'gsm7/0': { coding: 'gsm7', dataCoding: 0 },
  'gsm7packed/0': { coding: 'gsm7packed', dataCoding: 0 },
  'latin1/3': { coding: 'latin1', dataCoding: 3 },
  'latin1/0': { coding: 'latin1', dataCoding: 0 },
  'ascii/1': { coding: 'ascii', dataCoding: 1 },
  'ucs2/8': { coding: 'ucs2', dataCoding: 8 },
};

/** The first of the carrier's charsets that can carry the whole text, or undefined. */
export function chooseCharset(text: string, names: readonly CharsetName[]): CharsetName | undefined {
  return names.find((candidate) => fits(text, byName[candidate].coding));
}

export function charsetOf(name: CharsetName): Charset {
  return byName[name];
}

export function fits(text: string, coding: Coding): boolean {
  if (coding === 'ucs2') return true;
  for (let i = 0; i < text.length; i++) {
    if (unitsOf(text.charCodeAt(i), coding) === 0) return false;
  }
  return true;
}

/** Units that a UTF-16 unit takes in a part: 1, or 2 for an escape in GSM-7, or 0 if the coding cannot write it. */
export function unitsOf(character: number, coding: Coding): number {
  switch (coding) {
    case 'gsm7':
    case 'gsm7packed':
      return septetsOf[character] ?? 0;
    case 'latin1':
      return character <= 0xff ? 1 : 0;
    case 'ascii':
      return character <= 0x7f ? 1 : 0;
    case 'ucs2':
      return 1;
  }
}

/**
 * The octets of a text that fits. Other characters become `?`. `headerOctets` is the length of a user data header that
 * comes before it: packed septets start at the next multiple of seven bits.
 */
export function encodeText(text: string, coding: Coding, headerOctets = 0): Buffer {
  switch (coding) {
    case 'gsm7':
      return toSeptets(text);
    case 'gsm7packed':
      return pack(toSeptets(text), fillBits(headerOctets));
    case 'latin1':
    case 'ascii':
      return encodeOctets(text, coding);
    case 'ucs2':
      // Node knows only the little-endian form.
      return Buffer.from(text, 'utf16le').swap16();
  }
}

/** The text of octets from a peer. Never throws: an odd last octet of UCS-2 is left out. */
export function decodeText(octets: Uint8Array, coding: Coding, headerOctets = 0): string {
  switch (coding) {
    case 'gsm7':
      return fromSeptets(octets);
    case 'gsm7packed':
      return fromSeptets(unpack(octets, fillBits(headerOctets)));
    case 'latin1':
    case 'ascii':
      return toLatin1(octets);
    case 'ucs2':
      return decodeUcs2(octets);
  }
}

const question = 0x3f;

function encodeOctets(text: string, coding: Coding): Buffer {
  const octets = Buffer.allocUnsafe(text.length);
  for (let i = 0; i < text.length; i++) {
    const character = text.charCodeAt(i);
    octets[i] = unitsOf(character, coding) === 0 ? question : character;
  }
  return octets;
}

/** Per UTF-16 unit: its septet, or the escape in the high octet and the extension's septet in the low one. */
const septetFor: Uint16Array = makeSeptetTable();

function makeSeptetTable(): Uint16Array {
  const table = new Uint16Array(0x10000).fill(question);
  for (let septet = 0; septet < defaultAlphabet.length; septet++) table[defaultAlphabet.charCodeAt(septet)] = septet;
  for (const [character, septet] of extensionAlphabet) table[character.charCodeAt(0)] = (escapeSeptet << 8) | septet;
  table[escapeSeptet] = question;
  return table;
}

function toSeptets(text: string): Buffer {
  const septets = Buffer.allocUnsafe(2 * text.length);
  let length = 0;
  for (let i = 0; i < text.length; i++) {
    const septet = septetFor[text.charCodeAt(i)] ?? question;
    if (septet > 0x7f) septets[length++] = escapeSeptet;
    septets[length++] = septet & 0x7f;
  }
  return septets.subarray(0, length);
}

const extensionOf = new Map([...extensionAlphabet].map(([character, septet]) => [septet, character]));

/** By octet: 1 if it is the same character as a septet and in Latin-1, like most letters and digits. */
const sameInLatin1 = Uint8Array.from({ length: 256 }, (_, octet) =>
  Number(octet !== escapeSeptet && defaultAlphabet.charCodeAt(octet) === octet),
);

function isSameInLatin1(septets: Uint8Array): boolean {
  for (let i = 0; i < septets.length; i++) if (sameInLatin1[septets[i] ?? 0] === 0) return false;
  return true;
}

/** An escape without a known character after it shows as a space, as 3GPP TS 23.038 asks of phones. */
function fromSeptets(septets: Uint8Array): string {
  if (isSameInLatin1(septets)) return toLatin1(septets);
  let text = '';
  for (let i = 0; i < septets.length; i++) {
    const septet = (septets[i] ?? 0) & 0x7f;
    if (septet !== escapeSeptet) {
      text += defaultAlphabet[septet];
      continue;
    }
    const next = septets[i + 1];
    const extension = next === undefined ? undefined : extensionOf.get(next & 0x7f);
    text += extension ?? ' ';
    if (extension !== undefined) i++;
  }
  return text;
}

function fillBits(headerOctets: number): number {
  return (7 - ((headerOctets * 8) % 7)) % 7;
}

/**
 * Whether this number of packed septets leaves seven bits free. At the end of a text a carriage return fills them;
 * between two parts that would be read as a character of the text.
 */
export function leavesSevenBits(septets: number, headerOctets: number): boolean {
  return (fillBits(headerOctets) + 7 * septets) % 8 === 1;
}

const carriageReturn = 0x0d;

/** Seven free bits at the end would read as `@`, so they become a carriage return (3GPP TS 23.038, section 6.1.2.3.1). */
function pack(septets: Uint8Array, fill: number): Buffer {
  const bits = fill + 7 * septets.length;
  const octets = Buffer.alloc(Math.ceil(bits / 8));
  let bit = fill;
  for (const septet of septets) {
    putSeptet(octets, bit, septet);
    bit += 7;
  }
  if (octets.length * 8 - bits === 7) putSeptet(octets, bit, carriageReturn);
  return octets;
}

function putSeptet(octets: Buffer, bit: number, septet: number): void {
  const index = bit >> 3;
  const shifted = septet << (bit & 7);
  octets[index] = (octets[index] ?? 0) | (shifted & 0xff);
  if (shifted > 0xff) octets[index + 1] = shifted >> 8;
}

function unpack(octets: Uint8Array, fill: number): Uint8Array {
  const count = Math.max(0, Math.floor((octets.length * 8 - fill) / 7));
  const septets = new Uint8Array(count);
  for (let i = 0; i < count; i++) {
    const bit = fill + 7 * i;
    const pair = (octets[bit >> 3] ?? 0) | ((octets[(bit >> 3) + 1] ?? 0) << 8);
    septets[i] = (pair >> (bit & 7)) & 0x7f;
  }
  const isPadded = (fill + 7 * count) % 8 === 0 && septets[count - 1] === carriageReturn;
  return isPadded ? septets.subarray(0, count - 1) : septets;
}

function toLatin1(octets: Uint8Array): string {
  const buffer = Buffer.isBuffer(octets) ? octets : Buffer.from(octets.buffer, octets.byteOffset, octets.length);
  return buffer.toString('latin1');
}

function decodeUcs2(octets: Uint8Array): string {
  const even = Buffer.from(octets.subarray(0, octets.length & ~1));
  // Some carriers write a byte order mark, and some of those the little-endian one.
  const isLittle = even[0] === 0xff && even[1] === 0xfe;
  const text = (isLittle ? even : even.swap16()).toString('utf16le');
  return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
}
