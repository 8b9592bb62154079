// Tests: test/smpp/smsc.test.ts
import { type Clock, toTimestamp } from '../platform/clock.ts';
import { type BindPdu, type SubmitFields, type SubmitPdu, statuses } from '../smpp/pdu.ts';
import type { BindMode, Connection, ConnectionOwner } from './connection.ts';
import { type Behaviour, treatmentOf } from './faults.ts';
import { writeIds } from './message-ids.ts';
import { isAsked, toReceipt } from './receipt-pdu.ts';
import { createReceiptQueue, type Receiver } from './receipt-queue.ts';
import { createTextStore, type ShownText, type StoredText } from './text-store.ts';

export interface DeskOptions {
  clock: Clock;
  /** Read again for every submit. */
  behaviour: Behaviour;
  /** Every bind must have it; without it any password is right. */
  password?: string | undefined;
  /** Called for every submit_sm that arrives, before its answer. */
  onSubmit?: ((submit: SubmitPdu, systemId: string) => void) | undefined;
}

export interface SmscState {
  binds: { id: number; system_id: string; mode: BindMode; submits: number; since: string }[];
  counts: SmscCounts & { receipts_waiting: number; receipts_lost: number };
}

interface SmscCounts {
  submits: number;
  accepted: number;
  refused: number;
  unanswered: number;
  receipts_sent: number;
  receipts_acknowledged: number;
  receipts_refused: number;
}

/** Handles binds, submits and receipts, over all connections. */
export interface Desk extends ConnectionOwner<StoredText> {
  texts(most: number): ShownText[];
  clearTexts(): void;
  state(): SmscState;
  /** Drops answers that were to come later: their connections are gone. */
  forgetAnswers(): void;
  stop(): void;
}

type Peer = Connection<StoredText>;

/** A receipt that the peer refused is sent again after this time. */
const againAfterMs = 1000;
/** No PDU has this length, so the peer loses its framing. */
const garbage = Buffer.from('ffffffff00bad0bad0bad0bad0bad0ba', 'hex');

