import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '../test/support/eventually.ts';
import { freePort } from '../test/support/process.ts';
import { get } from './requests.ts';
import type { Server } from './server-process.ts';

/** Kannel: `bearerbox` talks to the SMSC, `smsbox` takes texts by HTTP. */
export interface Kannel extends Server {
  /** Accepted, and not with the SMSC yet. */
  queued(): Promise<number>;
}

const userAndPassword = 'username=bench&password=bench';
const folders = [...(process.env.PATH ?? '').split(':'), '/usr/sbin'];

function findBox(name: string): string | undefined {
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path));
}

/** Undefined if Kannel is not installed (Debian: kannel). Everything listens on loopback alone. */
export async function startKannel(folder: string, smscPort: number): Promise<Kannel | undefined> {
  const [bearerbox, smsbox] = [findBox('bearerbox'), findBox('smsbox')];
  if (bearerbox === undefined || smsbox === undefined) return undefined;
  const own = join(folder, 'kannel');
  mkdirSync(own, { recursive: true });
  const [admin, boxes, port] = [await freePort(), await freePort(), await freePort()];
  const file = join(own, 'kannel.conf');
  writeFileSync(file, configuration({ admin, boxes, port, smscPort }));
  const start = (box: string) => spawn(box, ['-v', '4', file], { cwd: own, stdio: 'ignore' });
  const running = [start(bearerbox)];
  const status = async () => {
    const answer = await fetch(`http://127.0.0.1:${admin}/status.txt?password=bench`).catch(() => undefined);
    return (await answer?.text()) ?? '';
  };
  const stop = () => Promise.all(running.reverse().map(end)).then(() => {});
  try {
    await eventually('Kannel starts', async () => (await status()).includes('online'));
    running.push(start(smsbox));
    await eventually(
      'Kannel starts',
      async () => (await fetch(`http://127.0.0.1:${port}/`).catch(() => undefined)) !== undefined,
    );
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    port,
    cpuMicroseconds: async () => running.reduce((sum, { pid }) => sum + cpuOf(pid ?? 0), 0),
    queued: async () => queuedIn(await status()),
    memory: unknown,
    startProfile: unknown,
    stopProfile: unknown,
    stop,
  };
}

/** One text for Kannel. It asks for no receipt: its receipts are HTTP requests, for which nothing listens here. */
export function kannelText(to: string, from: string, message: string): string {
  const target = `/cgi-bin/sendsms?${userAndPassword}&from=${from}&to=${encodeURIComponent(to)}&text=${encodeURIComponent(message)}`;
  return get(target);
}

/** From `SMS: received 0 (0 queued), sent 12 (3 queued)` and the line of the SMSC, `queued 4 msgs`. */
function queuedIn(status: string): number {
  const counts = [/sent \d+ \((\d+) queued\)/, /queued (\d+) msgs/].map((form) => Number(form.exec(status)?.[1] ?? 0));
  return counts.reduce((sum, count) => sum + count, 0);
}

/** What a process has used so far: hundredths of a second, the fields after its name. */
function cpuOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) * 10_000;
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGTERM');
  const late = setTimeout(() => child.kill('SIGKILL'), 5000);
  await gone;
  clearTimeout(late);
}

function unknown(): never {
  throw new Error('Kannel has no figure for this');
}

const configuration = (ports: { admin: number; boxes: number; port: number; smscPort: number }) => `group = core
admin-port = ${ports.admin}
admin-interface = 127.0.0.1
admin-password = bench
smsbox-port = ${ports.boxes}
smsbox-interface = 127.0.0.1
box-deny-ip = "*.*.*.*"
box-allow-ip = "127.0.0.1"
log-level = 4
dlr-storage = internal

group = smsc
smsc = smpp
smsc-id = bench
host = 127.0.0.1
port = ${ports.smscPort}
transceiver-mode = true
smsc-username = "kannel"
smsc-password = "secret"
system-type = ""
interface-version = 34
reconnect-delay = 2
max-pending-submits = 100

group = smsbox
bearerbox-host = 127.0.0.1
bearerbox-port = ${ports.boxes}
sendsms-port = ${ports.port}
sendsms-interface = 127.0.0.1

group = sendsms-user
username = bench
password = bench
max-messages = 10
concatenation = true

group = sms-service
keyword = default
text = "None"
`;
