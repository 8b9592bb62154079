import type { Socket } from 'node:net';

/** How long a caller may take to close its side after the answer was written. */
const lingerMs = 1000;
/** How long writing the answer may take. */
const flushWithinMs = 10_000;

/**
 * Closes a connection so that the caller can read its last answer. Closing with unread bytes makes the kernel reset the
 * connection, and the answer is lost (RFC 9112, section 9.6).
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

/** Node closes the socket right after the last answer. This caller may still be sending, so close gently. */
export function closeGentlyAfterAnswer(socket: Socket): void {
  socket.destroySoon = () => closeGently(socket);
}

/** Without a listener, an error on a socket that Node handed over or gave up would end the process. */
export function ignoreErrors(socket: Socket): void {
  socket.on('error', () => {});
}
