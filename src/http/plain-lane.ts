import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock } from '../platform/clock.ts';
import type { ReadAddress } from './caller-address.ts';
import type { Exchange } from './exchange.ts';
import type { Openings } from './openings.ts';
import { type Lane, PlainConnection, type PlainTimeouts } from './plain-connection.ts';

export interface PlainLaneOptions {
  server: Server;
  clock: Clock;
  addressOf: ReadAddress;
  /** Whether every answer closes its connection. */
  isEnding: () => boolean;
  receive: (exchange: Exchange) => void;
  openings: Openings;
  /** When each connection handed to Node was last informed. */
  informedAtMs: WeakMap<Socket, number>;
  /** Called for each connection handed to Node. */
  onGivenToNode: (socket: Socket) => void;
  timeouts: PlainTimeouts;
}

export interface PlainLane {
  /** Closes connections that owe no answer. */
  closeIdle(): void;
  closeAll(): void;
  /** Stops the timeout checks. */
  stop(): void;
}

/**
 * The lane for plainly written requests, which are nearly all: Node's own HTTP takes longer than the rest of a request.
 * It hands a connection to Node for good at the first request that is not plain, or not whole when the watch checks. So
 * this lane refuses no request and times none out.
 */
export function createPlainLane(options: PlainLaneOptions): PlainLane {
  const { server, timeouts, openings } = options;
  const listen = takeListener(server, options.onGivenToNode);
  const lane: Lane = {
    ...options,
    giveToNode(socket, informedAtMs) {
      options.informedAtMs.set(socket, informedAtMs);
      listen(socket);
    },
    connectionLines: createConnectionLines(options.clock, timeouts.keepAliveMs),
    connections: new Set(),
    flushSoon: createFlush(openings),
  };
  const { connections } = lane;
  server.on('connection', (socket) => connections.add(new PlainConnection(socket, lane)));

  const watch = setInterval(() => {
    for (const connection of connections) connection.watch(timeouts);
  }, timeouts.checkMs).unref();

  return {
    closeIdle() {
      for (const connection of connections) connection.closeIfIdle();
    },
    closeAll() {
      for (const { socket } of connections) socket.destroy();
    },
    stop: () => clearInterval(watch),
  };
}

/**
 * Writes all answers of a turn together at its end: each write wakes its reader, and waking a process that is already
 * awake costs much less.
 */
function createFlush(openings: Openings): (connection: PlainConnection) => void {
  let full: PlainConnection[] = [];
  const flush = () => {
    const connections = full;
    full = [];
    for (const connection of connections) connection.flush();
    openings.noteAnswers();
  };
  return (connection) => {
    if (full.push(connection) === 1) setImmediate(flush);
  };
}

/** Removes Node's listener from its server and returns it: connections reach Node through the lane. */
function takeListener(server: Server, onGiven: (socket: Socket) => void): (socket: Socket) => void {
  const [listener] = server.listeners('connection');
  if (listener === undefined) throw new Error('Node does not listen to its own server');
  server.removeAllListeners('connection');
  return (socket) => {
    onGiven(socket);
    listener.call(server, socket);
  };
}

/** Builds the Date line once a second; the other lines never change. */
function createConnectionLines(clock: Clock, keepAliveMs: number): (last: boolean) => string {
  const alive = `Connection: keep-alive\r\nKeep-Alive: timeout=${Math.floor(keepAliveMs / 1000)}\r\n`;
  let second = Number.NaN;
  let date = '';
  let usual = '';
  return (last) => {
    const now = Math.floor(clock.nowMs() / 1000);
    if (now !== second) {
      second = now;
      date = `Date: ${new Date(now * 1000).toUTCString()}\r\n`;
      usual = `${date}${alive}`;
    }
    return last ? `${date}Connection: close\r\n` : usual;
  };
}
