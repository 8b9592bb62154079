// Tests: test/smpp/smsc.test.ts
import { toTimestamp } from '../platform/clock.ts';
import { type Coding, decodeText } from '../smpp/charset.ts';
import { findTlv, messageOctets, type SubmitFields, tlvTags } from '../smpp/pdu.ts';
import type { Behaviour } from './faults.ts';

export type ReceiptProgress = 'not asked' | 'none' | 'due' | 'sent' | 'acknowledged' | 'refused';

/** A submit_sm as it arrived, and the answer to it. */
export interface StoredText {
  systemId: string;
  submit: SubmitFields;
  receivedAtMs: number;
  /** command_status of the answer; null if there was none. */
  status: number | null;
  responseId: string;
  /** The id as the receipt writes it. */
  receiptId: string;
  receipt: ReceiptProgress;
}

export interface ShownText {
  received_at: string;
  system_id: string;
  from: string;
  to: string;
  text: string;
  /** Whether the SMSC has accepted every part. */
  complete: boolean;
  data_coding: number;
  validity_period: string;
  parts: ShownPart[];
}

export interface ShownPart {
  part: number;
  total: number;
  id: string;
  status: number | null;
  receipt: ReceiptProgress;
}

const mostTexts = 10_000;

/** Keeps the newest texts. They are decoded only when they are shown, so that a flood costs little. */
export function createTextStore() {
  const ring: StoredText[] = [];
  let next = 0;
  return {
    add(text: StoredText): void {
      ring[next] = text;
      next = (next + 1) % mostTexts;
    },
    /** Newest first; the parts of a long text are joined. */
    list(most: number, charset: Behaviour['charset']): ShownText[] {
      const newestFirst = [...ring.slice(next), ...ring.slice(0, next)].reverse();
      return joinParts(newestFirst, charset).slice(0, Math.max(0, most));
    },
    clear(): void {
      ring.length = 0;
      next = 0;
    },
  };
}

interface ReadPart {
  text: string;
  part: number;
  total: number;
  /** Equal for all parts of one text; undefined for a text in one part. */
  group: string | undefined;
}

function joinParts(newestFirst: StoredText[], charset: Behaviour['charset']): ShownText[] {
  const shown: { stored: StoredText; parts: { stored: StoredText; read: ReadPart }[] }[] = [];
  const groups = new Map<string, (typeof shown)[number]>();
  for (const stored of newestFirst) {
    const read = readPart(stored, charset);
    const known = read.group === undefined ? undefined : groups.get(read.group);
    if (known !== undefined) {
      known.parts.push({ stored, read });
      continue;
    }
    const text = { stored, parts: [{ stored, read }] };
    shown.push(text);
    if (read.group !== undefined) groups.set(read.group, text);
  }
  return shown.map(({ stored, parts }) => show(stored, parts));
}

function show(
  { systemId, submit, receivedAtMs }: StoredText,
  parts: { stored: StoredText; read: ReadPart }[],
): ShownText {
  const inOrder = [...parts].reverse().sort((a, b) => a.read.part - b.read.part);
  // A part that was submitted twice is shown twice and read once.
  const byPlace = new Map(inOrder.map(({ read }) => [read.part, read.text]));
  const accepted = new Set(inOrder.filter((part) => part.stored.status === 0).map(({ read }) => read.part));
  return {
    received_at: toTimestamp(receivedAtMs),
    system_id: systemId,
    from: submit.source,
    to: submit.destination,
    text: [...byPlace.values()].join(''),
    complete: accepted.size === (inOrder[0]?.read.total ?? 1),
    data_coding: submit.dataCoding,
    validity_period: submit.validityPeriod,
    parts: inOrder.map(({ stored, read }) => ({
      part: read.part,
      total: read.total,
      id: stored.responseId,
      status: stored.status,
      receipt: stored.receipt,
    })),
  };
}

const hasHeader = 0x40;

function readPart({ submit, systemId }: StoredText, charset: Behaviour['charset']): ReadPart {
  const octets = messageOctets(submit);
  const coding = codingOf(submit.dataCoding, charset);
  const headerLength = (submit.esmClass & hasHeader) === 0 ? 0 : Math.min(octets.length, 1 + (octets[0] ?? 0));
  const text = decodeText(octets.subarray(headerLength), coding, headerLength);
  const place = headerLength > 0 ? readHeader(octets.subarray(0, headerLength)) : readSar(submit);
  if (place === undefined) return { text, part: 1, total: 1, group: undefined };
  const { part, total, reference } = place;
  return { text, part, total, group: [systemId, submit.source, submit.destination, reference, total].join('\n') };
}

function codingOf(dataCoding: number, charset: Behaviour['charset']): Coding {
  if (dataCoding === 0) return charset;
  if (dataCoding === 1) return 'ascii';
  return dataCoding === 8 ? 'ucs2' : 'latin1';
}

interface Place {
  part: number;
  total: number;
  reference: string;
}

/** Finds the element that joins parts: 00 with 8 bits of reference, or 08 with 16. */
function readHeader(header: Buffer): Place | undefined {
  for (let at = 1; at + 1 < header.length; at += 2 + (header[at + 1] ?? 0)) {
    const element = header.subarray(at + 2, at + 2 + (header[at + 1] ?? 0));
    const width = header[at] === 0x00 ? 1 : header[at] === 0x08 ? 2 : 0;
    const [total, part] = element.subarray(width);
    if (width === 0 || part === undefined || total === undefined) continue;
    return { part, total, reference: element.toString('hex', 0, width) };
  }
  return undefined;
}

function readSar({ tlvs }: SubmitFields): Place | undefined {
  const reference = findTlv(tlvs, tlvTags.sarReference);
  const total = findTlv(tlvs, tlvTags.sarTotal)?.[0];
  const part = findTlv(tlvs, tlvTags.sarPart)?.[0];
  if (reference === undefined || total === undefined || part === undefined) return undefined;
  return { part, total, reference: `sar ${reference.toString('hex')}` };
}

/** The text's first characters in ASCII, as receipts repeat them. */
export function echoOf(stored: StoredText, charset: Behaviour['charset']): string {
  return readPart(stored, charset)
    .text.slice(0, 20)
    .replaceAll(/[^\x20-\x7e]/g, '.');
}
