// The npm package smpp, on either side of a connection.
import { createRequire } from 'node:module';
import type { AddressInfo, Server } from 'node:net';

const require = createRequire(import.meta.url);

export interface PeerPdu {
  command_status: number;
  message_id?: string;
  source_addr?: string;
  destination_addr?: string;
  registered_delivery?: number;
  short_message?: { message: string };
  receipted_message_id?: string;
  message_state?: number;
  sc_interface_version?: number;
  response(fields?: object): unknown;
}

type Request = (fields: object, answered: (pdu: PeerPdu) => void) => void;

export interface PeerSession extends NodeJS.EventEmitter {
  bind_transceiver: Request;
  submit_sm: Request;
  deliver_sm: Request;
  enquire_link: Request;
  unbind: Request;
  send(pdu: unknown): void;
  close(): void;
}

const { connect, createServer } = require('smpp') as {
  connect(options: object): PeerSession;
  createServer(serve: (session: PeerSession) => void): Server;
};

export { connect as connectNpm };

export interface NpmSmsc {
  port: number;
  /** The submits that arrived, in order. */
  submitted: PeerPdu[];
  /** The statuses of the answers to its own requests: a probe after each bind, and receipts. */
  answered: number[];
  close(): Promise<void>;
}

/** The id of the first text in answers, in hexadecimal, and in receipts. */
const firstId = 0x77d9aa31;

/** Takes any transceiver, probes it, gives hexadecimal ids, and sends receipts that name them in decimal. */
export async function startNpmSmsc(): Promise<NpmSmsc> {
  const submitted: PeerPdu[] = [];
  const answered: number[] = [];
  const note = ({ command_status }: PeerPdu) => void answered.push(command_status);
  const server = createServer((session) => {
    session.on('bind_transceiver', (pdu: PeerPdu) => {
      session.send(pdu.response());
      session.enquire_link({}, note);
    });
    session.on('submit_sm', (pdu: PeerPdu) => {
      const id = firstId + submitted.length;
      submitted.push(pdu);
      session.send(pdu.response({ message_id: id.toString(16) }));
      const short_message = `id:${id} sub:001 dlvrd:1 stat:DELIVRD err:0 Text:`;
      const numbers = { source_addr: pdu.destination_addr, destination_addr: pdu.source_addr };
      session.deliver_sm({ esm_class: 4, ...numbers, short_message }, note);
    });
    session.on('enquire_link', (pdu: PeerPdu) => session.send(pdu.response()));
    session.on('unbind', (pdu: PeerPdu) => session.send(pdu.response()));
    session.on('error', () => {});
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
  return {
    port: (server.address() as AddressInfo).port,
    submitted,
    answered,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
