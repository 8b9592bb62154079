import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { ApiError } from '../../platform/errors.ts';
import { closeGently, closeGentlyAfterAnswer, ignoreErrors } from '../close-gently.ts';
import type { Exchange } from '../exchange.ts';

/** A request that Node read, with Node's own objects for it. */
export interface NodeRequest extends Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

export interface ConnectionsOptions {
  /** Answers bytes on a socket that are not a request. */
  answerUnreadable(socket: Socket, error: ApiError): void;
  /** Answers a request at once; a later answer of its handler is dropped. */
  refuse(exchange: NodeRequest, error: ApiError): void;
  /** Whether every answer closes its connection, so that callers send their next request to another node. */
  isEnding(): boolean;
}

/** Tracks connections of Node's lane across requests, so that each gets its answers in order. */
export interface Connections {
  /** Tracks a connection that Node reads from now on. */
  add(socket: Socket): void;
  /** False for a request after the last answer of its connection: the server must not run it. */
  begin(exchange: NodeRequest): boolean;
  end(exchange: NodeRequest): void;
  /** Sends 100 Continue to a caller that waits for it. Without it, a refused caller need not send its body. */
  askForBody(response: ServerResponse): void;
  /** Answers bytes that are not HTTP with a refusal, after all owed answers, then closes the connection. */
  refuse(socket: Socket, error: ApiError): void;
  /** Whether this answer is the last on its connection. If so, the server ignores later requests there. */
  endsWith(exchange: NodeRequest): boolean;
  /** For a connection without activity: its caller has stopped reading, or sends no further request. */
  closeIfStalled(socket: Socket): void;
  /** Closes idle connections now, and every other one after its answer. */
  closeIdle(): void;
}

export function watchConnections(server: Server, options: ConnectionsOptions): Connections {
  const newestExchange = new WeakMap<Socket, NodeRequest>();
  const givenUp = new WeakSet<Socket>();
  const sockets = new Set<Socket>();
  /** Requests that arrive on these connections are dropped: no answer can follow. */
  const closing = new WeakSet<Socket>();
  let closingIdle = false;
  const awaitingContinue = new WeakSet<ServerResponse>();

  function refuse(socket: Socket, error: ApiError): void {
    // Node reports an error for each further piece; the first has been answered.
    if (givenUp.has(socket) || !socket.writable) return;
    givenUp.add(socket);
    ignoreErrors(socket);
    // Pause reading: otherwise a caller that keeps sending but never reads would not count as stalled.
    socket.pause();
    const newest = newestExchange.get(socket);
    if (newest === undefined || newest.request.complete) {
      afterAnswer(newest, () => options.answerUnreadable(socket, error));
      return;
    }
    // The newest request's body is broken. It gets one answer: this one, or the one it already had.
    if (newest.status === 0) options.refuse(newest, error);
    afterAnswer(newest, () => closeGently(socket));
  }

  function owesAnswer(socket: Socket): boolean {
    const newest = newestExchange.get(socket);
    return newest !== undefined && !newest.response.writableFinished && !newest.response.destroyed;
  }

  function closeIfIdle(socket: Socket): void {
    if (owesAnswer(socket) || closing.has(socket)) return;
    closing.add(socket);
    closeGently(socket);
  }

  /** Whether this request is the newest of its connection: of pipelined requests only its answer is the last. */
  function isLast(exchange: NodeRequest): boolean {
    return options.isEnding() && newestExchange.get(exchange.request.socket) === exchange;
  }

  server.on('connect', (_request, socket) => refuse(socket as Socket, notAProxy()));
  // Node would answer 417. RFC 9110, section 10.1.1, lets us ignore an unknown expectation.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
  server.on('checkContinue', (request, response) => {
    awaitingContinue.add(response);
    server.emit('request', request, response);
  });

  return {
    refuse,
    add(socket) {
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
    },
    begin(exchange) {
      const { socket } = exchange.request;
      if (closing.has(socket)) return false;
      newestExchange.set(socket, exchange);
      return true;
    },
    end(exchange) {
      const { socket, complete } = exchange.request;
      // Do not keep the last request of an idle connection in memory.
      if (complete && newestExchange.get(socket) === exchange) newestExchange.delete(socket);
      if (closingIdle) closeIfIdle(socket);
    },
    askForBody(response) {
      if (awaitingContinue.has(response)) response.writeContinue();
    },
    endsWith(exchange) {
      const { socket, complete } = exchange.request;
      if (!isLast(exchange)) return !complete && givenUp.has(socket);
      closing.add(socket);
      closeGentlyAfterAnswer(socket);
      return true;
    },
    closeIfStalled(socket) {
      // The caller has read everything so far: a stream may be quiet for hours.
      const waits = owesAnswer(socket) && socket.writableLength === 0;
      if (!waits) socket.destroy();
    },
    closeIdle() {
      closingIdle = true;
      for (const socket of sockets) closeIfIdle(socket);
    },
  };
}

function afterAnswer(exchange: NodeRequest | undefined, act: () => void): void {
  if (exchange === undefined || exchange.response.writableFinished || exchange.response.destroyed) act();
  else exchange.response.once('close', act);
}

function notAProxy(): ApiError {
  return new ApiError('METHOD_NOT_ALLOWED', 'CONNECT is not supported.', { headers: { Allow: 'GET, HEAD, POST' } });
}
