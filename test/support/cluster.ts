import type { Connection } from './database.ts';
import { createFaultProxy, type FaultProxy, type Target } from './fault-proxy.ts';
import { sharedSettings, urlOf } from './node-settings.ts';
import { freePort, isRunning, makeFolder } from './process.ts';
import { type RedisServer, startRedis } from './redis.ts';
import { type Service, startService } from './service.ts';

/** A node of the service as a process of its own, with a network to Postgres and one to Redis that break on command. */
export interface ClusterNode {
  readonly url: string;
  readonly service: Service;
  /** Where programs bind to it. */
  readonly smppPort: number;
  postgres: FaultProxy;
  redis: FaultProxy<Target>;
  /** Once more, after it has ended, with the same data folder. */
  restart(): Promise<void>;
}

export interface Cluster {
  nodes: ClusterNode[];
  redis: RedisServer;
  close(): Promise<void>;
}

export interface ClusterOptions {
  connection: Connection;
  /** One for each node: what it does. */
  roles?: ('all' | 'web' | 'worker')[];
  env?: Record<string, string>;
}

/** Several nodes on one Postgres and one Redis. Built before, so that an edited source does not matter. */
export async function startCluster(options: ClusterOptions): Promise<Cluster> {
  const { connection, roles = ['all', 'all', 'all'], env = {} } = options;
  const redis = await startRedis();
  const nodes = await Promise.all(roles.map((role) => startNode({ connection, redis, role, env })));
  return {
    nodes,
    redis,
    async close() {
      for (const { service, postgres, redis } of nodes) {
        // Whether it runs, is paused, or has ended before.
        if (isRunning(service.pid)) service.kill('SIGKILL');
        await service.ended;
        await postgres.close();
        await redis.close();
      }
      await redis.stop();
    },
  };
}

interface NodeOptions {
  connection: Connection;
  redis: RedisServer;
  role: string;
  env: Record<string, string>;
}

async function startNode({ connection, redis, role, env }: NodeOptions): Promise<ClusterNode> {
  const toPostgres = await createFaultProxy(connection);
  const toRedis = await createFaultProxy<Target>({ host: '127.0.0.1', port: redis.port });
  const dataDir = makeFolder('node');
  const smppPort = await freePort();
  const launch = async (tries = 1): Promise<Service> => {
    const service = await startService({
      dataDir,
      env: {
        ...sharedSettings,
        DATABASE_URL: urlOf(toPostgres.connection),
        REDIS_URL: `redis://127.0.0.1:${toRedis.connection.port}`,
        HELIOGRAPH_ROLE: role,
        HELIOGRAPH_SMPP_PORT: String(smppPort),
        ...env,
      },
    });
    const started = await service.ready.then(
      () => true,
      () => false,
    );
    if (started) return service;
    // A statement may exceed its limit on a machine that is busy with other things; then a supervisor starts it again.
    const mayPass = service.output().includes('cannot reach its database');
    if (!mayPass || tries === 5) throw new Error(`the node did not start:\n${service.output()}`);
    return launch(tries + 1);
  };
  let service = await launch();
  return {
    get url() {
      return service.url;
    },
    get service() {
      return service;
    },
    smppPort,
    postgres: toPostgres,
    redis: toRedis,
    async restart() {
      service = await launch();
    },
  };
}
