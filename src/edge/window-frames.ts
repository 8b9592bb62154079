import type { LimitDecision, Limits } from '../http/admission.ts';
import { type WindowKind, windowKinds } from './node-windows.ts';

/** A web process asks the parent to decide a request, to report the caller's state, or to take a charge back. */
export interface WindowQuestion {
  kind: WindowKind;
  key: string;
  limits: Limits;
  /**
   * When the caller was informed, by the machine's steady clock. Undefined: only report the caller's state, and charge
   * nothing.
   */
  informedAtMs: number | undefined;
  /** Set to take back the charge of a request that was not served: when it was charged, by the parent's clock. */
  givesBackMs?: number;
}

// A frame is its length in four bytes, then questions or decisions, one after the other. Decisions come in the order of
// their questions, so they need no names.
const lengthBytes = 4;
/** Which window, the length of the key, when the caller was informed, both limits; then the key. */
const questionBytes = 1 + 1 + 8 + 4 + 4;
/** Whether the request passed, or which window refused it; remaining; three times in milliseconds; when it was charged. */
const decisionBytes = 1 + 4 + 4 + 4 + 4 + 8;
const [peeks, givesBack] = [0x80, 0x40];
const [isAdmitted, refusedByMinute, refusedByBurst, isCharged] = [1, 2, 4, 8];
/** No turn of an event loop asks for that much. */
export const longestFrame = 64 * 1024 * 1024;

/** Keys are ids and addresses: short, and ASCII. */
export function writeQuestions(questions: readonly WindowQuestion[]): Buffer {
  let length = 0;
  for (const { key } of questions) length += questionBytes + key.length;
  const frame = Buffer.allocUnsafe(lengthBytes + length);
  let at = frame.writeUInt32LE(length, 0);
  for (const { kind, key, limits, informedAtMs, givesBackMs } of questions) {
    const wanted = givesBackMs !== undefined ? givesBack : informedAtMs === undefined ? peeks : 0;
    at = frame.writeUInt8(windowKinds.indexOf(kind) | wanted, at);
    at = frame.writeUInt8(key.length, at);
    at = frame.writeDoubleLE(givesBackMs ?? informedAtMs ?? 0, at);
    at = frame.writeUInt32LE(limits.perMinute, at);
    at = frame.writeUInt32LE(limits.burst, at);
    at += frame.write(key, at, 'latin1');
  }
  return frame;
}

export function readQuestions(payload: Buffer): WindowQuestion[] {
  const questions: WindowQuestion[] = [];
  for (let at = 0; at < payload.length; ) {
    const head = payload.readUInt8(at);
    const keyLength = payload.readUInt8(at + 1);
    const kind = windowKinds[head & ~(peeks | givesBack)];
    const end = at + questionBytes + keyLength;
    if (kind === undefined || end > payload.length) throw new Error('a frame of questions cannot be read');
    const timeMs = payload.readDoubleLE(at + 2);
    questions.push({
      kind,
      key: payload.toString('latin1', at + questionBytes, end),
      limits: { perMinute: payload.readUInt32LE(at + 10), burst: payload.readUInt32LE(at + 14) },
      informedAtMs: head & (peeks | givesBack) ? undefined : timeMs,
      ...(head & givesBack && { givesBackMs: timeMs }),
    });
    at = end;
  }
  return questions;
}

export function writeDecisions(decisions: readonly LimitDecision[]): Buffer {
  const length = decisions.length * decisionBytes;
  const frame = Buffer.allocUnsafe(lengthBytes + length);
  let at = frame.writeUInt32LE(length, 0);
  for (const { admitted, refusedBy, remaining, resetMs, nextFreeMs, retryAfterMs, chargedAtMs } of decisions) {
    const by = refusedBy === undefined ? 0 : refusedBy === 'minute' ? refusedByMinute : refusedByBurst;
    at = frame.writeUInt8((admitted ? isAdmitted : 0) | by | (chargedAtMs === undefined ? 0 : isCharged), at);
    for (const number of [remaining, resetMs, nextFreeMs, retryAfterMs]) at = frame.writeUInt32LE(number, at);
    at = frame.writeDoubleLE(chargedAtMs ?? 0, at);
  }
  return frame;
}

export function countDecisions(payload: Buffer): number {
  return payload.length / decisionBytes;
}

/** The decision at that index of a frame, for a question with these limits. */
export function readDecision(payload: Buffer, place: number, limits: Limits): LimitDecision {
  const at = place * decisionBytes;
  const flags = payload.readUInt8(at);
  return {
    admitted: (flags & isAdmitted) !== 0,
    limits,
    remaining: payload.readUInt32LE(at + 1),
    resetMs: payload.readUInt32LE(at + 5),
    nextFreeMs: payload.readUInt32LE(at + 9),
    retryAfterMs: payload.readUInt32LE(at + 13),
    refusedBy: flags & refusedByMinute ? 'minute' : flags & refusedByBurst ? 'burst' : undefined,
    chargedAtMs: flags & isCharged ? payload.readDoubleLE(at + 17) : undefined,
  };
}

/** Cuts a stream of bytes into the payloads of its frames. */
export function createFrameReader(onFrame: (payload: Buffer) => void): (bytes: Buffer) => void {
  let waiting: Buffer = Buffer.alloc(0);
  return (bytes) => {
    const all = waiting.length === 0 ? bytes : Buffer.concat([waiting, bytes]);
    let at = 0;
    while (all.length - at >= lengthBytes) {
      const length = all.readUInt32LE(at);
      if (length > longestFrame) throw new Error('a frame is longer than any can be');
      const end = at + lengthBytes + length;
      if (end > all.length) break;
      onFrame(all.subarray(at + lengthBytes, end));
      at = end;
    }
    waiting = all.subarray(at);
  };
}
