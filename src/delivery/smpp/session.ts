// One SMPP session on one socket. A closed session is never used again: bind-leg.ts makes the next one.
//
//   const session = createSession({ target, bind, window: 10, …, onBound, onDeliver, onFree, onClosed });
//   session.submit({ fields, messageId, settle(answer) { … } })   // only if session.free > 0
//   await session.unbind(30_000);
//
// It connects at once. Every state has a deadline; a bound session probes a silent peer. `settle` is called exactly once
// for each submit taken (`answered`, `not_sent` or `in_doubt`), and once more if the answer of one in doubt comes late.
import { describeBindRefusal, statusHex } from './bind-refusals.ts';
import { hintAtCertificate } from './connection-errors.ts';
import { type DecodedPdu, statusFor } from './decode-pdu.ts';
import { createDeliveries, type Delivery } from './deliveries.ts';
import { encodePdu } from './encode-pdu.ts';
import { createLink } from './link.ts';
import { createLiveness } from './liveness.ts';
import {
  type BareCommand,
  commandIds,
  interfaceVersion,
  isResponseId,
  type Pdu,
  type SubmitPdu,
  statuses,
} from './pdu.ts';
import type { CloseReason, Session, SessionCounters, SessionOptions, SessionState } from './session-types.ts';
import { createSubmitWindow, type SubmitAnswer, type SubmitRequest } from './submit-window.ts';

const connectMs = 10_000;
const bindMs = 10_000;
const unbindMs = 5000;
const tickMs = 250;
/** Stands for the status of a generic_nack that says 0. */
const unknownError = 0xff;

