// Tests: test/smpp-server/binds.test.ts, test/smpp-server/peers.test.ts, test/smpp-server/leaving.test.ts
//
// One connection of a program that binds to us. Every state has a deadline, and what it may hold is bounded: at most
// `mostRequests` requests are worked on, answers wait in a bounded buffer, and a peer that does not read them is cut off.
import type { Socket } from 'node:net';
import type { Clock } from '../platform/clock.ts';
import { type DecodedPdu, decodePdu, statusFor } from '../smpp/decode.ts';
import { encodePdu } from '../smpp/encode.ts';
import { createFrameReader } from '../smpp/frames.ts';
import {
  type BareCommand,
  type BindAnswerCommand,
  type BindPdu,
  type CancelPdu,
  commandIds,
  interfaceVersion,
  isResponseId,
  type Pdu,
  type QueryPdu,
  type SubmitFields,
  type SubmitPdu,
  statuses,
  tlvTags,
} from '../smpp/pdu.ts';
import type { BindMode } from './account.ts';
import { createAwaited, type Settle } from './awaited.ts';
import { createOutgoing } from './outgoing.ts';
import type { AnswerSubmit, QueryAnswer } from './requests.ts';

/** The mode in which a bind was admitted. */
export interface Admitted {
  readonly mode: BindMode;
}

export interface PeerDesk<Bound extends Admitted> {
  /** The status to answer with, or what is bound. */
  bind(pdu: BindPdu, peer: Peer): Promise<Bound | number>;
  bound(bound: Bound, peer: Peer): void;
  /** Calls `answer` once, now or later. */
  submit(bound: Bound, pdu: SubmitPdu, answer: AnswerSubmit): void;
  query(bound: Bound, pdu: QueryPdu): Promise<QueryAnswer>;
  cancel(bound: Bound, pdu: CancelPdu): Promise<number>;
  /** A PDU of a bound peer that was refused before it reached the desk. */
  refused(bound: Bound, command: string, status: number, why: string): void;
  /** The peer has room for more deliveries. */
  hasRoom(bound: Bound): void;
  /** The peer sends no more, though it may still read the answers that it waits for. */
  left(bound: Bound): void;
  closed(peer: Peer, bound: Bound | undefined): void;
}

export interface PeerOptions<Bound extends Admitted> {
  socket: Socket;
  clock: Clock;
  desk: PeerDesk<Bound>;
  /** The peer's address, as the socket has it. */
  address: string;
  tls: boolean;
}

export interface Peer {
  readonly address: string;
  readonly tls: boolean;
  readonly isBound: boolean;
  /** How many deliver_sm it takes now. */
  readonly room: number;
  deliver(fields: SubmitFields, settle: Settle): void;
  /** Checks all deadlines. */
  tick(nowMs: number): void;
  /** Finishes what is under way for at most this time, unbinds and closes. */
  end(drainMs: number): Promise<void>;
  /** Closes at once. */
  cut(): void;
}

type State = 'open' | 'binding' | 'bound' | 'unbinding' | 'closed';

const name = 'heliograph';
/** Time limits: to bind; to finish a PDU; to read our answers; to answer our unbind. */
const [bindMs, pduMs, readMs, unbindMs] = [5000, 10_000, 10_000, 5000];
/** Time limit for the answers to a peer that leaves: without them it would submit texts again that are already stored. */
const answersMs = 30_000;
/** A silent peer is probed, and cut off when the probe is not answered. */
const [silentMs, probeMs] = [60_000, 10_000];
/** Maximum number of requests under way. Reading resumes when half of them are left. */
const mostRequests = 1000;

const modes: Record<BindPdu['command'], BindMode> = {
  bind_receiver: 'receiver',
  bind_transmitter: 'transmitter',
  bind_transceiver: 'transceiver',
};

