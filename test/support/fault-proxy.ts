import { connect, createServer, type Socket } from 'node:net';
import type { Connection } from './database.ts';

/** What the network does to the connections that go through the proxy, those already open included. */
export type Fault =
  | { kind: 'pass' }
  | { kind: 'latency'; ms: number }
  /** Every connection, old or new, is answered by a TCP reset. */
  | { kind: 'reset' }
  /** Bytes are taken and go nowhere, and nobody is told: a cable pulled out, a firewall that forgot the connection. */
  | { kind: 'black-hole' }
  /** When one side closes, the other learns of it only later. */
  | { kind: 'slow-close'; ms: number }
  /**
   * The first connections on which the bytes appear are reset: with `deliver`, after the bytes have gone through, so that
   * the other side acts on them and its answer is lost.
   */
  | { kind: 'cut'; from: 'client' | 'server'; at: string; deliver: boolean; times: number };

/** Where a server listens; Postgres may do so on a socket in a folder. */
export interface Target {
  host: string;
  port: number;
}

export interface FaultProxy<To extends Target = Connection> {
  /** The same server by way of the proxy. */
  connection: To;
  set(fault: Fault): void;
  /** Connections that clients hold open to the proxy at this moment. */
  open(): number;
  /** How often a `cut` has struck. */
  cuts(): number;
  close(): Promise<void>;
}

interface Pair {
  client: Socket;
  server: Socket;
  /** Once bytes were swallowed the stream has a hole in it: it can never carry anything again. */
  dead: boolean;
}

/** A TCP port on loopback in front of a real server, whose network breaks on command. */
export async function createFaultProxy<To extends Target>(target: To): Promise<FaultProxy<To>> {
  const pairs = new Set<Pair>();
  const sockets = new Set<Socket>();
  let fault: Fault = { kind: 'pass' };
  let cuts = 0;

  function reset(pair: Pair): void {
    pair.client.resetAndDestroy();
    // The server is let go gently: it still reads and carries out what was sent to it before.
    pair.server.end();
    pairs.delete(pair);
  }

  function forward(pair: Pair, from: 'client' | 'server'): void {
    const source = pair[from];
    const sink = from === 'client' ? pair.server : pair.client;
    let tail = '';
    source.on('data', (bytes) => {
      if (pair.dead || fault.kind === 'black-hole') {
        pair.dead = true;
        return;
      }
      if (fault.kind === 'latency') {
        setTimeout(() => sink.write(bytes), fault.ms);
        return;
      }
      // The pattern may lie across two reads.
      const text = tail + bytes.toString('latin1');
      tail = text.slice(-64);
      if (fault.kind === 'cut' && fault.from === from && fault.times > 0 && text.includes(fault.at)) {
        fault.times -= 1;
        cuts += 1;
        pair.dead = true;
        if (fault.deliver) sink.write(bytes);
        reset(pair);
        return;
      }
      sink.write(bytes);
    });
    source.on('error', () => {});
    source.on('close', () => {
      sockets.delete(source);
      pairs.delete(pair);
      if (fault.kind === 'black-hole' || pair.dead) return;
      setTimeout(() => sink.destroy(), fault.kind === 'slow-close' ? fault.ms : 0);
    });
  }

  const listener = createServer((client) => {
    if (fault.kind === 'reset') {
      client.on('error', () => {});
      client.resetAndDestroy();
      return;
    }
    const server = target.host.startsWith('/')
      ? connect(`${target.host}/.s.PGSQL.${target.port}`)
      : connect(target.port, target.host);
    const pair: Pair = { client, server, dead: false };
    pairs.add(pair);
    sockets.add(client).add(server);
    forward(pair, 'client');
    forward(pair, 'server');
  });
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  const address = listener.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;

  return {
    connection: { ...target, host: '127.0.0.1', port },
    set(next) {
      fault = next;
      if (next.kind === 'reset') for (const pair of pairs) reset(pair);
    },
    open: () => pairs.size,
    cuts: () => cuts,
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => listener.close(() => resolve()));
    },
  };
}
