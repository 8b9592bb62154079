import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';

/** How long a caller may take to close its side once all of its answer is on the way. */
const lingerMs = 1000;
/** How long the answer itself may take to leave. */
const flushWithinMs = 10_000;

/**
 * Ends a connection so that the caller can read its last answer. Closing while bytes of the caller lie unread makes the
 * kernel reset the connection, and the answer is lost on its way (RFC 9112, section 9.6).
 */
export function closeGently(socket: Socket): void {
  if (socket.destroyed) return;
  let late = setTimeout(() => socket.destroy(), flushWithinMs);
  socket.once('close', () => clearTimeout(late));
  ignoreErrors(socket);
  socket.end(() => {
    clearTimeout(late);
    if (!socket.destroyed) late = setTimeout(() => socket.destroy(), lingerMs);
  });
  socket.resume();
}

/** Node closes at once behind the last answer on a connection. The caller of this one may still be sending. */
export function closeGentlyAfterAnswer(socket: Socket): void {
  socket.destroySoon = () => closeGently(socket);
}

/** A socket that Node has handed over, or given up on, ends the process when it fails with nobody listening. */
export function ignoreErrors(socket: Socket): void {
  socket.on('error', () => {});
}

/** Answers what Node could not read as a request, then closes: nothing that follows on the socket can be trusted. */
export function answerRaw(socket: Socket, status: number, head: string, body: object): void {
  if (!socket.writable) return;
  const payload = JSON.stringify(body);
  const lines = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(payload)}`,
    'Connection: close',
  ];
  socket.write(`${lines.join('\r\n')}\r\n${head}\r\n${payload}`);
  closeGently(socket);
}
