// Kannel's drive_smpp as an SMSC. scripts/system-needs.ts gets it for the tests that import this file.
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '../support/eventually.ts';

export const driveSmpp = '/usr/lib/kannel/test/drive_smpp';
/** It ends if nothing listens here: it wants to be an smsbox too. */
const smsboxPort = 13_001;

export interface DriveSmpp {
  port: number;
  stop(): Promise<void>;
}

/** It sends this many texts of phones to a receiver that binds, and ends as soon as a connection is closed. */
export async function startDriveSmpp(texts: number): Promise<DriveSmpp> {
  const smsbox = await listenIfFree(smsboxPort);
  const folder = mkdtempSync(join(tmpdir(), 'heliograph-kannel-'));
  writeFileSync(join(folder, 'empty.conf'), 'group = core\nadmin-port = 13000\nsmsbox-port = 13001\n');
  const port = await freePort();
  const args = ['-v', '4', '-p', String(port), '-m', String(texts), '-c', 'empty.conf'];
  const child = spawn(driveSmpp, args, { cwd: folder, stdio: 'ignore' });
  const ended = new Promise<void>((resolve) => child.on('close', () => resolve()));
  await eventually('drive_smpp listens', () => isListening(port), { withinMs: 20_000 });
  return {
    port,
    async stop() {
      child.kill('SIGKILL');
      await ended;
      smsbox?.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Undefined if another program listens there already: that does as well. */
function listenIfFree(port: number): Promise<Server | undefined> {
  const server = createServer((socket) => socket.on('error', () => {}).resume());
  return new Promise((resolve) => {
    server.once('error', () => resolve(undefined)).listen(port, '127.0.0.1', () => resolve(server));
  });
}

export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/** It ends with its first connection, so we do not connect to find out. */
function isListening(port: number): boolean {
  const listening = new RegExp(`:${port.toString(16).toUpperCase().padStart(4, '0')} [0-9A-F]+:0000 0A `);
  return ['/proc/net/tcp', '/proc/net/tcp6'].some(
    (file) => existsSync(file) && listening.test(readFileSync(file, 'utf8')),
  );
}
