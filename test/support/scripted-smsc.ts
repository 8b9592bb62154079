import { createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type TlsOptions } from 'node:tls';
import { decodePdu } from '../../src/smpp/decode.ts';
import { encodePdu } from '../../src/smpp/encode.ts';
import { createFrameReader } from '../../src/smpp/frames.ts';
import type { BindCommand, Pdu } from '../../src/smpp/pdu.ts';
import { eventually } from './eventually.ts';

/** One connection to the SMSC, as the SMSC sees it. */
export interface Peer {
  /** From 1, in the order of the connections. */
  number: number;
  boundAs: BindCommand | undefined;
  /** Everything that arrived, in order. */
  received: Pdu[];
  isOpen: boolean;
  send(...pdus: Pdu[]): void;
  sendOctets(octets: Buffer): void;
  /** Reads no more. */
  pause(): void;
  resume(): void;
  /** RST. */
  reset(): void;
  end(): void;
}

/** Gets each PDU first. True: the script has dealt with it, so the SMSC does nothing more. */
export type Script = (pdu: Pdu, peer: Peer) => boolean;

export interface ScriptedSmsc {
  port: number;
  peers: Peer[];
  /** All PDUs with this command that arrived, on whatever connection. */
  ledger<Command extends Pdu['command']>(command: Command): (Pdu & { command: Command })[];
  /** Waits until this many PDUs with this command have arrived. */
  arrived(command: Pdu['command'], count?: number): Promise<void>;
  /** Another script from now on. */
  follow(script: Script): void;
  close(): Promise<void>;
}

/** What an SMSC usually does: accepts every bind, and every text with the ids m1, m2, … */
export function usualAnswer(pdu: Pdu, messageId: string): Pdu | undefined {
  const { sequence } = pdu;
  switch (pdu.command) {
    case 'bind_receiver':
    case 'bind_transmitter':
    case 'bind_transceiver':
      return { command: `${pdu.command}_resp` as const, status: 0, sequence, systemId: 'smsc', tlvs: [] };
    case 'submit_sm':
      return { command: 'submit_sm_resp', status: 0, sequence, messageId, tlvs: [] };
    case 'enquire_link':
      return { command: 'enquire_link_resp', status: 0, sequence };
    case 'unbind':
      return { command: 'unbind_resp', status: 0, sequence };
    default:
      return undefined;
  }
}

/** An SMSC on a loopback port, made from our codec. It does what each test says, and keeps what arrived. */
export async function startScriptedSmsc(script: Script = () => false, tls?: TlsOptions): Promise<ScriptedSmsc> {
  const peers: Peer[] = [];
  let current = script;
  let accepted = 0;

  function onPdu(pdu: Pdu, peer: Peer): void {
    peer.received.push(pdu);
    if (pdu.command === 'bind_receiver' || pdu.command === 'bind_transmitter' || pdu.command === 'bind_transceiver') {
      peer.boundAs = pdu.command;
    }
    if (current(pdu, peer)) return;
    if (pdu.command === 'submit_sm') accepted++;
    const answer = usualAnswer(pdu, `m${accepted}`);
    if (answer !== undefined) peer.send(answer);
    if (pdu.command === 'unbind') peer.end();
  }

  function onConnection(socket: Socket): void {
    const frames = createFrameReader();
    const peer: Peer = {
      number: peers.length + 1,
      boundAs: undefined,
      received: [],
      isOpen: true,
      send: (...pdus) => void (socket.writable && socket.write(Buffer.concat(pdus.map(encodePdu)))),
      sendOctets: (octets) => void (socket.writable && socket.write(octets)),
      pause: () => void socket.pause(),
      resume: () => void socket.resume(),
      reset: () => void socket.resetAndDestroy(),
      end: () => void socket.end(),
    };
    peers.push(peer);
    socket.setNoDelay(true);
    socket.on('error', () => {});
    socket.on('close', () => {
      peer.isOpen = false;
      sockets.delete(socket);
    });
    socket.on('data', (chunk: Buffer) => {
      for (const frame of frames.read(chunk)) onPdu(decodePdu(frame).pdu, peer);
    });
    sockets.add(socket);
  }

  const sockets = new Set<Socket>();
  const server: Server = tls === undefined ? createServer(onConnection) : createTlsServer(tls, onConnection);
  server.on('tlsClientError', () => {});
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };

  function ledger<Command extends Pdu['command']>(command: Command) {
    const all = peers.flatMap(({ received }) => received);
    return all.filter((pdu): pdu is Pdu & { command: Command } => pdu.command === command);
  }

  return {
    port,
    peers,
    ledger,
    async arrived(command, count = 1) {
      await eventually(`${count} ${command} at the SMSC`, () => ledger(command).length >= count, { everyMs: 2 });
    },
    follow(next) {
      current = next;
    },
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
