import { Socket } from 'node:net';
import { Client, type ClientConfig } from 'pg';
import { CopyIn, CopyOut } from '../copy-streams.ts';
import { isConnectionLoss, translateError } from '../errors.ts';
import { createCommitWatch } from './commit-watch.ts';
import { run, type Session } from './statement.ts';

/** How long closing may take before the socket is cut. */
const goodbyeMs = 500;

export async function openSession(
  config: ClientConfig,
  settings: string,
  onLost: (error: Error) => void,
  onSocket?: (socket: Socket) => void,
): Promise<Session> {
  const socket = new Socket();
  onSocket?.(socket);
  const client = new Client({ ...config, stream: () => socket });
  let over = false;
  const lose = (error: Error) => {
    if (over) return;
    over = true;
    socket.destroy();
    onLost(error);
  };
  // Listen before connecting: a connection that breaks while it is set up must not end the process.
  client.on('error', () => {});
  const commits = createCommitWatch();
  commits.watch(client);
  await client
    .connect()
    .then(() => client.query(settings))
    .catch((error: unknown) => {
      over = true;
      socket.destroy();
      throw translateError(error);
    });
  client.on('error', lose);
  client.on('end', () => lose(new Error('the connection was closed')));
  return {
    query: async (statement, values) => {
      try {
        return await run<never>(client, statement, values, commits);
      } catch (error) {
        if (isConnectionLoss(error)) lose(error as Error);
        throw translateError(error);
      }
    },
    copyOut: (statement) => client.query(new CopyOut(statement)),
    copyIn: (statement) => client.query(new CopyIn(statement)),
    onNotification: (listener) =>
      client.on('notification', (notification) => listener(notification.channel, notification.payload ?? '')),
    async close() {
      over = true;
      const late = setTimeout(() => socket.destroy(), goodbyeMs);
      await client.end();
      clearTimeout(late);
    },
  };
}
