// Tests: test/smpp/session.test.ts
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import type { Clock } from '../platform/clock.ts';
import { type ConnectionTarget, openConnection } from './connection.ts';
import { describeConnectionError } from './connection-errors.ts';
import { type DecodedPdu, decodePdu } from './decode.ts';
import { encodePdu } from './encode.ts';
import { createFrameReader } from './frames.ts';
import { createOutbox } from './outbox.ts';
import type { Pdu } from './pdu.ts';
import type { PduRecorder } from './pdu-recorder.ts';
import type { PendingSubmit } from './submit-window.ts';

/** Maximum time from the first octet of a PDU to its last. */
const pduMs = 10_000;
/** Maximum time for the peer to take our octets. */
const writeMs = 10_000;
/** Maximum time to send the last answer before a close. */
const goodbyeMs = 1000;
/** With this many PDUs unread by the peer, we stop reading from it. */
const mostWaiting = 2000;

export interface LinkOptions {
  target: ConnectionTarget;
  clock: Clock;
  log: PduRecorder;
  /** TCP is connected, TLS is not ready yet. */
  onConnected: () => void;
  onReady: () => void;
  onPdu: (decoded: DecodedPdu) => void;
  /** Called when PDUs were read, after `onPdu` for each, and when the peer has read all waiting octets. */
  onQuiet: () => void;
  /** The octets are not SMPP. */
  onNoise: (sentence: string) => void;
  /** The peer ended the connection (without a sentence), or it broke. */
  onEnded: (sentence: string | undefined) => void;
}

/** Reads and writes PDUs on one socket, without knowing their meaning. */
export interface Link {
  /** True while the peer reads too slowly: then we should not read more from it. */
  readonly isFull: boolean;
  readonly isPaused: boolean;
  /** When the peer's certificate expires; undefined without TLS. */
  readonly certificateEndsAtMs: number | undefined;
  /** Sends a PDU before all submits. */
  send(pdu: Pdu): void;
  submit(entry: PendingSubmit): void;
  pause(paused: boolean): void;
  /** The deadline that the peer missed: to read, or to complete a PDU. */
  findStall(nowMs: number): string | undefined;
  /** Closes after everything queued is written. No callback runs afterwards. */
  close(politely: boolean): void;
}

export function createLink(options: LinkOptions): Link {
  const { target, clock, log, onPdu, onQuiet } = options;
  const frames = createFrameReader();
  let socket: Socket | undefined;
  let closed = false;
  let isPaused = false;
  /** When the incomplete PDU began. */
  let insideMs: number | undefined;

  const outbox = createOutbox({
    socket: () => socket,
    clock,
    onGiven: (pdu, messageId) => log.record('out', pdu, messageId),
    onDrain: onQuiet,
  });

  function onData(chunk: Buffer): void {
    const whole = frames.read(chunk);
    for (const frame of whole) {
      if (closed) return;
      onPdu(decodePdu(frame));
    }
    if (closed) return;
    if (frames.lost !== undefined) {
      options.onNoise(`${target.host}:${target.port}: ${frames.lost}.`);
      return;
    }
    if (!frames.isInside) insideMs = undefined;
    else if (insideMs === undefined || whole.length > 0) insideMs = clock.steadyMs();
    onQuiet();
  }

  function onEnded(error: unknown): void {
    if (!closed) options.onEnded(error === undefined ? undefined : describeConnectionError(error, target));
  }

  try {
    const { onConnected, onReady } = options;
    socket = openConnection(target, { onConnected, onReady, onData, onEnded });
  } catch (error) {
    // Deferred, because the caller does not have this link yet.
    setImmediate(() => onEnded(error));
  }

  return {
    get isFull() {
      return outbox.waiting > mostWaiting;
    },
    get isPaused() {
      return isPaused;
    },
    get certificateEndsAtMs() {
      if (!(socket instanceof TLSSocket)) return undefined;
      const endsAtMs = Date.parse(socket.getPeerCertificate()?.valid_to ?? '');
      return Number.isNaN(endsAtMs) ? undefined : endsAtMs;
    },
    send(pdu) {
      log.record('out', pdu);
      outbox.first(encodePdu(pdu));
    },
    submit: outbox.submit,
    pause(paused) {
      isPaused = paused;
      if (paused) socket?.pause();
      else socket?.resume();
      if (insideMs !== undefined) insideMs = clock.steadyMs();
    },
    findStall(nowMs) {
      const { stalledSinceMs } = outbox;
      if (stalledSinceMs !== undefined && nowMs - stalledSinceMs >= writeMs) return 'stopped reading for 10 s';
      const isInside = !isPaused && insideMs !== undefined && nowMs - insideMs >= pduMs;
      return isInside ? 'sent part of a PDU and not the rest within 10 s' : undefined;
    },
    close(politely) {
      if (closed) return;
      if (politely) outbox.flush();
      closed = true;
      outbox.close();
      if (socket !== undefined) endSocket(socket, politely);
    },
  };
}

function endSocket(socket: Socket, politely: boolean): void {
  if (!politely) {
    socket.destroy();
    return;
  }
  // Octets that were not read would turn the end into a reset, which can overtake our last answer.
  socket.removeAllListeners('data');
  socket.resume();
  socket.destroySoon();
  setTimeout(() => socket.destroy(), goodbyeMs).unref();
}