export function createSession(options: SessionOptions): Session {
  const { clock, log, target, bind } = options;
  const where = `${target.host}:${target.port}`;
  const counters: SessionCounters = { ignored: 0, unmatchedAnswers: 0, malformed: 0 };
  let state: SessionState = 'connecting';
  let deadlineMs = clock.steadyMs() + connectMs;
  let bindSequence = 0;
  let probeSequence = -1;
  /** Set as soon as the end is decided: no submit is taken from then on. */
  let ending: { reason: CloseReason; drainUntilMs: number; byPeer: boolean } | undefined;
  const closedWaiters: (() => void)[] = [];
  const timer = setInterval(tick, tickMs).unref();

  const window = createSubmitWindow(options);
  const liveness = createLiveness({
    clock,
    enquireLinkMs: options.enquireLinkMs,
    sendProbe() {
      probeSequence = window.nextSequence();
      sendBare('enquire_link', probeSequence);
    },
  });
  const deliveries = createDeliveries({
    clock,
    handle: options.onDeliver,
    answer: answerDelivery,
    onFailed: () => beginUnbind(because('unwritten', 'A receipt could not be written.'), unbindMs),
    onChange() {
      regulateReading();
      finishIfIdle();
    },
  });
  const link = createLink({
    target,
    clock,
    log,
    onConnected: () => {
      if (state === 'connecting') state = 'tls';
    },
    onReady: sendBind,
    onPdu: receive,
    onQuiet: regulateReading,
    onNoise: (sentence) => close(because('protocol', sentence)),
    onEnded,
  });

  function sendBind(): void {
    if (!isOpening()) return;
    enter('binding', bindMs);
    bindSequence = window.nextSequence();
    const { command, systemId, password, systemType, addressRange } = bind;
    const who = { systemId, password, systemType, interfaceVersion, addressTon: 0, addressNpi: 0, addressRange };
    link.send({ command, status: 0, sequence: bindSequence, ...who });
  }

  function receive({ pdu, problems }: DecodedPdu): void {
    liveness.heard();
    if (problems.length > 0) counters.malformed++;
    if (pdu.command !== 'submit_sm_resp') log.record('in', pdu);
    switch (pdu.command) {
      case 'submit_sm_resp':
        onSubmitAnswer(pdu, { kind: 'answered', status: pdu.status, messageId: pdu.messageId, tlvs: pdu.tlvs });
        break;
      case 'deliver_sm':
      case 'data_sm':
        onDelivery(pdu, statusFor(problems));
        break;
      case 'enquire_link':
        sendBare('enquire_link_resp', pdu.sequence);
        break;
      case 'bind_receiver_resp':
      case 'bind_transmitter_resp':
      case 'bind_transceiver_resp':
        onBindAnswer(pdu);
        break;
      case 'unbind':
        onUnbind(pdu.sequence);
        break;
      case 'unbind_resp':
        onUnbindAnswer();
        break;
      case 'generic_nack':
        onNack(pdu);
        break;
      case 'enquire_link_resp':
        break;
      case 'outbind':
      case 'alert_notification':
        counters.ignored++;
        break;
      default:
        onUnknown(pdu);
    }
  }

  function onBindAnswer(pdu: Pdu): void {
    const fits = state === 'binding' && pdu.command === `${bind.command}_resp` && pdu.sequence === bindSequence;
    if (!fits) counters.ignored++;
    else if (pdu.status !== statuses.ok) refuseBind(pdu.status);
    else {
      state = 'bound';
      options.onBound();
    }
  }

  function refuseBind(status: number): void {
    close({ kind: 'bind_refused', sentence: describeBindRefusal(where, status), status });
  }

  function onSubmitAnswer(pdu: Pdu, answer: SubmitAnswer): void {
    if (isOpening()) {
      close(because('protocol', `${where} answered a submit before it was bound.`));
      return;
    }
    const wasFull = window.size >= options.window;
    const entry = window.answer(pdu.sequence, answer);
    log.record('in', pdu, entry?.messageId ?? null);
    if (entry === undefined) counters.unmatchedAnswers++;
    else afterAnswer(wasFull);
  }

  function onDelivery(delivery: Delivery, status: number): void {
    if (isOpening()) answerDelivery(delivery, statuses.wrongBindStatus);
    else if (status !== statuses.ok) answerDelivery(delivery, status);
    else deliveries.take(delivery);
  }

  function onUnbind(sequence: number): void {
    sendBare('unbind_resp', sequence);
    const reason = ending?.reason ?? because('peer_unbind', `${where} ended the session.`);
    if (state !== 'bound') {
      close(reason);
      return;
    }
    ending = { reason, drainUntilMs: 0, byPeer: true };
    enter('unbinding', unbindMs);
    window.dropUnsent();
    finishIfIdle();
  }

  function onUnbindAnswer(): void {
    if (state === 'unbinding' && ending !== undefined && !ending.byPeer) close(ending.reason);
    else counters.ignored++;
  }

  /** Refuses the PDU with its sequence. Any other nack means that the peer could not read us. */
  function onNack(pdu: Pdu): void {
    if (isOpening()) {
      refuseBind(pdu.status);
      return;
    }
    const status = pdu.status === statuses.ok ? unknownError : pdu.status;
    const wasFull = window.size >= options.window;
    if (window.answer(pdu.sequence, { kind: 'answered', status, messageId: '', tlvs: [] }) !== undefined) {
      afterAnswer(wasFull);
    } else if (state === 'bound' && pdu.sequence !== probeSequence) {
      close(because('protocol', `${where} could not read what we sent (generic_nack ${statusHex(pdu.status)}).`));
    }
  }

  function onUnknown(pdu: Pdu): void {
    const commandId = pdu.command === 'unknown' ? pdu.commandId : commandIds[pdu.command];
    if (isResponseId(commandId)) counters.ignored++;
    else sendBare('generic_nack', pdu.sequence, statuses.invalidCommand);
  }

  function sendBare(command: BareCommand, sequence: number, status = 0): void {
    link.send({ command, status, sequence });
  }

  function answerDelivery({ command, sequence }: Delivery, status: number): void {
    const answer = command === 'deliver_sm' ? 'deliver_sm_resp' : 'data_sm_resp';
    if (state !== 'closed') link.send({ command: answer, status, sequence, messageId: '', tlvs: [] });
  }

  function free(): number {
    const maySend = state === 'bound' && ending === undefined && bind.command !== 'bind_receiver';
    return maySend ? Math.max(0, options.window - window.size) : 0;
  }

  function submit({ fields, messageId, deadlineMs: ownMs, settle }: SubmitRequest): boolean {
    if (free() === 0) return false;
    const sequence = window.nextSequence();
    const pdu: SubmitPdu = { command: 'submit_sm', status: 0, sequence, ...fields };
    const sentMs = clock.steadyMs();
    const dueMs = sentMs + (ownMs ?? options.responseMs);
    const entry = { sequence, messageId, settle, unsent: { pdu, frame: encodePdu(pdu) }, sentMs, dueMs };
    window.add(entry);
    link.submit(entry);
    return true;
  }

  /** Stops reading while receipts wait for the database, or answers for the peer. */
  function regulateReading(): void {
    const pause = deliveries.tooMany || link.isFull;
    if (pause === link.isPaused || state === 'closed') return;
    link.pause(pause);
    // While we do not read, the peer's silence means nothing.
    liveness.heard();
  }

  function tick(): void {
    const nowMs = clock.steadyMs();
    if (state === 'closed') return;
    if (state !== 'bound' && nowMs >= deadlineMs) {
      onDeadline();
      return;
    }
    const stall = link.findStall(nowMs);
    if (stall !== undefined) {
      close(because('stalled', `${where} ${stall}.`));
      return;
    }
    expire(nowMs);
    if (deliveries.isOverdue(nowMs)) {
      beginUnbind(because('unwritten', 'A receipt could not be written within a minute.'), unbindMs);
    }
    if (isBound() && ending !== undefined && nowMs >= ending.drainUntilMs) sendUnbind();
    if (isBound() && !link.isPaused && !liveness.check(nowMs)) {
      const silentS = Math.round((nowMs - liveness.heardMs) / 1000);
      close(because('silent', `${where} answered nothing for ${silentS} s.`));
    }
  }

  function onDeadline(): void {
    if (state === 'binding') close(because('bind_unanswered', `${where} did not answer the bind in 10 s.`));
    else if (ending !== undefined) close(ending.reason);
    else {
      const what = state === 'tls' ? 'did not finish TLS' : 'did not take the connection';
      close(because('connect', `${where} ${what} in 10 s.`));
    }
  }

  function expire(nowMs: number): void {
    const wasFull = window.size >= options.window;
    const sentMs = window.expire(nowMs).map((entry) => entry.sentMs);
    if (sentMs.length > 0 && isBound() && !link.isPaused) liveness.doubt(sentMs, window.timeoutsInRow);
    afterAnswer(wasFull);
  }

  function afterAnswer(wasFull: boolean): void {
    finishIfIdle();
    if (wasFull && free() > 0) options.onFree();
  }

  /** Once nothing is open any more, the end comes that was decided. */
  function finishIfIdle(): void {
    if (ending === undefined || window.size > 0 || deliveries.open > 0) return;
    if (state === 'bound') sendUnbind();
    else if (state === 'unbinding' && ending.byPeer) close(ending.reason);
  }

  function beginUnbind(reason: CloseReason, drainMs: number): void {
    if (isOpening()) close(reason);
    if (state !== 'bound') return;
    const drainUntilMs = clock.steadyMs() + drainMs;
    if (ending !== undefined && ending.drainUntilMs <= drainUntilMs) return;
    ending = { reason: ending?.reason ?? reason, drainUntilMs, byPeer: false };
    if (drainMs === 0) sendUnbind();
    else finishIfIdle();
  }

  function sendUnbind(): void {
    enter('unbinding', unbindMs);
    window.dropUnsent();
    sendBare('unbind', window.nextSequence());
  }

  function onEnded(sentence: string | undefined): void {
    const kind = state === 'connecting' || state === 'tls' ? 'connect' : 'lost';
    const when = { tls: ' before TLS was ready', binding: ' before it answered the bind' }[state as string] ?? '';
    const what = sentence ?? `${where} closed the connection${when}.`;
    const reason = because(kind, when === '' ? what : hintAtCertificate(what, target));
    close(state === 'unbinding' && ending !== undefined ? ending.reason : reason);
  }

  function close(reason: CloseReason): void {
    if (state === 'closed') return;
    const politely = state === 'unbinding' || reason.kind === 'peer_unbind';
    state = 'closed';
    clearInterval(timer);
    window.close();
    link.close(politely);
    options.onClosed(reason);
    for (const resolve of closedWaiters) resolve();
  }

  function enter(next: SessionState, withinMs: number): void {
    state = next;
    deadlineMs = clock.steadyMs() + withinMs;
  }

  function isOpening(): boolean {
    return state === 'connecting' || state === 'tls' || state === 'binding';
  }

  function isBound(): boolean {
    return state === 'bound';
  }

  return {
    get state() {
      return state;
    },
    get free() {
      return free();
    },
    get inFlight() {
      return window.size;
    },
    counters,
    submit,
    tick,
    unbind(drainMs = 0) {
      if (state === 'closed') return Promise.resolve();
      const closed = new Promise<void>((resolve) => closedWaiters.push(resolve));
      beginUnbind(because('stopped', 'Unbound.'), drainMs);
      return closed;
    },
  };
}

function because(kind: CloseReason['kind'], sentence: string): CloseReason {
  return { kind, sentence, status: 0 };
}
