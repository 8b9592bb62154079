// Tests: test/smpp/session.test.ts
//
// One SMPP session on one socket. A closed session is never used again: bind-leg.ts makes the next one.
//
//   const session = createSession({ target, bind, window: 10, …, onBound, onDeliver, onFree, onClosed });
//   session.submit({ fields, messageId, settle(answer) { … } })   // only if session.free > 0
//   await session.unbind(30_000);
//
// It connects at once. Every state has a deadline; a bound session probes a silent peer. `settle` is called exactly once
// for each submit taken (`answered`, `not_sent` or `in_doubt`), and once more if the answer of one in doubt comes late.
import { describeBindRefusal, hintAtBindKind } from './bind-refusals.ts';
import { hintAtTls } from './connection-errors.ts';
import { type DecodedPdu, statusFor } from './decode.ts';
import type { Delivery } from './deliveries.ts';
import { createLink, type Link } from './link.ts';
import { type BareCommand, commandIds, interfaceVersion, isResponseId, type Pdu, statuses } from './pdu.ts';
import { createTraffic } from './session-traffic.ts';
import {
  because,
  type CloseReason,
  type Session,
  type SessionCounters,
  type SessionOptions,
  type SessionState,
} from './session-types.ts';

const connectMs = 10_000;
const bindMs = 10_000;
const unbindMs = 5000;
const tickMs = 250;

