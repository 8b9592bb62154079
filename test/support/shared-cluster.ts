import { atEnd } from '../../scripts/shared-by-files.ts';
import { type Cluster, type ClusterNode, startCluster } from './cluster.ts';
import { createTestDatabase, type TestDatabase } from './database.ts';
import { signUp, type TestDeveloper } from './developer.ts';
import { buildService } from './service.ts';

export interface SharedCluster {
  db: TestDatabase;
  cluster: Cluster;
  /** Signed up at the first node. Each file makes applications of its own. */
  developer: TestDeveloper;
}

/** Small enough for a test to use it up. */
export const smallPlan = { per_minute: 150, burst: 60 };
const plans = { free: smallPlan, enterprise: { per_minute: 1_000_000, burst: 1_000_000 } };

let shared: Promise<SharedCluster> | undefined;

/** Three nodes for all files that run in one process: to start them takes longer than most of what is tried on them. */
export async function shareCluster(): Promise<SharedCluster> {
  shared ??= start();
  const found = await shared;
  // A test that failed may have left a fault behind.
  for (const { postgres, redis, service } of found.cluster.nodes) {
    for (const network of [postgres, redis]) network.set({ kind: 'pass' });
    service.kill('SIGCONT');
  }
  return found;
}

async function start(): Promise<SharedCluster> {
  await buildService();
  const db = await createTestDatabase();
  atEnd(() => db.drop());
  const cluster = await startCluster({ connection: db.connection, env: { HELIOGRAPH_PLANS: JSON.stringify(plans) } });
  atEnd(() => cluster.close());
  return { db, cluster, developer: await signUp(cluster.nodes[0] as ClusterNode) };
}