export function createDesk({ clock, behaviour, password, onSubmit }: DeskOptions): Desk {
  const store = createTextStore();
  const peers = new Map<number, { peer: Peer; since: string }>();
  const timers = new Set<NodeJS.Timeout>();
  const counts: SmscCounts = {
    submits: 0,
    accepted: 0,
    refused: 0,
    unanswered: 0,
    receipts_sent: 0,
    receipts_acknowledged: 0,
    receipts_refused: 0,
  };
  // Ids go on rising over restarts, at up to a million texts a second.
  let lastId = Math.floor(clock.nowMs() / 1000) * 1_000_000;
  let turn = 0;
  const receipts = createReceiptQueue(clock, receiverFor);

  /** The receivers of a system_id take turns. */
  function receiverFor(systemId: string): Receiver | undefined {
    const able: Peer[] = [];
    for (const { peer } of peers.values()) {
      if (peer.systemId === systemId && peer.isReceiver && peer.room > 0) able.push(peer);
    }
    const peer = able[turn++ % Math.max(1, able.length)];
    return peer === undefined ? undefined : { room: peer.room, send: (text) => sendReceipt(peer, text) };
  }

  function sendReceipt(peer: Peer, text: StoredText): void {
    const fields = toReceipt(text, behaviour, clock.nowMs());
    text.receipt = 'sent';
    for (let copies = behaviour.receipts_twice ? 2 : 1; copies > 0; copies--) {
      counts.receipts_sent++;
      peer.deliver(fields, text);
    }
  }

  function admit(bind: BindPdu): number {
    if (behaviour.bind_status !== 0) return behaviour.bind_status;
    return password === undefined || bind.password === password ? statuses.ok : statuses.invalidPassword;
  }

  function submitted(peer: Peer, pdu: SubmitPdu): void {
    counts.submits++;
    onSubmit?.(pdu, peer.systemId);
    if (behaviour.drop_after > 0 && peer.submits >= behaviour.drop_after) {
      counts.unanswered++;
      peer.drop();
      return;
    }
    treat(peer, pdu);
    if (behaviour.unbind_after > 0 && peer.submits === behaviour.unbind_after) peer.unbind();
  }

  function treat(peer: Peer, pdu: SubmitPdu): void {
    switch (treatmentOf(counts.submits, behaviour)) {
      case 'answer':
        accept(peer, pdu);
        break;
      case 'throttle':
        refuse(peer, pdu, statuses.throttled);
        break;
      case 'refuse':
        refuse(peer, pdu, behaviour.refuse_status);
        break;
      case 'silent':
        leaveUnanswered(peer, pdu);
        break;
      case 'garbage':
        leaveUnanswered(peer, pdu);
        peer.sendRaw(garbage);
    }
  }

  function leaveUnanswered(peer: Peer, pdu: SubmitPdu): void {
    counts.unanswered++;
    keep(peer, pdu, null);
  }

  function accept(peer: Peer, pdu: SubmitPdu): void {
    counts.accepted++;
    const text = keep(peer, pdu, statuses.ok);
    const isDue = isAsked(pdu.registeredDelivery, behaviour.receipt_state);
    if (isDue) text.receipt = 'due';
    if (isDue && behaviour.early_receipts) receipts.add(text, 0);
    answer(peer, pdu.sequence, text);
    if (isDue && !behaviour.early_receipts) receipts.add(text, behaviour.slow_ms + behaviour.receipt_after_ms);
  }

  function refuse(peer: Peer, pdu: SubmitPdu, status: number): void {
    counts.refused++;
    answer(peer, pdu.sequence, keep(peer, pdu, status));
  }

  function answer(peer: Peer, sequence: number, { status, responseId }: StoredText): void {
    const send = () => peer.answer(sequence, status ?? 0, status === 0 ? responseId : '');
    if (behaviour.slow_ms === 0) {
      send();
      return;
    }
    const timer = setTimeout(() => {
      timers.delete(timer);
      send();
    }, behaviour.slow_ms);
    timers.add(timer);
  }

  function keep(peer: Peer, pdu: SubmitPdu, status: number | null): StoredText {
    const ids = status === 0 ? writeIds(++lastId, behaviour.ids) : { responseId: '', receiptId: '' };
    const receipt = (pdu.registeredDelivery & 0x03) === 0 ? 'not asked' : 'none';
    const submit = withOwnOctets(pdu);
    const text: StoredText = { systemId: peer.systemId, submit, receivedAtMs: clock.nowMs(), status, ...ids, receipt };
    store.add(text);
    return text;
  }

  function delivered(peer: Peer, text: StoredText, status: number | null): void {
    if (status === 0) {
      counts.receipts_acknowledged++;
      text.receipt = 'acknowledged';
    } else {
      text.receipt = status === null ? 'due' : 'refused';
      if (status !== null) counts.receipts_refused++;
      receipts.add(text, status === null ? 0 : againAfterMs);
    }
    receipts.wake(peer.systemId);
  }

  return {
    behaviour: () => behaviour,
    admit,
    bound(peer) {
      peers.set(peer.id, peers.get(peer.id) ?? { peer, since: toTimestamp(clock.nowMs()) });
      if (peer.isReceiver) receipts.wake(peer.systemId);
    },
    submitted,
    delivered,
    closed: ({ id }) => void peers.delete(id),
    texts: (most) => store.list(most, behaviour.charset),
    clearTexts: () => store.clear(),
    state: () => ({
      binds: [...peers.values()].flatMap(({ peer: { id, systemId, mode, submits }, since }) =>
        mode === null ? [] : [{ id, system_id: systemId, mode, submits, since }],
      ),
      counts: { ...counts, receipts_waiting: receipts.waiting, receipts_lost: receipts.lost },
    }),
    forgetAnswers() {
      for (const timer of timers) clearTimeout(timer);
      timers.clear();
    },
    stop: () => receipts.stop(),
  };
}

/** The octets of a PDU share the memory of the chunk that they came in: a kept text must not keep its neighbours. */
function withOwnOctets(pdu: SubmitPdu): SubmitFields {
  pdu.shortMessage = Buffer.from(pdu.shortMessage);
  for (const tlv of pdu.tlvs) tlv.value = Buffer.from(tlv.value);
  return pdu;
}