export function createSession(options: SessionOptions): Session {
  const { clock, log, target, bind } = options;
  const where = `${target.host}:${target.port}`;
  const counters: SessionCounters = { ignored: 0, unmatchedAnswers: 0, malformed: 0 };
  let state: SessionState = 'connecting';
  let deadlineMs = clock.steadyMs() + connectMs;
  let bindSequence = 0;
  /** Set once the session is to end: it takes no submits from then on. */
  let ending: { reason: CloseReason; drainUntilMs: number; byPeer: boolean } | undefined;
  const closedWaiters: (() => void)[] = [];
  const timer = setInterval(tick, tickMs).unref();

  const traffic = createTraffic({
    session: options,
    where,
    link: () => link,
    counters,
    maySend: () => state === 'bound' && ending === undefined && bind.command !== 'bind_receiver',
    isBound,
    onSettled: finishIfIdle,
    onUnwritten: (reason) => beginUnbind(reason, unbindMs),
  });
  const link: Link = createLink({
    target,
    clock,
    log,
    onConnected: () => {
      if (state === 'connecting') state = 'tls';
    },
    onReady: sendBind,
    onPdu: receive,
    onQuiet: traffic.regulateReading,
    onNoise: (sentence) => close(because('protocol', sentence)),
    onEnded,
  });

  function sendBind(): void {
    if (!isOpening()) return;
    enter('binding', bindMs);
    bindSequence = traffic.nextSequence();
    const { command, systemId, password, systemType, addressRange } = bind;
    const who = { systemId, password, systemType, interfaceVersion, addressTon: 0, addressNpi: 0, addressRange };
    link.send({ command, status: 0, sequence: bindSequence, ...who });
  }

  function receive({ pdu, problems }: DecodedPdu): void {
    traffic.heard();
    if (problems.length > 0) counters.malformed++;
    if (pdu.command !== 'submit_sm_resp') log.record('in', pdu);
    switch (pdu.command) {
      case 'submit_sm_resp': {
        const { status, messageId, tlvs } = pdu;
        if (!isOpening()) traffic.takeAnswer(pdu, { kind: 'answered', status, messageId, tlvs });
        else close(because('protocol', `${where} answered a submit before it was bound.`));
        break;
      }
      case 'deliver_sm':
      case 'data_sm':
        onDelivery(pdu, statusFor(problems));
        break;
      case 'enquire_link':
        sendBare('enquire_link_resp', pdu.sequence);
        break;
      case 'enquire_link_resp':
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
      case 'outbind':
      case 'alert_notification':
        counters.ignored++;
        break;
      default:
        onUnknown(pdu);
    }
  }

  function onDelivery(delivery: Delivery, status: number): void {
    if (isOpening()) traffic.answerDelivery(delivery, statuses.wrongBindStatus);
    else if (status !== statuses.ok) traffic.answerDelivery(delivery, status);
    else traffic.takeDelivery(delivery);
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
    close(hintAtBindKind({ kind: 'bind_refused', sentence: describeBindRefusal(where, status), status }, bind.command));
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
    traffic.dropUnsent();
    finishIfIdle();
  }

  function onUnbindAnswer(): void {
    if (state === 'unbinding' && ending !== undefined && !ending.byPeer) close(ending.reason);
    else counters.ignored++;
  }

  function onNack(pdu: Pdu): void {
    if (isOpening()) {
      refuseBind(pdu.status);
      return;
    }
    const unreadable = traffic.takeNack(pdu);
    if (unreadable === undefined || state !== 'bound') return;
    // A nack without a sequence may mean any PDU, so this waits for the answers to the others, which are still on their way.
    if (pdu.sequence === 0) beginUnbind(unreadable, unbindMs);
    else close(unreadable);
  }

  function onUnknown(pdu: Pdu): void {
    const commandId = pdu.command === 'unknown' ? pdu.commandId : commandIds[pdu.command];
    if (isResponseId(commandId)) counters.ignored++;
    else sendBare('generic_nack', pdu.sequence, statuses.invalidCommand);
  }

  function sendBare(command: BareCommand, sequence: number, status = 0): void {
    link.send({ command, status, sequence });
  }

  function tick(): void {
    const nowMs = clock.steadyMs();
    if (state === 'closed') return;
    if (state !== 'bound' && nowMs >= deadlineMs) {
      onDeadline();
      return;
    }
    const stall = link.findStall(nowMs);
    const reason = stall === undefined ? traffic.tick(nowMs) : because('stalled', `${where} ${stall}.`);
    if (reason !== undefined) close(reason);
    else if (isBound() && ending !== undefined && nowMs >= ending.drainUntilMs) sendUnbind();
  }

  function onDeadline(): void {
    if (state === 'binding') closeUnbound('bind_unanswered', `${where} did not answer the bind in 10 s.`);
    else if (state === 'tls') closeUnbound('connect', `${where} did not finish TLS in 10 s.`);
    else close(ending?.reason ?? because('connect', `${where} did not take the connection in 10 s.`));
  }

  /** Once no answer is open: sends our unbind, or closes after the peer's unbind. */
  function finishIfIdle(): void {
    if (ending === undefined || !traffic.isIdle) return;
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
    traffic.dropUnsent();
    sendBare('unbind', traffic.nextSequence());
  }

  function onEnded(sentence: string | undefined): void {
    const kind = state === 'connecting' || state === 'tls' ? 'connect' : 'lost';
    const when = { tls: ' before TLS was ready', binding: ' before it answered the bind' }[state as string] ?? '';
    const what = sentence ?? `${where} closed the connection${when}.`;
    if (state === 'unbinding' && ending !== undefined) close(ending.reason);
    else closeUnbound(kind, what);
  }

  /** Before it is bound, settings that do not fit the carrier are the likeliest reason. */
  function closeUnbound(kind: CloseReason['kind'], sentence: string): void {
    if (state === 'tls') close(because(kind, hintAtTls(sentence, target, state)));
    else if (state !== 'binding') close(because(kind, sentence));
    else close(hintAtBindKind(because(kind, hintAtTls(sentence, target, state)), bind.command));
  }

  function close(reason: CloseReason): void {
    if (state === 'closed') return;
    const politely = state === 'unbinding' || reason.kind === 'peer_unbind';
    state = 'closed';
    clearInterval(timer);
    traffic.close();
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
      return traffic.free;
    },
    get inFlight() {
      return traffic.inFlight;
    },
    counters,
    get certificateEndsAtMs() {
      return link.certificateEndsAtMs;
    },
    submit: traffic.submit,
    tick,
    unbind(drainMs = 0) {
      if (state === 'closed') return Promise.resolve();
      const closed = new Promise<void>((resolve) => closedWaiters.push(resolve));
      beginUnbind(because('stopped', 'Unbound.'), drainMs);
      return closed;
    },
  };
}
