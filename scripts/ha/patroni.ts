// Three Postgres with Patroni and etcd on loopback ports of this machine.
import type { ChildProcess } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createDatabase, type Database } from '../../src/platform/database/database.ts';
import { createLog } from '../../src/platform/log.ts';
import {
  configure,
  end,
  findRunAs,
  findServerPrograms,
  isRunning,
  launch,
  own,
  signalAll,
  treeOf,
} from './programs.ts';

export interface Member {
  name: string;
  port: number;
  restPort: number;
  folder: string;
  etcd: ChildProcess | undefined;
  patroni: ChildProcess | undefined;
}

/** A member as Patroni shows it. */
export interface MemberState {
  name: string;
  role: string;
  state: string;
  timeline?: number;
  lag?: number | string;
}

export interface PatroniCluster {
  members: Member[];
  /** For `DATABASE_URL`. */
  url: string;
  /** The same through one port that leads to the primary. */
  urlThrough(port: number): string;
  states(): Promise<MemberState[]>;
  /** The member that takes writes, by Postgres itself. */
  primary(): Promise<Member | undefined>;
  /** Resolves when all three run and a synchronous standby is there. */
  whole(withinMs?: number): Promise<void>;
  /** Patroni and its Postgres together: Patroni would only restart a Postgres that dies alone. */
  kill(member: Member): void;
  freeze(member: Member): void;
  thaw(member: Member): void;
  restart(member: Member): void;
  switchOver(from: Member): Promise<void>;
  killEtcd(member: Member): Promise<void>;
  startEtcd(member: Member): void;
  /** As superuser, at this member. */
  inDatabase<Result>(member: Member, database: string, work: (database: Database) => Promise<Result>): Promise<Result>;
  close(): Promise<void>;
}

const passwords = { postgres: 'superuser', replicator: 'replicator', rewinder: 'rewinder', heliograph: 'heliograph' };
const timeouts = { connectMs: 3000, statementMs: 10_000, transactionMs: 15_000 };

