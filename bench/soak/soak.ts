import { chmodSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { createDatabase, type Database } from '../../src/platform/database/database.ts';
import { createLog } from '../../src/platform/log.ts';
import type { PostgresConnection } from '../../src/platform/postgres/cluster.ts';
import { findPostmaster } from '../../src/platform/postgres/postmaster.ts';
import { serviceRole } from '../../src/platform/postgres/role.ts';
import { findWaiting } from '../../src/webhooks/waiting-store.ts';
import { urlOf } from '../../test/support/node-settings.ts';
import { makeFolder } from '../../test/support/process.ts';
import { startCarriers } from './carriers.ts';
import { createClient } from './client.ts';
import { createFaultList, type Faults, startFaults, type WebhookEndpoint } from './faults.ts';
import { createLedger } from './ledger.ts';
import { startListening } from './listen.ts';
import { createActs } from './load.ts';
import { createMeter } from './meter.ts';
import { startOpenLoop } from './open-loop.ts';
import { createPhones } from './phones.ts';
import { createSampler, type PostgresServer } from './sampler.ts';
import type { Sample } from './samples.ts';
import { checkStore, countUnended } from './store-check.ts';
import { startTokenKeeper } from './tokens.ts';
import type { Findings } from './verdict.ts';
import { startWorld } from './world.ts';

export interface SoakOptions {
  minutes: number;
  rate: number;
  /** Ends the run early, with what was found so far. */
  signal: AbortSignal;
  say(text: string): void;
  /** Receives each sample, for progress. */
  onSample?(sample: Sample, elapsedMs: number, broken: number): void;
  sampleMs?: number;
  /** A database on a server that runs already: then the processes of Postgres are not reported. */
  connection?: PostgresConnection;
  /** Called when all has ended, before the store is compared: a test spoils the store here. */
  beforeCheck?(database: Database): Promise<void>;
}

export interface SoakResult extends Findings {
  startedAt: Date;
  /** How long the load ran. */
  minutes: number;
  rate: number;
  counts: ReadonlyMap<string, number>;
  faults: ReturnType<Faults['spans']>;
}

/** Everything that was started, ended in the opposite order, whatever went wrong. */
type Endings = (() => unknown)[];

export async function soak(options: SoakOptions): Promise<SoakResult> {
  const endings: Endings = [];
  try {
    return await run(options, endings);
  } finally {
    for (const end of endings.reverse()) await end();
  }
}

async function run(options: SoakOptions, endings: Endings): Promise<SoakResult> {
  const { minutes, rate, signal, say, onSample, beforeCheck, connection } = options;
  const runMs = minutes * 60_000;
  const tokenSeconds = Math.round(Math.min(300, Math.max(120, (minutes * 60) / 8)));
  const ledger = createLedger();
  let faults: Faults | undefined;
  const meter = createMeter(() => faults?.isFelt() === true);
  const fail = (error: unknown) =>
    ledger.check('the load meets no surprise', false, () => String((error as Error).stack ?? error));
  const phones = createPhones((number) => {
    if (ledger.texts.count(number) > 1) ledger.count('texts submitted again');
  });

  const dataDir = makeFolder('heliograph-soak');
  // Postgres may have to run as another user, who must get through.
  chmodSync(dataDir, 0o711);
  endings.push(() => rmSync(dataDir, { recursive: true, force: true, maxRetries: 5 }));
  const carriers = await startCarriers(phones);
  endings.push(carriers.close);
  const world = await startWorld({
    dataDir,
    carriers,
    tokenSeconds,
    databaseUrl: connection && urlOf(connection),
    say,
    endings,
  });
  let ended: string | undefined;
  const gone = new AbortController();
  void world.service.ended.then(({ code, signal: by }) => {
    ended ??= `it ended with ${by ?? code}: ${world.service.output().slice(-500)}`;
    gone.abort();
  });
  const postgres = connection === undefined ? await findEmbedded(dataDir) : { connection, server: undefined };
  const log = createLog({ level: 'warn', readable: true });
  const database = createDatabase({ connection: postgres.connection, log, poolSize: 1, timeouts });
  endings.push(database.close);
  const client = createClient(world.service.url, meter, ledger);
  endings.push(client.close);
  const tokens = await startTokenKeeper(client, world, ledger, tokenSeconds);
  endings.push(tokens.stop);
  const endpoint: WebhookEndpoint = { status: undefined };
  const listening = await startListening({ client, world, ledger, endpoint, fail });
  endings.push(listening.stop);

  faults = startFaults(createFaultList(carriers, endpoint), faultPace(runMs));
  endings.push(faults.stop);
  const sampler = createSampler({
    client,
    database,
    meter,
    faults,
    servicePid: world.service.pid,
    postgres: postgres.server,
  });
  say(`The load begins${minutes >= 2 ? ' (Ctrl-C ends it with the verdict so far)' : ''}.`);
  const startedAt = new Date();
  const startedMs = performance.now();
  const loop = startOpenLoop(createActs({ client, world, tokens, ledger, meter, phones, rate, runMs }), fail);
  endings.push(loop.stop);

  const over = AbortSignal.any([signal, gone.signal]);
  const sampleMs = options.sampleMs ?? (runMs < 300_000 ? 1000 : 5000);
  const elapsedMs = () => performance.now() - startedMs;
  for (let next = sampleMs; elapsedMs() < runMs && !over.aborted; next += sampleMs) {
    await pause(Math.max(0, next - elapsedMs()), undefined, { signal: over }).catch(() => {});
    if (over.aborted) break;
    await sampler.take().catch(fail);
    const sample = sampler.watched.samples.at(-1);
    const broken = ledger.promises().reduce((sum, each) => sum + each.broken, 0);
    if (sample !== undefined) onSample?.(sample, elapsedMs(), broken);
    // The last faults must be over before everything has to end well.
    if (elapsedMs() > 0.85 * runMs) await faults.stop();
  }
  const ranMinutes = elapsedMs() / 60_000;
  await faults.stop();
  say('The load ends. Waiting until every text has ended and every event is delivered.');
  await loop.stop();
  if (ended === undefined) await drain(database, world.shop.id, listening.lastReceivedMs, gone.signal);
  await listening.stop();
  if (ended === undefined) {
    await beforeCheck?.(database);
    say('Comparing the store with the responses of callers.');
    await checkStore(database, world.shop.id, ledger);
  }
  const found = ended;
  return {
    watched: sampler.watched,
    promises: ledger.promises(),
    operations: meter.operations(),
    left: loop.left,
    ended: found,
    startedAt,
    minutes: ranMinutes,
    rate,
    counts: ledger.counts(),
    faults: faults.spans(),
  };
}

/** In a long run a fault of 10 s every minute; in a short one as many as find a place. */
function faultPace(runMs: number): { everyMs: number; lastsMs: number } {
  const everyMs = Math.min(60_000, Math.max(5000, runMs / 12));
  return { everyMs, lastsMs: Math.min(10_000, everyMs / 4) };
}

async function findEmbedded(dataDir: string): Promise<{ connection: PostgresConnection; server: PostgresServer }> {
  const home = join(dataDir, 'postgres');
  const folder = join(home, 'data');
  const found = await findPostmaster(folder);
  if (found === undefined || found === 'empty') throw new Error('the service has no Postgres');
  const password = readFileSync(join(home, 'password'), 'utf8').trim();
  const { host, port, pid } = found;
  const connection = { host, port, user: serviceRole, password, database: serviceRole };
  return { connection, server: { pid, folder } };
}

/** The comparison in the end reads hundreds of thousands of rows. */
const timeouts = { connectMs: 30_000, statementMs: 120_000, transactionMs: 120_000 };

const drainWithinMs = 180_000;
/** Events follow their texts within milliseconds, and a failed call of the webhook after 5 and 30 s. */
const quietMs = 3000;

async function drain(
  database: Database,
  applicationId: string,
  lastReceivedMs: () => number,
  signal: AbortSignal,
): Promise<void> {
  const untilMs = performance.now() + drainWithinMs;
  while (performance.now() < untilMs && !signal.aborted) {
    await pause(500);
    const isDelivered = (await findWaiting(database)).oldestAtMs === null;
    if (!isDelivered || performance.now() - lastReceivedMs() < quietMs) continue;
    if ((await countUnended(database, applicationId)) === 0) return;
  }
}
