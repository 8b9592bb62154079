import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { ApiError } from '../platform/errors.ts';
import type { Exchange } from './exchange.ts';
import { closeGently, closeGentlyAfterAnswer, ignoreErrors } from './raw-socket.ts';

/** A request that Node read, with Node's own objects for it. */
export interface NodeRequest extends Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

export interface ConnectionsOptions {
  /** Answers, by hand, what is not a request at all. */
  answerSocket(socket: Socket, error: ApiError): void;
  /** Answers a request, in place of whoever was about to. */
  refuse(exchange: NodeRequest, error: ApiError): void;
  /** Whether every answer is the last on its connection: callers are to go elsewhere with their next request. */
  isEnding(): boolean;
}

/** What is known of the connections Node reads, beyond the single request, so that each gets its answers in order. */
export interface Connections {
  /** Node reads this connection from now on. */
  add(socket: Socket): void;
  /** False for a request behind the last answer of its connection: it must not be carried out. */
  begin(exchange: NodeRequest): boolean;
  end(exchange: NodeRequest): void;
  /** Tells a caller that waits for it to send its body. Not telling is how a refused body need not be sent. */
  askForBody(response: ServerResponse): void;
  /** What is not HTTP is refused behind the answers still owed on its connection, which then ends. */
  refuse(socket: Socket, error: ApiError): void;
  /** Whether this answer is the last on its connection. If it is, nothing more is read there. */
  endsWith(exchange: NodeRequest): boolean;
  /** Closes every connection on which no answer is owed, and each of the others once it has its answer. */
  closeIdle(): void;
}

export function watchConnections(server: Server, options: ConnectionsOptions): Connections {
  const newestExchange = new WeakMap<Socket, NodeRequest>();
  const givenUp = new WeakSet<Socket>();
  const sockets = new Set<Socket>();
  /** Requests that still come on these are thrown away: nobody could answer them. */
  const closing = new WeakSet<Socket>();
  let closingIdle = false;
  const awaitingContinue = new WeakSet<ServerResponse>();

  function refuse(socket: Socket, error: ApiError): void {
    // Node tells of every further piece of what it could not read; the first has been answered.
    if (givenUp.has(socket) || !socket.writable) return;
    givenUp.add(socket);
    ignoreErrors(socket);
    // A caller that neither reads nor stops sending would otherwise never count as stalled.
    socket.pause();
    const newest = newestExchange.get(socket);
    if (newest === undefined || newest.request.complete) {
      afterAnswer(newest, () => options.answerSocket(socket, error));
      return;
    }
    // The body of the newest request is at fault. It gets one answer: this, or the one it already had.
    if (newest.status === 0) options.refuse(newest, error);
    afterAnswer(newest, () => closeGently(socket));
  }

  function closeIfIdle(socket: Socket): void {
    const newest = newestExchange.get(socket);
    const owed = newest !== undefined && !newest.response.writableFinished && !newest.response.destroyed;
    if (owed || closing.has(socket)) return;
    closing.add(socket);
    closeGently(socket);
  }

  /** Of several requests that came at once, the answer to the newest is the last. */
  function isLast(exchange: NodeRequest): boolean {
    return options.isEnding() && newestExchange.get(exchange.request.socket) === exchange;
  }

  server.on('connect', (_request, socket) => refuse(socket as Socket, notAProxy()));
  // Node would answer 417 by itself. An expectation we do not know may be ignored (RFC 9110, section 10.1.1).
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
      // An idle connection must not keep its last request in memory.
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
  return new ApiError('METHOD_NOT_ALLOWED', 'CONNECT is for proxies.', { headers: { Allow: 'GET, HEAD, POST' } });
}
