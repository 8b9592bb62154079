// Tests: test/smpp-server/binds.test.ts, test/smpp-server/tls.test.ts
import { readFileSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:tls';
import type { Clock } from '../platform/clock.ts';
import { StartError } from '../platform/errors.ts';
import type { Log } from '../platform/log.ts';
import type { Bind } from './bind.ts';
import type { Desk } from './desk.ts';
import { type Peer, servePeer } from './peer.ts';

export interface SmppListening {
  host: string;
  /** Undefined: this port is not offered. 0 takes any free port. */
  port: number | undefined;
  tlsPort: number | undefined;
  /** Files with PEM, when there is a TLS port. */
  tlsCert: string | undefined;
  tlsKey: string | undefined;
}

export interface SmppServerOptions {
  listening: SmppListening;
  clock: Clock;
  log: Log;
  desk: Desk;
}

export interface SmppServer {
  /** The ports it listens on; undefined for one that is not offered. */
  readonly port: number | undefined;
  readonly tlsPort: number | undefined;
  readonly connections: number;
  start(): Promise<void>;
  /** Takes no new connection, finishes requests, unbinds and closes, within this time and a second more. */
  stop(drainMs: number): Promise<void>;
}

const tickMs = 500;
/** Deadlines of bound peers are long: every Nth tick checks them. */
const ticksOfBound = 4;
/** How long peers may take to answer our unbind at a stop. */
const goodbyeMs = 1000;
/** Maximum connections of this process; and of one address, those that are not bound. */
const [mostConnections, mostUnbound] = [5000, 50];
/** A new certificate is in use after this time at the latest. */
const certificateMs = 3_600_000;

const nameOf = ({ remoteAddress, remotePort }: Socket) => `${remoteAddress} ${remotePort}`;

/** Listens for programs that speak SMPP. */
export function createSmppServer({ listening, clock, log, desk }: SmppServerOptions): SmppServer {
  const peers = new Set<Peer>();
  const unbound = new Map<string, number>();
  /** TLS handshakes under way, by address and port. They count as unbound. */
  const handshakes = new Set<string>();
  const servers: Server[] = [];
  let ports: { plain: number | undefined; tls: number | undefined } = { plain: undefined, tls: undefined };
  let ticks: NodeJS.Timeout | undefined;
  let renewals: NodeJS.Timeout | undefined;
  let ticked = 0;
  let isStopping = false;

  const ownDesk: Desk = {
    ...desk,
    closed(peer, bind) {
      peers.delete(peer);
      if (bind === undefined) leave(peer.address);
      desk.closed(peer, bind);
    },
    bound(bind: Bind, peer) {
      leave(peer.address);
      desk.bound(bind, peer);
    },
  };

  function leave(address: string): void {
    const left = (unbound.get(address) ?? 1) - 1;
    if (left > 0) unbound.set(address, left);
    else unbound.delete(address);
  }

  /** Counts a connection of the address, or cuts it. */
  function enter(socket: Socket, address: string): boolean {
    const waiting = unbound.get(address) ?? 0;
    const isFull = peers.size + handshakes.size >= mostConnections || waiting >= mostUnbound || address === '';
    if (isFull) socket.destroy();
    else unbound.set(address, waiting + 1);
    return !isFull;
  }

  function accept(socket: Socket, tls: boolean): void {
    const address = socket.remoteAddress ?? '';
    if (enter(socket, address)) peers.add(servePeer<Bind>({ socket, clock, desk: ownDesk, address, tls }));
  }

  /** Counts a connection before any octet of TLS: peers that never begin the handshake must not hold more connections. */
  function watchHandshake(socket: Socket): void {
    const [address = '', name] = [socket.remoteAddress, nameOf(socket)];
    if (!enter(socket, address)) return;
    handshakes.add(name);
    socket.once('close', () => endHandshake(name, address));
  }

  function endHandshake(name: string, address: string): void {
    if (handshakes.delete(name)) leave(address);
  }

  function tick(): void {
    const nowMs = clock.steadyMs();
    let place = ticked++ % ticksOfBound;
    for (const peer of peers) if (++place % ticksOfBound === 0 || isStopping || !peer.isBound) peer.tick(nowMs);
  }

  function readCertificate(): { cert: Buffer; key: Buffer } {
    try {
      return { cert: readFileSync(listening.tlsCert ?? ''), key: readFileSync(listening.tlsKey ?? '') };
    } catch (error) {
      throw new StartError(`The certificate for SMPP cannot be read: ${(error as Error).message}`);
    }
  }

  function createTls(): TlsServer {
    const options = { ...readCertificate(), minVersion: 'TLSv1.2', handshakeTimeout: 5000 } as const;
    const server = createTlsServer(options, (socket) => {
      endHandshake(nameOf(socket), socket.remoteAddress ?? '');
      accept(socket, true);
    });
    server.on('connection', watchHandshake);
    server.on('tlsClientError', () => {});
    renewals = setInterval(() => {
      try {
        server.setSecureContext({ ...readCertificate(), minVersion: 'TLSv1.2' });
      } catch (error) {
        log.error({ reason: (error as Error).message }, 'the new certificate for SMPP cannot be used');
      }
    }, certificateMs).unref();
    return server;
  }

  async function listen(server: Server, port: number): Promise<number> {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject).listen({ port, host: listening.host }, () => resolve());
    });
    server.on('error', (error) => log.error({ err: error }, 'the SMPP port cannot accept a connection'));
    servers.push(server);
    const address = server.address();
    return typeof address === 'object' && address !== null ? address.port : port;
  }

  return {
    get port() {
      return ports.plain;
    },
    get tlsPort() {
      return ports.tls;
    },
    get connections() {
      return peers.size;
    },
    async start() {
      const { port, tlsPort } = listening;
      if (port === undefined && tlsPort === undefined) return;
      const plain =
        port === undefined
          ? undefined
          : await listen(
              createServer((socket) => accept(socket, false)),
              port,
            );
      const tls = tlsPort === undefined ? undefined : await listen(createTls(), tlsPort);
      ports = { plain, tls };
      ticks = setInterval(tick, tickMs).unref();
    },
    async stop(drainMs) {
      isStopping = true;
      clearInterval(renewals);
      const closed = servers.map((server) => new Promise<void>((resolve) => server.close(() => resolve())));
      const late = setTimeout(() => {
        for (const peer of peers) peer.cut();
      }, drainMs + goodbyeMs);
      await Promise.all([...peers].map((peer) => peer.end(drainMs)));
      clearTimeout(late);
      clearInterval(ticks);
      await Promise.all(closed);
    },
  };
}
