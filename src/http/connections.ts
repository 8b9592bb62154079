import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyReply } from 'fastify';
import { ApiError } from '../platform/errors.ts';
import { closeGently, ignoreErrors, trackSilentConnections } from './raw-socket.ts';

export interface ConnectionsOptions {
  /** Answers a request of which only a part could be read. */
  answerRequest(reply: FastifyReply, error: ApiError): void;
  /** Answers, by hand, what is not a request at all. */
  answerSocket(socket: Socket, error: ApiError): void;
}

/** What the server must know of its connections, beyond the single request, so that each gets its answers in order. */
export interface Connections {
  begin(reply: FastifyReply): void;
  end(reply: FastifyReply): void;
  /** Tells a caller that waits for it to send its body. Not telling is how a refused body need not be sent. */
  askForBody(reply: FastifyReply): void;
  /** What is not HTTP is refused behind the answers still owed on its connection, which then ends. */
  refuse(socket: Socket, error: ApiError): void;
  /** Whether the connection cannot go on behind this answer. */
  endsWith(reply: FastifyReply): boolean;
  /** From now on every answer is the last on its connection; those with nothing to answer are closed. */
  stop(): void;
}

export function watchConnections(server: Server, options: ConnectionsOptions): Connections {
  const newestReply = new WeakMap<Socket, FastifyReply>();
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
    const newest = newestReply.get(socket);
    if (newest === undefined || newest.request.raw.complete) {
      afterAnswer(newest, () => options.answerSocket(socket, error));
      return;
    }
    // The body of the newest request is at fault. It gets one answer: this, or the one it already had.
    if (!newest.raw.headersSent) options.answerRequest(newest, error);
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
    begin: (reply) => void newestReply.set(reply.request.raw.socket, reply),
    end({ request, raw }) {
      const { socket, complete } = request.raw;
      // An idle connection must not keep its last request in memory.
      if (complete && newestReply.get(socket)?.raw === raw) newestReply.delete(socket);
    },
    askForBody({ raw }) {
      if (awaitingContinue.has(raw)) raw.writeContinue();
    },
    endsWith: ({ request }) => stopping || (!request.raw.complete && givenUp.has(request.raw.socket)),
    stop() {
      stopping = true;
      closeSilentConnections();
    },
  };
}

function afterAnswer(reply: FastifyReply | undefined, act: () => void): void {
  if (reply === undefined || reply.raw.writableFinished || reply.raw.destroyed) act();
  else reply.raw.once('close', act);
}

function notAProxy(): ApiError {
  return new ApiError('METHOD_NOT_ALLOWED', 'CONNECT is for proxies.', { headers: { Allow: 'GET, HEAD, POST' } });
}
