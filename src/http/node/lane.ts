import { createServer } from 'node:http';
import type { Socket } from 'node:net';
import type { ApiError } from '../../platform/errors.ts';
import { fromParser } from '../error-reply.ts';
import type { Exchange } from '../exchange.ts';
import { watchConnections } from './connections.ts';
import { NodeExchange, type NodeExchangeOptions } from './exchange.ts';

export interface NodeTimeouts {
  headersMs: number;
  requestMs: number;
  keepAliveMs: number;
  stalledMs: number;
  checkMs: number;
}

export interface NodeLaneOptions extends Omit<NodeExchangeOptions, 'connections'> {
  /** Whether every answer closes its connection. */
  isEnding: () => boolean;
  receive: (exchange: Exchange) => void;
  /** Answers a request at once; a later answer of its handler is dropped. */
  refuse: (exchange: Exchange, error: ApiError) => void;
  /** Answers bytes on a socket that are not a request. */
  answerUnreadable: (socket: Socket, error: ApiError) => void;
  /** Called when an answer has been written. */
  onWritten: () => void;
  timeouts: NodeTimeouts;
}

/** The lane for every request that is not plainly written: Node's own server parses it and writes its answer. */
export function createNodeLane(options: NodeLaneOptions) {
  const { clock, timeouts, isEnding } = options;
  const server = createServer({
    headersTimeout: timeouts.headersMs,
    requestTimeout: timeouts.requestMs,
    keepAliveTimeout: timeouts.keepAliveMs,
    connectionsCheckingInterval: timeouts.checkMs,
    // Node's answer to a missing Host lacks our headers; `NodeExchange.fault` refuses it instead.
    requireHostHeader: false,
  });
  /** When each connection opened or last finished an answer. */
  const informedAtMs = new WeakMap<Socket, number>();
  const { refuse, answerUnreadable } = options;
  const connections = watchConnections(server, { isEnding, refuse, answerUnreadable });
  const exchangeOptions = { ...options, connections };
  server.setTimeout(timeouts.stalledMs, connections.closeIfStalled);
  // A caller may end its side and still wait for its answer, as on the plain lane.
  Object.assign(server, { httpAllowHalfOpen: true });

  server.on('clientError', (error: NodeJS.ErrnoException, socket) =>
    connections.refuse(socket as Socket, fromParser(error.code)),
  );
  server.on('request', (request, response) => {
    const { socket } = request;
    response.once('finish', () => {
      informedAtMs.set(socket, clock.steadyMs());
      options.onWritten();
    });
    const informed = informedAtMs.get(socket) ?? Number.NEGATIVE_INFINITY;
    const exchange = new NodeExchange(request, response, informed, exchangeOptions);
    if (connections.begin(exchange)) options.receive(exchange);
  });

  return {
    /** Starts Node's timeout checks, which its own `listening` event begins: another server listens for this one. */
    start: (): void => void server.emit('listening'),
    /** Reads a connection from now on. `informedAtMs` belongs to its next request. */
    take(socket: Socket, informed: number): void {
      informedAtMs.set(socket, informed);
      connections.add(socket);
      server.emit('connection', socket);
    },
    /** Closes idle connections now, and every other one after its answer. */
    closeIdle: connections.closeIdle,
    closeAll: (): void => server.closeAllConnections(),
    stop: (): void => void server.close(),
  };
}