export function servePeer<Bound extends Admitted>(options: PeerOptions<Bound>): Peer {
  const { socket, clock, desk, address, tls } = options;
  const frames = createFrameReader();
  const outgoing = createOutgoing(socket, clock, regulate);
  const awaited = createAwaited(clock);
  let state: State = 'open';
  let bound: Bound | undefined;
  let sinceMs = clock.steadyMs();
  let heardMs = sinceMs;
  let probedMs: number | undefined;
  let insideMs: number | undefined;
  let requests = 0;
  let isPaused = false;
  /** The sequence of the peer's own unbind: it is answered once its requests are. */
  let peerUnbind: number | undefined;
  /** The peer has closed its side of the connection. */
  let isHalfClosed = false;
  const waiters: (() => void)[] = [];

  const peer: Peer = {
    address,
    tls,
    get isBound() {
      return state === 'bound';
    },
    get room() {
      const mayReceive = state === 'bound' && bound?.mode !== 'transmitter' && !outgoing.isFull;
      return mayReceive ? awaited.room : 0;
    },
    deliver(fields, settle) {
      const sequence = awaited.add(settle);
      send({ command: 'deliver_sm', status: 0, sequence, ...fields });
    },
    tick,
    end,
    cut: close,
  };

  function send(pdu: Pdu): void {
    outgoing.send(encodePdu(pdu));
  }

  function sendBare(command: BareCommand, sequence: number, status = 0): void {
    send({ command, status, sequence });
  }

  function read(chunk: Buffer): void {
    const whole = frames.read(chunk);
    if (whole.length > 0) {
      heardMs = clock.steadyMs();
      probedMs = undefined;
    }
    for (const frame of whole) {
      if (state === 'closed') return;
      receive(decodePdu(frame));
    }
    if (frames.lost !== undefined) {
      noteLost(frames.lost);
      close();
      return;
    }
    if (!frames.isInside) insideMs = undefined;
    else if (insideMs === undefined || whole.length > 0) insideMs = clock.steadyMs();
    regulate();
  }

  function noteLost(why: string): void {
    if (bound !== undefined) desk.refused(bound, 'connection', statuses.invalidCommandLength, why);
  }

  /** Stops reading while too much is under way, or while the peer does not read our answers. */
  function regulate(): void {
    if (state === 'closed') return;
    const pause = outgoing.isFull || requests >= (isPaused ? mostRequests / 2 : mostRequests);
    if (pause === isPaused) return;
    isPaused = pause;
    if (pause) socket.pause();
    else socket.resume();
    // While we do not read, the peer's silence means nothing.
    probedMs = undefined;
    heardMs = clock.steadyMs();
    if (insideMs !== undefined) insideMs = heardMs;
  }

  function receive({ pdu, problems }: DecodedPdu): void {
    switch (pdu.command) {
      case 'submit_sm':
        onSubmit(pdu, problems.length === 0 ? 0 : statusFor(problems));
        break;
      case 'deliver_sm_resp':
      case 'generic_nack':
        onAnswer(pdu.sequence, pdu.status);
        break;
      case 'enquire_link':
        sendBare('enquire_link_resp', pdu.sequence);
        break;
      case 'enquire_link_resp':
        break;
      case 'bind_receiver':
      case 'bind_transmitter':
      case 'bind_transceiver':
        void onBind(pdu, statusFor(problems));
        break;
      case 'query_sm':
        onQuery(pdu, statusFor(problems));
        break;
      case 'cancel_sm':
        onCancel(pdu, statusFor(problems));
        break;
      case 'unbind':
        onUnbind(pdu.sequence);
        break;
      case 'unbind_resp':
        if (state === 'unbinding' && !isLeaving()) close();
        break;
      default:
        onUnknown(pdu);
    }
  }

  function onUnknown(pdu: Pdu): void {
    const commandId = pdu.command === 'unknown' ? pdu.commandId : commandIds[pdu.command];
    if (isResponseId(commandId)) return;
    sendBare('generic_nack', pdu.sequence, statuses.invalidCommand);
    const command = pdu.command === 'unknown' ? `0x${commandId.toString(16).padStart(8, '0')}` : pdu.command;
    if (bound !== undefined) desk.refused(bound, command, statuses.invalidCommand, 'this command is not supported');
  }

  async function onBind(pdu: BindPdu, problem: number): Promise<void> {
    if (state !== 'open' || problem !== statuses.ok) {
      answerBind(pdu, state === 'open' ? problem : statuses.alreadyBound);
      return;
    }
    state = 'binding';
    const found = await desk.bind(pdu, peer).catch(() => statuses.systemError);
    if (stateNow() !== 'binding') {
      if (typeof found !== 'number') desk.closed(peer, found);
      return;
    }
    if (typeof found === 'number') {
      answerBind(pdu, found);
      // The peer must reconnect to try again: the limit on its address counts connections.
      closePolitely();
      return;
    }
    bound = found;
    state = 'bound';
    answerBind(pdu, statuses.ok);
    desk.bound(found, peer);
  }

  function answerBind(pdu: BindPdu, status: number): void {
    const command = `${pdu.command}_resp` as BindAnswerCommand;
    // A peer of SMPP 3.3 does not know TLVs.
    const takesTlvs = status === 0 && pdu.interfaceVersion >= interfaceVersion;
    const tlvs = takesTlvs ? [{ tag: tlvTags.interfaceVersion, value: Buffer.of(interfaceVersion) }] : [];
    send({ command, status, sequence: pdu.sequence, systemId: name, tlvs });
  }

  /** The bound account if the peer may send now. */
  function sender(): Bound | undefined {
    return state === 'bound' && peerUnbind === undefined && bound?.mode !== 'receiver' ? bound : undefined;
  }

  function onSubmit(pdu: SubmitPdu, problem: number): void {
    const { sequence } = pdu;
    const by = sender();
    if (by === undefined) {
      outgoing.answerSubmit(sequence, statuses.wrongBindStatus, '');
      return;
    }
    if (problem !== statuses.ok) {
      desk.refused(by, 'submit_sm', problem, 'the PDU is damaged');
      outgoing.answerSubmit(sequence, problem, '');
      return;
    }
    requests++;
    desk.submit(by, pdu, answerSubmit);
  }

  function answerSubmit(sequence: number, status: number, messageId: string): void {
    outgoing.answerSubmit(sequence, status, messageId);
    requests--;
    afterRequest();
  }

  function onQuery(pdu: QueryPdu, problem: number): void {
    const { sequence, messageId } = pdu;
    const by = sender();
    const status = by === undefined ? statuses.wrongBindStatus : problem;
    const refused = { messageId, finalDate: '', messageState: 0, errorCode: 0 };
    if (by === undefined || status !== statuses.ok) {
      send({ command: 'query_sm_resp', status, sequence, ...refused });
      return;
    }
    request(desk.query(by, pdu).then((answer) => send({ command: 'query_sm_resp', sequence, ...answer, messageId })));
  }

  function onCancel(pdu: CancelPdu, problem: number): void {
    const { sequence } = pdu;
    const by = sender();
    const status = by === undefined ? statuses.wrongBindStatus : problem;
    if (by === undefined || status !== statuses.ok) sendBare('cancel_sm_resp', sequence, status);
    else request(desk.cancel(by, pdu).then((made) => sendBare('cancel_sm_resp', sequence, made)));
  }

  function request(work: Promise<void>): void {
    requests++;
    void work.then(() => {
      requests--;
      afterRequest();
    });
  }

  function afterRequest(): void {
    if (isPaused) regulate();
    if (requests === 0) finishIfEnding();
  }

  function onAnswer(sequence: number, status: number): void {
    const hadRoom = awaited.room > 0;
    awaited.answer(sequence, status);
    if (!hadRoom && bound !== undefined && peer.room > 0) desk.hasRoom(bound);
    if (awaited.open === 0) finishIfEnding();
  }

  function onUnbind(sequence: number): void {
    if (state === 'open' || state === 'binding') {
      sendBare('unbind_resp', sequence);
      closePolitely();
      return;
    }
    peerUnbind ??= sequence;
    leave();
  }

  /** The peer has sent its last octet. Whether it still reads shows at the first write. */
  function onHalfClosed(): void {
    if (bound === undefined || state === 'closed') {
      close();
      return;
    }
    isHalfClosed = true;
    insideMs = undefined;
    probedMs = undefined;
    // The peer can acknowledge nothing more, and its account may bind again.
    awaited.close();
    desk.left(bound);
    leave();
  }

  function isLeaving(): boolean {
    return peerUnbind !== undefined || isHalfClosed;
  }

  function leave(): void {
    if (state !== 'unbinding') enter('unbinding');
    finishIfEnding();
  }

  /** Answers the peer's unbind and closes, or sends ours, once its requests are answered. */
  function finishIfEnding(): void {
    if (isLeaving() && requests === 0) {
      if (peerUnbind !== undefined) sendBare('unbind_resp', peerUnbind);
      closePolitely();
    } else if (ending !== undefined && requests === 0 && awaited.open === 0 && state === 'bound') sendUnbind();
  }

  /** Set while we end the connection: until this time, requests under way may finish. */
  let ending: { untilMs: number } | undefined;

  function end(drainMs: number): Promise<void> {
    if (state === 'closed') return Promise.resolve();
    const gone = new Promise<void>((resolve) => waiters.push(resolve));
    if (state !== 'bound') {
      if (state !== 'unbinding') close();
      return gone;
    }
    ending = { untilMs: clock.steadyMs() + drainMs };
    if (drainMs === 0) sendUnbind();
    else finishIfEnding();
    return gone;
  }

  function sendUnbind(): void {
    enter('unbinding');
    sendBare('unbind', awaited.nextSequence());
  }

  function tick(nowMs: number): void {
    if (state === 'closed') return;
    const { stalledSinceMs } = outgoing;
    const isLate =
      ((state === 'open' || state === 'binding') && nowMs - sinceMs >= bindMs) ||
      (state === 'unbinding' && nowMs - sinceMs >= (isLeaving() ? answersMs : unbindMs)) ||
      (stalledSinceMs !== undefined && nowMs - stalledSinceMs >= readMs) ||
      (!isPaused && insideMs !== undefined && nowMs - insideMs >= pduMs) ||
      (probedMs !== undefined && nowMs - probedMs >= probeMs);
    if (isLate) {
      if (stalledSinceMs !== undefined && bound !== undefined && nowMs - stalledSinceMs >= readMs)
        desk.refused(bound, 'connection', statuses.systemError, 'the peer stopped reading for 10 s and was cut off');
      close();
      return;
    }
    awaited.expire(nowMs);
    if (ending !== undefined && state === 'bound' && nowMs >= ending.untilMs) sendUnbind();
    if (state === 'bound' && !isPaused && probedMs === undefined && nowMs - heardMs >= silentMs) {
      probedMs = nowMs;
      sendBare('enquire_link', awaited.nextSequence());
    }
  }

  function enter(next: State): void {
    state = next;
    sinceMs = clock.steadyMs();
  }

  function stateNow(): State {
    return state;
  }

  function closePolitely(): void {
    outgoing.flush();
    if (state === 'closed') return;
    finish();
    // Octets that were not read would turn the end into a reset, which can overtake our last answer.
    socket.removeListener('data', read);
    socket.resume();
    socket.end();
    setTimeout(() => socket.destroy(), 1000).unref();
  }

  function close(): void {
    if (state === 'closed') return;
    finish();
    socket.destroy();
  }

  function finish(): void {
    state = 'closed';
    outgoing.close();
    awaited.close();
    desk.closed(peer, bound);
    for (const resolve of waiters) resolve();
  }

  socket.allowHalfOpen = true;
  socket.setNoDelay(true);
  socket.setKeepAlive(true, 60_000);
  socket.on('data', read);
  socket.on('error', close);
  socket.on('end', onHalfClosed);
  socket.on('close', close);
  return peer;
}

export function modeOf({ command }: BindPdu): BindMode {
  return modes[command];
}
