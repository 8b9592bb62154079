import type { Database } from '../../src/platform/database/database.ts';
import { createPostgresCpu } from '../postgres-cpu.ts';
import type { Client } from './client.ts';
import type { Faults } from './faults.ts';
import type { Meter } from './meter.ts';
import { sumProcesses } from './processes.ts';
import { readMetric, type Sample, type Watched } from './samples.ts';
import { readTableSizes } from './tables.ts';

interface Parts {
  client: Client;
  database: Database;
  meter: Meter;
  faults: Faults;
  servicePid: number;
  /** Undefined if it is not on this machine, or not the service's own. */
  postgres: PostgresServer | undefined;
}

export interface PostgresServer {
  pid: number;
  folder: string;
}

/** Sizes change slowly, and each sample reads the size of every file. */
const sizesEvery = 3;

export interface Sampler {
  watched: Watched;
  /** Takes the next sample. */
  take(): Promise<void>;
}

export function createSampler(parts: Parts): Sampler {
  const { client, database, meter, faults, servicePid, postgres } = parts;
  const watched: Watched = { samples: [], sizes: [] };
  const postgresCpu = postgres === undefined ? () => 0 : createPostgresCpu(postgres.folder);
  let before = { atMs: performance.now(), service: Number.NaN, postgres: postgresCpu(), load: process.cpuUsage() };

  async function take(): Promise<void> {
    const reply = await readMetrics(client.url);
    const nowMs = performance.now();
    const seconds = (nowMs - before.atMs) / 1000;
    const read = (name: string) => readMetric(reply, name);
    const now = {
      atMs: nowMs,
      service: read('process_cpu_seconds_total'),
      postgres: postgresCpu(),
      load: process.cpuUsage(),
    };
    const lately = [...meter.takeLately()];
    // The service is the parent of its embedded Postgres.
    const service = sumProcesses(servicePid, postgres?.pid);
    const server = postgres && sumProcesses(postgres.pid);
    const load = now.load.user + now.load.system - before.load.user - before.load.system;
    const sample: Sample = {
      atMs: Date.now(),
      fault: faults.now(),
      residentBytes: service?.residentBytes ?? read('process_resident_memory_bytes'),
      heapBytes: read('nodejs_heap_size_used_bytes') + read('nodejs_external_memory_bytes'),
      descriptors: service?.descriptors,
      lagMs: 1000 * read('nodejs_eventloop_lag_p99_seconds'),
      postgresBytes: server?.privateBytes,
      postgresProcesses: server?.count,
      perSecond: lately.reduce((sum, [, { count }]) => sum + count, 0) / seconds,
      times: Object.fromEntries(
        lately
          .filter(([, { count }]) => count > 0)
          .map(([name, times]) => [name, { count: times.count, p50: times.at(0.5), p99: times.at(0.99) }]),
      ),
      cpu: {
        service: (now.service - before.service) / seconds || 0,
        postgres: (now.postgres - before.postgres) / 1e6 / seconds,
        load: load / 1e6 / seconds,
      },
    };
    before = now;
    if (watched.samples.length % sizesEvery === 0) {
      watched.sizes.push({ atMs: Date.now(), tables: await readTableSizes(database) });
    }
    watched.samples.push(sample);
  }
  return { watched, take };
}

async function readMetrics(url: string): Promise<string> {
  const response = await fetch(`${url}/metrics`, { signal: AbortSignal.timeout(10_000) });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`/metrics answered ${response.status} ${text.slice(0, 200)}`);
  return text;
}
