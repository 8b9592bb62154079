import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createDatabase } from '../src/platform/database/database.ts';
import { createLog } from '../src/platform/log.ts';
import { startEmbeddedPostgres } from '../src/platform/postgres/embedded.ts';
import { type Caller, makeCallers } from './callers.ts';
import { type Load, startLoad } from './load-process.ts';
import { createPostgresCpu } from './postgres-cpu.ts';
import { type Server, startServer } from './server-process.ts';
import { openStore, type Store, startNode } from './store.ts';

export interface Pace {
  quick: boolean;
  rounds: number;
  roundMs: number;
  /** Requests until a path is compiled, and the maximum number of rounds for them. */
  warmUp: { requests: number; rounds: number };
}

export const fullPace: Pace = { quick: false, rounds: 7, roundMs: 1200, warmUp: { requests: 40_000, rounds: 12 } };
export const quickPace: Pace = { quick: true, rounds: 5, roundMs: 500, warmUp: { requests: 5000, rounds: 8 } };

/** The product on a store of its own, with callers that no limit stops. */
export interface Product {
  node: Server;
  store: Store;
  callers: Caller[];
}

/** What a scenario works with. Everything it starts ends with the run, if not sooner. */
export interface Bench {
  pace: Pace;
  load: Load;
  /** Bare Fastify: what nearly everything is held against. */
  echo: Server;
  /** With its delivery held, shared by all scenarios that need no other. */
  held(): Promise<Product>;
  startProduct(env: Record<string, string>): Promise<Product>;
  startNode(store: Store, env: Record<string, string>): Promise<Server>;
  /** A bench that ends with this one: for servers that work at the same time, each with a load and a Postgres of its own. */
  another(): Promise<Bench>;
  startPeer(name: string, env?: Record<string, string>): Promise<Server>;
  /** What the run's Postgres has used so far. */
  postgresMicroseconds(): number;
  /** A new, empty database on the run's Postgres: its address. */
  createDatabase(): Promise<string>;
  /** For what a scenario starts by itself. */
  atEnd(end: () => unknown): void;
  /** Where Postgres and everything else of the run lies; it goes when the run ends. */
  folder: string;
  say(text: string): void;
  stop(): Promise<void>;
}

/** `program`: the Node that runs the servers. */
export async function startBench(pace: Pace, program = process.execPath): Promise<Bench> {
  const folder = mkdtempSync(join(tmpdir(), 'heliograph-bench-'));
  // Postgres may have to run as another user, who must get through.
  chmodSync(folder, 0o711);
  const endings: (() => unknown)[] = [() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 })];
  const log = createLog({ level: 'warn', readable: true });
  const postgres = await startEmbeddedPostgres({ folder: join(folder, 'postgres'), log });
  endings.push(postgres.stop);
  const admin = createDatabase({ connection: postgres.adminConnection, log, poolSize: 1 });
  endings.push(admin.close);
  // Between two measurements the store writes everything to disk; the service itself has no such right.
  await admin.query(`grant pg_checkpoint to ${postgres.connection.user}`);
  await admin.query(`grant set on parameter session_replication_role to ${postgres.connection.user}`);
  const load = startLoad();
  endings.push(load.stop);
  let databases = 0;
  let nodes = 0;
  let held: Promise<Product> | undefined;
  let stopping: Promise<void> | undefined;

  /** Ends once, whether by its scenario or with the run. */
  function endingOnce(server: Server): Server {
    let ending: Promise<void> | undefined;
    const stop = () => (ending ??= server.stop());
    endings.push(stop);
    return { ...server, stop };
  }

  const bench: Bench = {
    pace,
    load,
    folder,
    echo: endingOnce(await startServer({ file: 'bench/peers/echo-fastify.mjs', folder, program })),
    held: () => (held ??= bench.startProduct({ HELIOGRAPH_ROLE: 'web' })),
    async startProduct(env) {
      const store = await openStore(await bench.createDatabase(), env);
      endings.push(store.close);
      const node = await bench.startNode(store, env);
      return { node, store, callers: await makeCallers(store, node) };
    },
    async startNode(store, env) {
      if (stopping !== undefined) throw new Error('the run is over');
      const own = join(folder, `node-${nodes++}`);
      mkdirSync(own);
      return endingOnce(await startNode(store, own, env, program));
    },
    async another() {
      const other = await startBench(pace, program);
      endings.push(other.stop);
      return other;
    },
    startPeer: async (name, env = {}) =>
      endingOnce(await startServer({ file: `bench/peers/${name}.mjs`, folder, env, program })),
    async createDatabase() {
      const name = `bench_${databases++}`;
      const { user, password, host, port } = postgres.connection;
      await admin.query(`create database ${name} owner ${user}`);
      // A host in the query may be the folder of a socket.
      return `postgres://${user}:${password}@localhost:${port}/${name}?host=${encodeURIComponent(host)}`;
    },
    atEnd: (end) => void endings.push(end),
    postgresMicroseconds: createPostgresCpu(join(folder, 'postgres', 'data')),
    say: (text) => console.log(text),
    stop() {
      stopping ??= (async () => {
        for (const end of endings.reverse()) await end();
      })();
      return stopping;
    },
  };
  return bench;
}
