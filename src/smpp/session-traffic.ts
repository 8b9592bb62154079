// Tests: test/smpp/session.test.ts
import { statusHex } from './bind-refusals.ts';
import { createDeliveries, type Delivery } from './deliveries.ts';
import { encodePdu } from './encode.ts';
import type { Link } from './link.ts';
import { createLiveness } from './liveness.ts';
import { type Pdu, statuses, submitPdu } from './pdu.ts';
import { because, type CloseReason, type SessionCounters, type SessionOptions } from './session-types.ts';
import { createSubmitWindow, type SubmitAnswer, type SubmitRequest } from './submit-window.ts';

/** Stands for the status of a generic_nack that says 0. */
const unknownError = 0xff;

export interface TrafficOptions {
  session: SessionOptions;
  where: string;
  link: () => Link;
  counters: SessionCounters;
  /** Whether submits may be sent now. */
  maySend: () => boolean;
  isBound: () => boolean;
  /** All submits and deliveries may be settled now. */
  onSettled: () => void;
  /** A receipt could not be written. */
  onUnwritten: (reason: CloseReason) => void;
}

/** The traffic of a bound session: submits and their answers, receipts and texts, probes. */
export interface Traffic {
  readonly free: number;
  readonly inFlight: number;
  /** True if neither side waits for an answer. */
  readonly isIdle: boolean;
  nextSequence(): number;
  submit(request: SubmitRequest): boolean;
  /** Call it for every PDU that comes. */
  heard(): void;
  takeAnswer(pdu: Pdu, answer: SubmitAnswer): void;
  /** Refuses the submit with its sequence. Returns a reason to close if no submit of ours has it. */
  takeNack(pdu: Pdu): CloseReason | undefined;
  takeDelivery(delivery: Delivery): void;
  answerDelivery(delivery: Delivery, status: number): void;
  /** Stops reading while receipts wait for the database, or answers for the peer. */
  regulateReading(): void;
  /** Checks the deadlines. Returns a reason to close. */
  tick(nowMs: number): CloseReason | undefined;
  dropUnsent(): void;
  /** Settles everything. */
  close(): void;
}

export function createTraffic(options: TrafficOptions): Traffic {
  const { session, where, link, counters, maySend, isBound, onSettled, onUnwritten } = options;
  const { clock, log } = session;
  const window = createSubmitWindow(session);
  let probeSequence = -1;
  let closed = false;

  const liveness = createLiveness({
    clock,
    enquireLinkMs: () => session.enquireLinkMs,
    sendProbe() {
      probeSequence = window.nextSequence();
      link().send({ command: 'enquire_link', status: 0, sequence: probeSequence });
    },
  });
  const deliveries = createDeliveries({
    clock,
    handle: session.onDeliver,
    answer: answerDelivery,
    onFailed: () => onUnwritten(because('unwritten', 'A receipt could not be written.')),
    onChange() {
      regulateReading();
      onSettled();
    },
  });

  function free(): number {
    return maySend() ? Math.max(0, session.window - window.size) : 0;
  }

  function submit({ fields, messageId, deadlineMs, writeBeforeMs, onWritten, settle }: SubmitRequest): boolean {
    if (free() === 0) return false;
    const sequence = window.nextSequence();
    const pdu = submitPdu(sequence, fields);
    const sentMs = clock.steadyMs();
    const answerWithinMs = deadlineMs ?? session.responseMs;
    const entry = {
      sequence,
      messageId,
      settle,
      onWritten,
      unsent: { pdu, frame: encodePdu(pdu) },
      sentMs,
      writeBeforeMs: writeBeforeMs ?? sentMs + answerWithinMs,
      answerWithinMs,
    };
    window.add(entry);
    link().submit(entry);
    return true;
  }

  /** Runs a step that may settle submits, and calls `onFree` when a full window has room again. */
  function settling<Result>(work: () => Result): Result {
    const wasFull = window.size >= session.window;
    const result = work();
    onSettled();
    if (wasFull && free() > 0) session.onFree();
    return result;
  }

  function answerDelivery({ command, sequence }: Delivery, status: number): void {
    const answer = command === 'deliver_sm' ? 'deliver_sm_resp' : 'data_sm_resp';
    if (!closed) link().send({ command: answer, status, sequence, messageId: '', tlvs: [] });
  }

  function regulateReading(): void {
    const pause = deliveries.tooMany || link().isFull;
    if (closed || pause === link().isPaused) return;
    link().pause(pause);
    // While we do not read, the peer's silence means nothing.
    liveness.heard();
  }

  function expire(nowMs: number): void {
    const sentMs = settling(() => window.expire(nowMs)).map((entry) => entry.sentMs);
    if (sentMs.length > 0 && isBound() && !link().isPaused) liveness.doubt(sentMs, window.timeoutsInRow);
  }

  return {
    get free() {
      return free();
    },
    get inFlight() {
      return window.size;
    },
    get isIdle() {
      return window.size === 0 && deliveries.open === 0;
    },
    nextSequence: window.nextSequence,
    submit,
    heard: liveness.heard,
    takeAnswer(pdu, answer) {
      const entry = settling(() => window.answer(pdu.sequence, answer));
      log.record('in', pdu, entry?.messageId ?? null);
      if (entry === undefined) counters.unmatchedAnswers++;
    },
    takeNack({ sequence, status: given }) {
      const status = given === statuses.ok ? unknownError : given;
      const refused = settling(() => window.answer(sequence, { kind: 'answered', status, messageId: '', tlvs: [] }));
      if (refused !== undefined || sequence === probeSequence) return undefined;
      return because('protocol', `${where} rejected a PDU that we sent (generic_nack ${statusHex(given)}).`);
    },
    takeDelivery: deliveries.take,
    answerDelivery,
    regulateReading,
    tick(nowMs) {
      expire(nowMs);
      if (deliveries.isOverdue(nowMs)) {
        onUnwritten(because('unwritten', 'A receipt could not be written within a minute.'));
      }
      if (!isBound() || link().isPaused || liveness.check(nowMs)) return undefined;
      const silentS = Math.round((nowMs - liveness.heardMs) / 1000);
      return because('silent', `${where} answered nothing for ${silentS} s.`);
    },
    dropUnsent: window.dropUnsent,
    close() {
      closed = true;
      window.close();
    },
  };
}
