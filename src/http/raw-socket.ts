import { type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { ApiError } from '../platform/errors.ts';

const openResponses = new WeakMap<Socket, ServerResponse>();

/** Remembers which response is under way on a socket, so that an answer by hand never lands inside another one. */
export function trackResponses(server: Server): void {
  server.on('request', (request, response) => openResponses.set(request.socket, response));
}

/** Answers what Node could not read as a request, then closes: nothing that follows on the socket can be trusted. */
export function answerRaw(socket: Socket, error: ApiError, headers: Record<string, string>, body: object): void {
  const underWay = openResponses.get(socket);
  if (!socket.writable || (underWay?.headersSent && !underWay.writableFinished)) {
    socket.destroy();
    return;
  }
  const payload = JSON.stringify(body);
  const lines = [
    `HTTP/1.1 ${error.status} ${STATUS_CODES[error.status]}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(payload)}`,
    'Connection: close',
    ...Object.entries({ ...headers, ...error.headers }).map(([name, value]) => `${name}: ${value}`),
  ];
  socket.end(`${lines.join('\r\n')}\r\n\r\n${payload}`, () => socket.destroy());
}
