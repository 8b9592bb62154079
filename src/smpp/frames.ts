import { commandIds, headerOctets } from './pdu.ts';

/** A PDU without a payload is far shorter; one with message_payload has up to 64 KiB of text. */
export const longestPdu = 16 * 1024;
export const longestPayloadPdu = 70 * 1024;

const payloadCommands: readonly number[] = [commandIds.submit_sm, commandIds.deliver_sm, commandIds.data_sm];

/**
 * Cuts a stream of octets into PDUs. A PDU within one chunk shares its memory. A PDU that comes in pieces is copied once,
 * into a buffer of its announced length, so that many small pieces cost no more than one.
 */
export function createFrameReader() {
  /** The length and the command id: they say how long the PDU may be. */
  const start = Buffer.alloc(8);
  let started = 0;
  let pending: Buffer | undefined;
  let filled = 0;
  let lost: string | undefined;

  /** Copies octets of the PDU that has begun. Returns how many it took. */
  function fill(chunk: Buffer, from: number): number {
    if (pending === undefined) return fillStart(chunk, from);
    const taken = chunk.copy(pending, filled, from, from + pending.length - filled);
    filled += taken;
    return taken;
  }

  function fillStart(chunk: Buffer, from: number): number {
    const taken = chunk.copy(start, started, from, from + start.length - started);
    started += taken;
    if (started >= 4) lost = whyLost(start.subarray(0, started));
    if (lost === undefined && started === start.length) {
      pending = Buffer.allocUnsafe(start.readUInt32BE());
      filled = start.copy(pending);
    }
    return taken;
  }

  function finish(): Buffer | undefined {
    if (pending === undefined || filled < pending.length) return undefined;
    const whole = pending;
    pending = undefined;
    started = 0;
    return whole;
  }

  return {
    /** Whether a PDU has begun that has not ended. */
    get isInside(): boolean {
      return started > 0;
    },
    /** Why the stream cannot be read further. No other input from the peer drops a link. */
    get lost(): string | undefined {
      return lost;
    },
    /** Adds octets and returns the PDUs that they complete. Returns nothing more once framing is lost. */
    read(chunk: Buffer): Buffer[] {
      const frames: Buffer[] = [];
      let at = 0;
      while (at < chunk.length && lost === undefined) {
        const whole = started === 0 ? wholeFrame(chunk, at) : undefined;
        if (whole !== undefined) {
          frames.push(whole);
          at += whole.length;
          continue;
        }
        at += fill(chunk, at);
        const filledUp = finish();
        if (filledUp !== undefined) frames.push(filledUp);
      }
      return frames;
    },
  };
}

/** The usual case: the whole PDU is in the chunk. */
function wholeFrame(chunk: Buffer, at: number): Buffer | undefined {
  const left = chunk.length - at;
  if (left < headerOctets) return undefined;
  const length = chunk.readUInt32BE(at);
  if (length > left || length < headerOctets) return undefined;
  if (length > longestPdu && whyLost(chunk.subarray(at, at + 8)) !== undefined) return undefined;
  return chunk.subarray(at, at + length);
}

/** Why no PDU can begin with these four to eight octets. */
function whyLost(start: Buffer): string | undefined {
  const length = start.readUInt32BE();
  if (length < headerOctets) return `the peer sent a PDU length of ${length}, fewer than the 16 octets of a header`;
  if (length <= longestPdu) return undefined;
  if (length > longestPayloadPdu) return nameOctets(start.subarray(0, 4), length);
  if (start.length < 8 || payloadCommands.includes(start.readUInt32BE(4))) return undefined;
  return `the peer sent a PDU of ${length} octets, more than the ${longestPdu} that its command may have`;
}

function nameOctets(start: Buffer, length: number): string {
  const text = start.toString('latin1');
  if (text === 'HTTP') return 'the peer speaks HTTP, not SMPP';
  if (text === 'AMQP') return 'the peer speaks AMQP, not SMPP';
  const [first, second] = start;
  if ((first === 0x15 || first === 0x16) && second === 0x03) {
    return 'the peer speaks TLS: the carrier needs its tls setting, or its port without TLS';
  }
  const octets = `0x${start.toString('hex')}`;
  const readable = /^[\x20-\x7e]{4}$/.test(text) ? ` ("${text}")` : '';
  return `the peer sent ${octets}${readable} where a PDU begins: as a length that is ${length} octets, more than SMPP allows`;
}
