import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { ApiError } from '../platform/errors.ts';
import type { Exchange } from './exchange.ts';
import { closeGently, ignoreErrors, trackSilentConnections } from './raw-socket.ts';

export interface ConnectionsOptions {
  /** Answers, by hand, what is not a request at all. */
  answerSocket(socket: Socket, error: ApiError): void;
  /** Whether callers are to go elsewhere with their next request. */
  isDraining(): boolean;
}

/** What the server must know of its connections, beyond the single request, so that each gets its answers in order. */
export interface Connections {
  begin(exchange: Exchange): void;
  end(exchange: Exchange): void;
  /** Tells a caller that waits for it to send its body. Not telling is how a refused body need not be sent. */
  askForBody(response: ServerResponse): void;
  /** What is not HTTP is refused behind the answers still owed on its connection, which then ends. */
  refuse(socket: Socket, error: ApiError): void;
  /** Whether the connection cannot go on behind this answer. */
  endsWith(request: IncomingMessage): boolean;
  /** From now on every answer is the last on its connection; those with nothing to answer are closed. */
  stop(): void;
}

export function watchConnections(server: Server, options: ConnectionsOptions): Connections {
  const newestExchange = new WeakMap<Socket, Exchange>();
  const givenUp = new WeakSet<Socket>();
  const awaitingContinue = new WeakSet<ServerResponse>();
  const closeSilentConnections = trackSilentConnections(server);
  let stopping = false;

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
    if (!newest.response.headersSent) newest.answer(error);
    afterAnswer(newest, () => closeGently(socket));
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
    begin: (exchange) => void newestExchange.set(exchange.request.socket, exchange),
    end(exchange) {
      const { socket, complete } = exchange.request;
      // An idle connection must not keep its last request in memory.
      if (complete && newestExchange.get(socket) === exchange) newestExchange.delete(socket);
    },
    askForBody(response) {
      if (awaitingContinue.has(response)) response.writeContinue();
    },
    endsWith: (request) => stopping || options.isDraining() || (!request.complete && givenUp.has(request.socket)),
    stop() {
      stopping = true;
      closeSilentConnections();
    },
  };
}

function afterAnswer(exchange: Exchange | undefined, act: () => void): void {
  if (exchange === undefined || exchange.response.writableFinished || exchange.response.destroyed) act();
  else exchange.response.once('close', act);
}

function notAProxy(): ApiError {
  return new ApiError('METHOD_NOT_ALLOWED', 'CONNECT is for proxies.', { headers: { Allow: 'GET, HEAD, POST' } });
}