export async function startPatroni(folder: string, freePort: () => Promise<number>): Promise<PatroniCluster> {
  const runAs = findRunAs();
  const log = createLog({ level: 'fatal', readable: false });
  const binaries = findServerPrograms();
  const ports = await Promise.all(
    [1, 2, 3].map(async (number) => ({
      name: `db${number}`,
      port: await freePort(),
      restPort: await freePort(),
      client: await freePort(),
      peer: await freePort(),
    })),
  );
  const etcdHosts = ports.map(({ client }) => `127.0.0.1:${client}`).join(',');
  const members = ports.map(({ name, port, restPort, client, peer }): Member => {
    const home = join(folder, name);
    mkdirSync(home, { mode: 0o711 });
    mkdirSync(join(home, 'run'));
    for (const each of [home, join(home, 'run')]) own(each, runAs);
    configure('etcd.conf.yml', join(home, 'etcd.yml'), [
      [
        'db1=http://10.0.0.1:2380,db2=http://10.0.0.2:2380,db3=http://10.0.0.3:2380',
        ports.map((each) => `${each.name}=http://127.0.0.1:${each.peer}`).join(','),
      ],
      ['name: db1', `name: ${name}`],
      ['/var/lib/etcd', join(home, 'etcd')],
      ['10.0.0.1:2379', `127.0.0.1:${client}`],
      ['10.0.0.1:2380', `127.0.0.1:${peer}`],
    ]);
    configure('patroni.yml', join(home, 'patroni.yml'), [
      ['10.0.0.1:2379,10.0.0.2:2379,10.0.0.3:2379', etcdHosts],
      ['name: db1', `name: ${name}`],
      ['10.0.0.1:8008', `127.0.0.1:${restPort}`],
      ['10.0.0.1:5432', `127.0.0.1:${port}`],
      ['/var/lib/postgresql/15/heliograph', join(home, 'data')],
      ['/usr/lib/postgresql/15/bin', binaries],
      ['/var/run/postgresql', join(home, 'run')],
      ['10.0.0.0/24', '127.0.0.1/32'],
      ['change-me-1', passwords.postgres],
      ['change-me-2', passwords.replicator],
      ['change-me-3', passwords.rewinder],
    ]);
    return { name, port, restPort, folder: home, etcd: undefined, patroni: undefined };
  });
  const pidsOf = ({ patroni, folder: home }: Member): number[] => {
    const postmaster = postmasterOf(home);
    const own = isRunning(patroni) && patroni.pid !== undefined ? [patroni.pid] : [];
    return [...own, ...(postmaster === undefined ? [] : treeOf(postmaster))];
  };

  const urlOf = (hosts: number[]) =>
    `postgres://heliograph:${passwords.heliograph}@${hosts.map((port) => `127.0.0.1:${port}`).join(',')}/heliograph`;
  const cluster: PatroniCluster = {
    members,
    url: urlOf(members.map(({ port }) => port)),
    urlThrough: (port) => `${urlOf([port])}?target_session_attrs=read-write`,
    async states() {
      const answers = members.map(async ({ restPort }) => {
        const answer = await fetch(`http://127.0.0.1:${restPort}/cluster`, { signal: AbortSignal.timeout(1500) });
        return ((await answer.json()) as { members: MemberState[] }).members;
      });
      return Promise.any(answers).catch(() => []);
    },
    async primary() {
      const checks = members.map(async (member) => {
        const answer = await fetch(`http://127.0.0.1:${member.restPort}/primary`, {
          signal: AbortSignal.timeout(1500),
        });
        await answer.body?.cancel();
        if (answer.status !== 200) throw new Error('no primary');
        return member;
      });
      return Promise.any(checks).catch(() => undefined);
    },
    async whole(withinMs = 180_000) {
      await waitFor('three members and a synchronous standby', withinMs, async () => {
        const states = await cluster.states();
        const running = states.filter(({ state }) => state === 'running' || state === 'streaming');
        const leader = states.find(({ role }) => role === 'leader');
        const isFollowed = states.every(
          ({ role, lag, timeline }) => role === 'leader' || (lag === 0 && timeline === leader?.timeline),
        );
        return (
          leader !== undefined &&
          running.length === members.length &&
          isFollowed &&
          states.some(({ role }) => role === 'sync_standby')
        );
      });
    },
    kill: (member) => signalAll(pidsOf(member), 'SIGKILL'),
    freeze: (member) => signalAll(pidsOf(member), 'SIGSTOP'),
    thaw: (member) => signalAll(pidsOf(member), 'SIGCONT'),
    restart(member) {
      member.patroni = launch('patroni', [join(member.folder, 'patroni.yml')], member.folder, runAs);
    },
    async switchOver(from) {
      const standby = (await cluster.states()).find(({ role }) => role === 'sync_standby');
      const body = JSON.stringify({ leader: from.name, candidate: standby?.name });
      const headers = { 'Content-Type': 'application/json' };
      const answer = await fetch(`http://127.0.0.1:${from.restPort}/switchover`, { method: 'POST', headers, body });
      const text = await answer.text();
      if (answer.status !== 200) throw new Error(`Patroni refused the switch-over: ${answer.status} ${text}`);
    },
    killEtcd: (member) => end(member.etcd),
    startEtcd(member) {
      const args = ['--config-file', join(member.folder, 'etcd.yml')];
      member.etcd = launch('etcd', args, member.folder, runAs);
    },
    async inDatabase(member, name, work) {
      const connection = {
        host: '127.0.0.1',
        port: member.port,
        user: 'postgres',
        password: passwords.postgres,
        database: name,
      };
      const database = createDatabase({ connection, log, poolSize: 1, timeouts });
      return work(database).finally(() => database.close());
    },
    async close() {
      for (const member of members) {
        signalAll(pidsOf(member), 'SIGKILL');
        signalAll(pidsOf(member), 'SIGCONT');
        await end(member.patroni);
        await end(member.etcd);
      }
    },
  };

  for (const member of members) cluster.startEtcd(member);
  for (const member of members) cluster.restart(member);
  try {
    await cluster.whole();
    const first = await cluster.primary();
    if (first === undefined) throw new Error('no member takes writes');
    await cluster.inDatabase(first, 'postgres', async (admin) => {
      await admin.query(`create role heliograph login password '${passwords.heliograph}'`);
      await admin.query('create database heliograph owner heliograph');
    });
  } catch (error) {
    await cluster.close();
    throw error;
  }
  return cluster;
}

function postmasterOf(home: string): number | undefined {
  const file = join(home, 'data', 'postmaster.pid');
  const pid = existsSync(file) ? Number(readFileSync(file, 'utf8').split('\n')[0]) : Number.NaN;
  // The number may belong to another program by now.
  const command = pid > 1 && existsSync(`/proc/${pid}/cmdline`) ? readFileSync(`/proc/${pid}/cmdline`, 'utf8') : '';
  return command.includes(join(home, 'data')) ? pid : undefined;
}

export async function waitFor(what: string, withinMs: number, check: () => Promise<boolean>): Promise<void> {
  for (const endMs = performance.now() + withinMs; ; ) {
    if (await check().catch(() => false)) return;
    if (performance.now() > endMs) throw new Error(`not within ${withinMs} ms: ${what}`);
    await new Promise((done) => setTimeout(done, 100));
  }
}
