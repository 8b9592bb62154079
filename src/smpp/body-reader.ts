// Tests: src/smpp/decode.test.ts
import { headerOctets, statuses, type Tlv } from './pdu.ts';

/** An error inside a PDU with correct framing. */
export interface PduProblem {
  field: string;
  /** The error; completes a sentence that begins with the field's name. */
  problem: string;
  /** The command_status to answer a request with; 0 means that the PDU can be used as it is. */
  status: number;
}

/** Longer strings are cut: an id of 16,000 characters fits no index. */
const longestString = 255;
const mostTlvs = 256;
const noProblems: readonly PduProblem[] = Object.freeze([]);

/** Reads the fields of one framed PDU in order. Never throws or reads past the frame: missing fields are empty. */
export class BodyReader {
  private at = headerOctets;
  private found: PduProblem[] | undefined;
  private firstMissing: string | undefined;
  private readonly frame: Buffer;

  constructor(frame: Buffer) {
    this.frame = frame;
  }

  get problems(): readonly PduProblem[] {
    return this.found ?? noProblems;
  }

  get atEnd(): boolean {
    return this.at >= this.frame.length;
  }

  octet(field: string): number {
    if (this.atEnd) return this.missing(field, 0);
    return this.frame[this.at++] ?? 0;
  }

  /** A string up to its NUL; `most` counts the NUL, as the specification does. */
  string(field: string, most: number): string {
    const { frame, at: from } = this;
    if (from >= frame.length) return this.missing(field, '');
    // Most strings are short or empty: calling the runtime's search would cost more than this loop.
    let end = from;
    while (end < frame.length && frame[end] !== 0) end++;
    const length = end - from;
    const text = length === 0 ? '' : frame.toString('latin1', from, from + Math.min(length, longestString));
    this.at = end + 1;
    if (end === frame.length) this.note({ field, problem: 'has no NUL at its end', status: statuses.ok });
    if (length >= most) {
      this.note({ field, problem: `has ${length} octets, more than ${most - 1}`, status: statuses.ok });
    }
    return text;
  }

  /** Reads sm_length, and the octets that it announces. */
  shortMessage(): Buffer {
    const length = this.octet('sm_length');
    const from = Math.min(this.at, this.frame.length);
    const left = this.frame.length - from;
    if (length > left && this.firstMissing === undefined) {
      const problem = `has ${left} octets, but sm_length says ${length}`;
      this.note({ field: 'short_message', problem, status: statuses.invalidMessageLength });
    }
    this.at = from + Math.min(length, left);
    return this.frame.subarray(from, this.at);
  }

  /** Reads the rest of the body as TLVs. `usable` says whether the PDU is of use without them. */
  tlvs(usable: boolean): Tlv[] {
    const tlvs: Tlv[] = [];
    while (!this.atEnd && tlvs.length < mostTlvs) {
      const left = this.frame.length - this.at;
      if (left < 4) {
        this.end(`there are ${left} stray octets after the body`, statuses.ok);
        return tlvs;
      }
      const length = this.frame.readUInt16BE(this.at + 2);
      if (length > left - 4) {
        const status = usable || tlvs.length > 0 ? statuses.ok : statuses.invalidTlvs;
        this.end(`a TLV says ${length} octets, but ${left - 4} are left`, status);
        return tlvs;
      }
      const from = this.at + 4;
      tlvs.push({ tag: this.frame.readUInt16BE(this.at), value: this.frame.subarray(from, from + length) });
      this.at = from + length;
    }
    if (!this.atEnd) this.end(`there are more than ${mostTlvs} TLVs`, statuses.ok);
    return tlvs;
  }

  /** The body ends here. Stray octets after it are harmless. */
  finish(): void {
    const left = this.frame.length - this.at;
    if (left > 0) this.end(`there are ${left} stray octets after the body`, statuses.ok);
  }

  private end(problem: string, status: number): void {
    this.note({ field: 'body', problem, status });
    this.at = this.frame.length;
  }

  /** Reports only the first missing field: all fields after it are missing too. */
  private missing<Value>(field: string, instead: Value): Value {
    if (this.firstMissing === undefined) {
      this.firstMissing = field;
      this.note({ field, problem: 'is missing: the body ends before it', status: statuses.invalidCommandLength });
    }
    return instead;
  }

  private note(problem: PduProblem): void {
    this.found ??= [];
    this.found.push(problem);
  }
}
