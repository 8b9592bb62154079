import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { type KeptConnection, openKeptConnection } from './applications.ts';
import { send } from './developer.ts';
import { eventually } from './eventually.ts';
import type { Service } from './service.ts';

/** The web processes of a service that logs them: the pid of each, by its number. */
export function webProcessesOf(service: Pick<Service, 'output'>): Map<number, number> {
  const pids = new Map<number, number>();
  for (const line of service.output().split('\n')) {
    if (!line.includes('a web process answers requests')) continue;
    const { process: number, pid } = JSON.parse(line) as { process: number; pid: number };
    pids.set(number, pid);
  }
  return pids;
}

/** The process that started this one. */
export function parentOf(pid: number): number {
  return Number(execFileSync('ps', ['-o', 'ppid=', '-p', String(pid)], { encoding: 'utf8' }).trim());
}

export function portOf({ url }: Pick<Service, 'url'>): number {
  return Number(new URL(url).port);
}

/** While the act goes on, the other processes are stopped: new connections come to this one. */
export async function withOnly<Result>(
  pids: readonly number[],
  pid: number,
  act: () => Promise<Result>,
): Promise<Result> {
  const others = pids.filter((other) => other !== pid);
  for (const other of others) process.kill(other, 'SIGSTOP');
  try {
    await eventually('the others are stopped', () => others.every((other) => stateOf(other).startsWith('T')));
    return await act();
  } finally {
    for (const other of others) process.kill(other, 'SIGCONT');
  }
}

/** As ps prints it: T is stopped. */
function stateOf(pid: number): string {
  return execFileSync('ps', ['-o', 'state=', '-p', String(pid)], { encoding: 'utf8' }).trim();
}

/** Opens as many connections to each of the processes. */
export async function connectToEach(service: Service, count: number): Promise<KeptConnection[]> {
  const pids = [...webProcessesOf(service).values()];
  const connections: KeptConnection[] = [];
  for (const pid of pids) {
    await withOnly(pids, pid, async () => {
      const opened = Array.from({ length: count }, () => openKeptConnection({ port: portOf(service) }));
      const statuses = await Promise.all(opened.map((connection) => connection.get('/healthz', {})));
      for (const status of statuses) assert.equal(status, 200);
      connections.push(...opened);
    });
  }
  return connections;
}

export async function allServe(service: Service, wanted: number): Promise<void> {
  await eventually(`${wanted} processes serve`, async () => {
    const answer = await send<{ processes: { serving: number } }>(service, 'GET', '/readyz').catch(() => undefined);
    return answer?.body.processes.serving === wanted;
  });
}
