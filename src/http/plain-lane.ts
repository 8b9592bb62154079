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
  /** Whether every answer is the last on its connection. */
  isEnding: () => boolean;
  receive: (exchange: Exchange) => void;
  openings: Openings;
  /** When each connection that is given to Node was last informed. */
  informedAtMs: WeakMap<Socket, number>;
  /** Told of every connection that Node goes on with. */
  onGivenToNode: (socket: Socket) => void;
  timeouts: PlainTimeouts;
}

export interface PlainLane {
  /** Closes the connections on which no answer is owed. */
  closeIdle(): void;
  closeAll(): void;
  /** Ends the watch over its connections. */
  stop(): void;
}

/**
 * The lane for requests that are written plainly, which is nearly all of them. They are read from the socket and answered
 * to it in one piece each; Node's own reading and writing takes longer than the rest of a request.
 *
 * A connection on which anything else comes is given to Node for good, from the first byte that belongs to it: what is
 * written in any other way, and what has not arrived as a whole when the watch comes by. So nothing is refused here, and
 * no time runs out here on a request.
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
 * Answers of one turn go out together at its end: each of them wakes whoever reads it, and to wake somebody who is awake
 * costs much less.
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

/** Node's own listener, taken off its server: connections come to it through the lane. */
function takeListener(server: Server, onGiven: (socket: Socket) => void): (socket: Socket) => void {
  const [listener] = server.listeners('connection');
  if (listener === undefined) throw new Error('Node does not listen to its own server');
  server.removeAllListeners('connection');
  return (socket) => {
    onGiven(socket);
    listener.call(server, socket);
  };
}

/** The time is the same for a whole second, and all else for all answers. */
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
