/** Longest string, so that a span has a bound. */
export const longestString = 256;

/**
 * Writes protobuf into a buffer. A length that is not known yet gets two or three bytes: protobuf allows a varint to be
 * longer than it must be. The caller sees to it that there is room.
 */
export class ProtoWriter {
  at = 0;
  readonly bytes: Buffer;

  constructor(size: number) {
    this.bytes = Buffer.allocUnsafe(size);
  }

  varint(value: number): void {
    let rest = value;
    while (rest > 0x7f) {
      this.bytes[this.at++] = (rest % 128) | 0x80;
      rest = Math.floor(rest / 128);
    }
    this.bytes[this.at++] = rest;
  }

  /** Field number and wire type. */
  tag(field: number, type: 0 | 1 | 2 | 5): void {
    this.varint(field * 8 + type);
  }

  /** Begins a field of less than 16 KiB; `end` takes the returned place. */
  begin(field: number): number {
    this.tag(field, 2);
    this.at += 2;
    return this.at;
  }

  end(start: number): void {
    const length = this.at - start;
    this.bytes[start - 2] = (length & 0x7f) | 0x80;
    this.bytes[start - 1] = length >> 7;
  }

  /** Like `begin`, for a field of less than 2 MiB. */
  beginLong(field: number): number {
    this.tag(field, 2);
    this.at += 3;
    return this.at;
  }

  endLong(start: number): void {
    const length = this.at - start;
    this.bytes[start - 3] = (length & 0x7f) | 0x80;
    this.bytes[start - 2] = ((length >> 7) & 0x7f) | 0x80;
    this.bytes[start - 1] = length >> 14;
  }

  /** A short text of ASCII takes a third of the time of Buffer's own `write`. */
  string(field: number, text: string): void {
    const start = this.begin(field);
    const shown = text.length > longestString ? text.slice(0, longestString) : text;
    const { bytes } = this;
    let at = start;
    for (let index = 0; index < shown.length; index++) {
      const code = shown.charCodeAt(index);
      if (code > 0x7f) {
        at = start + bytes.write(shown, start, 'utf8');
        break;
      }
      bytes[at++] = code;
    }
    this.at = at;
    this.end(start);
  }

  hex(field: number, digits: string): void {
    this.tag(field, 2);
    this.varint(digits.length >> 1);
    this.at += this.bytes.write(digits, this.at, 'hex');
  }

  /** Appends what another writer has written. */
  copy(piece: Uint8Array): void {
    const { bytes } = this;
    let at = this.at;
    for (let index = 0; index < piece.length; index++) bytes[at++] = piece[index] as number;
    this.at = at;
  }

  fixed32(field: number, value: number): void {
    this.tag(field, 5);
    this.at = this.bytes.writeUInt32LE(value, this.at);
  }

  /** Milliseconds as nanoseconds, exact to the microsecond. */
  nanoseconds(field: number, ms: number): void {
    const us = Math.round(ms * 1000);
    const low = (us % 2 ** 32) * 1000;
    const high = Math.floor(us / 2 ** 32) * 1000 + Math.floor(low / 2 ** 32);
    this.tag(field, 1);
    this.at = this.bytes.writeUInt32LE(low % 2 ** 32, this.at);
    this.at = this.bytes.writeUInt32LE(high, this.at);
  }
}
