import type { Socket } from 'node:net';
import { PlainConnection, type PlainLaneOptions } from './connection.ts';

/**
 * The lane for plainly written requests, which are nearly all: Node's own HTTP takes longer than the rest of a request.
 * It hands a connection to Node for good at the first request that is not plain, or not whole when the watch checks. So
 * this lane refuses no request and times none out. `server.ts` is its only user, and works without it.
 */
export function createPlainLane(options: PlainLaneOptions) {
  const { timeouts } = options;
  const connections = new Set<PlainConnection>();
  const lane = { ...options, onLeft: (connection: PlainConnection) => connections.delete(connection) };

  const watch = setInterval(() => {
    for (const connection of connections) connection.watch(timeouts);
  }, timeouts.checkMs).unref();

  return {
    /** Reads a new connection, until a request on it is not plain. */
    take: (socket: Socket): void => void connections.add(new PlainConnection(socket, lane)),
    /** Closes connections that owe no answer. */
    closeIdle(): void {
      for (const connection of connections) connection.closeIfIdle();
    },
    closeAll(): void {
      for (const { socket } of connections) socket.destroy();
    },
    /** Stops the timeout checks. */
    stop: (): void => clearInterval(watch),
  };
}
