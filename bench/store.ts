import { makeFirstPartitions } from '../src/compose/partitioned-tables.ts';
import { systemClock as clock } from '../src/platform/clock.ts';
import type { KeyRing } from '../src/platform/crypto/keys.ts';
import { openKeyRing } from '../src/platform/crypto/open-key-ring.ts';
import { createDatabase, type Database } from '../src/platform/database/database.ts';
import { migrate } from '../src/platform/database/migrate.ts';
import { createLog } from '../src/platform/log.ts';
import { createRegistry, type Registry } from '../src/registry/registry.ts';
import { readConfig } from '../src/settings/settings.ts';
import { type Server, startServer } from './server-process.ts';

/** A database of the run's Postgres, and what is needed to put something into it. */
export interface Store {
  url: string;
  database: Database;
  keys: KeyRing;
  registry: Registry;
  /** For what takes long, like making ten million rows. */
  patiently(sql: string, values?: unknown[]): Promise<void>;
  /** Takes away what earlier scenarios have left, so that none pays for another. */
  empty(): Promise<void>;
  close(): Promise<void>;
}

const secret = 'a secret for benchmarks';
/** Nothing but the 429 is to be refused. */
const plenty = '1000000';
const plans = JSON.stringify({ enterprise: { per_minute: Number(plenty), burst: Number(plenty) } });
const log = createLog({ level: 'warn', readable: true });

/** `env` is what its node is started with: keys of the sandbox are not those of production. */
export async function openStore(url: string, env: Record<string, string> = {}): Promise<Store> {
  const config = readConfig({ HELIOGRAPH_SECRET: secret, HELIOGRAPH_PLANS: plans, ...env });
  const database = createDatabase({ connection: { url }, log, poolSize: 4 });
  await migrate(database, clock, log);
  await makeFirstPartitions(database, clock);
  const keys = await openKeyRing({ database, clock, secret });
  async function patiently(sql: string, values?: unknown[]): Promise<void> {
    const session = await database.openSession(() => {}, { patient: true });
    await session.query(sql, values).finally(() => session.close());
  }
  return {
    url,
    database,
    keys,
    registry: createRegistry({ database, clock, keys, log, config }),
    patiently,
    async empty() {
      await patiently(`truncate message, message_end, delivery_queue, delivery_schedule, delivery_claim, sent_text,
        verification, pending_verification, ended_verification, recent_failure, counted_start, handset_text,
        request_trace, usage_minute, message_sum, verification_sum`);
      await patiently('checkpoint');
    },
    close: () => database.close(),
  };
}

/** The product as `npm start` runs it, built, on this store. In role `web` it accepts and leaves delivery to others. */
export function startNode(
  store: Store,
  folder: string,
  env: Record<string, string>,
  program?: string,
): Promise<Server> {
  return startServer({
    ...(program !== undefined && { program }),
    file: 'dist/service/main.js',
    folder,
    readyAt: '/readyz',
    env: { ...nodeEnv(store, folder), ...env },
  });
}

/** The settings of a node, and of a command for it. */
export function nodeEnv({ url }: Store, folder: string): Record<string, string> {
  return {
    DATABASE_URL: url,
    HELIOGRAPH_DATA_DIR: folder,
    HELIOGRAPH_SECRET: secret,
    HELIOGRAPH_PLANS: plans,
    HELIOGRAPH_ADDRESS_PER_MINUTE: plenty,
    HELIOGRAPH_ADDRESS_BURST: plenty,
  };
}
