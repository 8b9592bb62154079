// Tests: test/smpp/smsc.test.ts
import type { Socket } from 'node:net';
import { decodePdu, statusFor } from '../smpp/decode.ts';
import { encodePdu } from '../smpp/encode.ts';
import { createFrameReader } from '../smpp/frames.ts';
import {
  type BindAnswerCommand,
  type BindPdu,
  commandIds,
  highestSequence,
  interfaceVersion,
  isResponseId,
  type Pdu,
  type SubmitFields,
  type SubmitPdu,
  statuses,
  tlvTags,
} from '../smpp/pdu.ts';
import type { Behaviour } from './faults.ts';

export type BindMode = 'transmitter' | 'receiver' | 'transceiver';

/** An ESME on its socket. `Receipt` comes back to the owner with the answer to a deliver_sm. */
export interface Connection<Receipt> {
  readonly id: number;
  readonly systemId: string;
  readonly mode: BindMode | null;
  readonly isReceiver: boolean;
  readonly submits: number;
  /** deliver_sm that may be sent now. */
  readonly room: number;
  deliver(fields: SubmitFields, receipt: Receipt): void;
  answer(sequence: number, status: number, messageId: string): void;
  /** Sends octets unchanged. */
  sendRaw(octets: Buffer): void;
  unbind(): void;
  /** Cuts the connection. */
  drop(): void;
}

export interface ConnectionOwner<Receipt> {
  behaviour(): Behaviour;
  /** The status to answer a bind with. */
  admit(bind: BindPdu): number;
  bound(connection: Connection<Receipt>): void;
  submitted(connection: Connection<Receipt>, submit: SubmitPdu): void;
  /** The peer answered a deliver_sm; null if the connection closed first. */
  delivered(connection: Connection<Receipt>, receipt: Receipt, status: number | null): void;
  closed(connection: Connection<Receipt>): void;
}

const name = 'heliograph-smsc';
const bindWithinMs = 30_000;
/** deliver_sm that the peer has not answered. */
const receiptWindow = 100;
const modeOf: Record<BindPdu['command'], BindMode> = {
  bind_receiver: 'receiver',
  bind_transmitter: 'transmitter',
  bind_transceiver: 'transceiver',
};

export function serveConnection<Receipt>(socket: Socket, id: number, owner: ConnectionOwner<Receipt>): void {
  const frames = createFrameReader();
  const undelivered = new Map<number, Receipt>();
  let systemId = '';
  let mode: BindMode | null = null;
  let submits = 0;
  let sequence = 0;
  let outgoing: Buffer[] = [];
  let isReading = false;

  const connection: Connection<Receipt> = {
    id,
    get systemId() {
      return systemId;
    },
    get mode() {
      return mode;
    },
    get isReceiver() {
      return mode === 'receiver' || mode === 'transceiver';
    },
    get submits() {
      return submits;
    },
    get room() {
      return socket.writable && !socket.writableNeedDrain ? receiptWindow - undelivered.size : 0;
    },
    deliver(fields, receipt) {
      sequence = sequence === highestSequence ? 1 : sequence + 1;
      undelivered.set(sequence, receipt);
      send({ command: 'deliver_sm', status: 0, sequence, ...fields });
    },
    answer: (answered, status, messageId) =>
      send({ command: 'submit_sm_resp', status, sequence: answered, messageId, tlvs: [] }),
    sendRaw,
    unbind() {
      sequence = sequence === highestSequence ? 1 : sequence + 1;
      send({ command: 'unbind', status: 0, sequence });
    },
    drop: () => socket.destroy(),
  };

  function send(pdu: Pdu): void {
    sendRaw(encodePdu(pdu));
  }

  /** While a chunk is read, answers are collected and written at once. */
  function sendRaw(octets: Buffer): void {
    outgoing.push(octets);
    if (!isReading) flush();
  }

  function flush(): void {
    const [first, ...more] = outgoing;
    outgoing = [];
    if (first === undefined || !socket.writable) return;
    // While a peer does not read, we do not read from it.
    if (!socket.write(more.length === 0 ? first : Buffer.concat([first, ...more]))) socket.pause();
  }

  function read(chunk: Buffer): void {
    isReading = true;
    for (const frame of frames.read(chunk)) handle(decodePdu(frame));
    isReading = false;
    flush();
    if (frames.lost !== undefined) socket.destroy();
  }

  function handle({ pdu, problems }: ReturnType<typeof decodePdu>): void {
    switch (pdu.command) {
      case 'submit_sm':
        submit(pdu, statusFor(problems));
        break;
      case 'deliver_sm_resp':
      case 'generic_nack':
        settle(pdu.sequence, pdu.status);
        break;
      case 'bind_receiver':
      case 'bind_transmitter':
      case 'bind_transceiver':
        bind(pdu);
        break;
      case 'enquire_link':
        send({ command: 'enquire_link_resp', status: 0, sequence: pdu.sequence });
        break;
      case 'unbind':
        send({ command: 'unbind_resp', status: 0, sequence: pdu.sequence });
        end();
        break;
      case 'unbind_resp':
        end();
        break;
      default:
        refuseUnknown(pdu);
    }
  }

  function refuseUnknown(pdu: Pdu): void {
    const commandId = pdu.command === 'unknown' ? pdu.commandId : commandIds[pdu.command];
    if (isResponseId(commandId)) return;
    send({ command: 'generic_nack', status: statuses.invalidCommand, sequence: pdu.sequence });
  }

  function bind(pdu: BindPdu): void {
    const { ignore_binds: ignored } = owner.behaviour();
    if (ignored === 'all' || (ignored === 'transceiver' && pdu.command === 'bind_transceiver')) return;
    const status = mode === null ? owner.admit(pdu) : statuses.alreadyBound;
    const command = `${pdu.command}_resp` as BindAnswerCommand;
    const tlvs = [{ tag: tlvTags.interfaceVersion, value: Buffer.of(interfaceVersion) }];
    send({ command, status, sequence: pdu.sequence, systemId: name, tlvs: status === 0 ? tlvs : [] });
    if (status !== statuses.ok || mode !== null) return;
    mode = modeOf[pdu.command];
    systemId = pdu.systemId;
    socket.setTimeout(0);
    owner.bound(connection);
  }

  function submit(pdu: SubmitPdu, problem: number): void {
    const status = mode === null || mode === 'receiver' ? statuses.wrongBindStatus : problem;
    if (status !== statuses.ok) {
      connection.answer(pdu.sequence, status, '');
      return;
    }
    submits++;
    owner.submitted(connection, pdu);
  }

  function settle(answered: number, status: number): void {
    const receipt = undelivered.get(answered);
    if (receipt === undefined) return;
    undelivered.delete(answered);
    owner.delivered(connection, receipt, status);
  }

  function end(): void {
    flush();
    socket.end();
  }

  socket.setNoDelay(true);
  socket.setTimeout(bindWithinMs, () => socket.destroy());
  socket.on('data', read);
  socket.on('drain', () => {
    socket.resume();
    if (connection.isReceiver) owner.bound(connection);
  });
  socket.on('error', () => socket.destroy());
  socket.on('close', () => {
    owner.closed(connection);
    for (const receipt of undelivered.values()) owner.delivered(connection, receipt, null);
    undelivered.clear();
  });
}
