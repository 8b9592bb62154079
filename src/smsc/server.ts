import { createServer, type Server, type Socket } from 'node:net';
import { type Clock, systemClock } from '../platform/clock.ts';
import type { SubmitPdu } from '../smpp/pdu.ts';
import { serveConnection } from './connection.ts';
import { createDesk, type SmscState } from './desk.ts';
import { type Behaviour, usualBehaviour } from './faults.ts';
import type { ShownText } from './text-store.ts';

export interface SmscOptions {
  /** 0 takes any free port. */
  port?: number;
  /** Every bind must have it; without it any password is right. */
  password?: string | undefined;
  behaviour?: Partial<Behaviour>;
  clock?: Clock;
  /** Called for every submit_sm that arrives, before its answer. */
  onSubmit?: (submit: SubmitPdu, systemId: string) => void;
}

export interface Smsc {
  readonly port: number;
  readonly behaviour: Readonly<Behaviour>;
  change(behaviour: Partial<Behaviour>): void;
  /** Newest first; the newest 10,000 submits are kept. */
  texts(most?: number): ShownText[];
  clearTexts(): void;
  state(): SmscState;
  /** Closes the port and cuts all connections. Texts and receipts stay. */
  goDown(): Promise<void>;
  /** Listens again on the same port. */
  comeBack(): Promise<void>;
  close(): Promise<void>;
}

const loopback = '127.0.0.1';
const mostConnections = 1000;

/** A virtual SMSC on loopback: it takes texts, answers as its switches say, and sends receipts. */
export async function startSmsc(options: SmscOptions = {}): Promise<Smsc> {
  const { clock = systemClock, password, onSubmit } = options;
  const behaviour: Behaviour = { ...usualBehaviour(), ...options.behaviour };
  const desk = createDesk({ clock, behaviour, password, onSubmit });
  const sockets = new Set<Socket>();
  let lastConnection = 0;
  let port = options.port ?? 0;
  let server: Server | undefined;

  function accept(socket: Socket): void {
    if (sockets.size >= mostConnections) {
      socket.destroy();
      return;
    }
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    serveConnection(socket, ++lastConnection, desk);
  }

  async function comeBack(): Promise<void> {
    const listening = createServer(accept);
    await new Promise<void>((resolve, reject) => {
      listening.once('error', reject).listen(port, loopback, () => resolve());
    });
    server = listening;
    const address = listening.address();
    if (typeof address === 'object' && address !== null) port = address.port;
  }

  async function goDown(): Promise<void> {
    const listening = server;
    server = undefined;
    desk.forgetAnswers();
    if (listening === undefined) return;
    const closed = new Promise<void>((resolve) => listening.close(() => resolve()));
    for (const socket of sockets) socket.destroy();
    await closed;
  }

  await comeBack();
  return {
    get port() {
      return port;
    },
    behaviour,
    change: (wanted) => void Object.assign(behaviour, wanted),
    texts: (most = 100) => desk.texts(most),
    clearTexts: () => desk.clearTexts(),
    state: () => desk.state(),
    goDown,
    comeBack,
    async close() {
      await goDown();
      desk.stop();
    },
  };
}
