import assert from 'node:assert/strict';
import { chmodSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { startHaProxy } from '../../scripts/ha/haproxy.ts';
import { type PatroniCluster, startPatroni } from '../../scripts/ha/patroni.ts';
import { debianPackages, end, findMissing } from '../../scripts/ha/programs.ts';
import { createRegistered, type TestApplication } from './applications.ts';
import { type ChaosLoad, startChaosLoad } from './chaos-load.ts';
import { watchStates } from './event-witness.ts';
import { eventually } from './eventually.ts';
import { type FeedReader, startFeedReader } from './feed-reader.ts';
import { type HaCallers, startHaCallers } from './ha-callers.ts';
import { type HaWitness, startHaWitness } from './ha-witness.ts';
import { createRandom } from './limiter-model.ts';
import { sharedSettings } from './node-settings.ts';
import { freePort, makeFolder } from './process.ts';
import { startRedis } from './redis.ts';
import { endService, type Service, startService } from './service.ts';
import { createWebhookReceiver, type WebhookReceiver } from './webhook-receiver.ts';

/** Two nodes on three Postgres under Patroni, an application that listens, and its callers. */
export interface HaWorld {
  postgres: PatroniCluster;
  nodes: Service[];
  own: TestApplication;
  load: ChaosLoad;
  callers: HaCallers;
  reader: FeedReader;
  receiver: WebhookReceiver;
  witness: HaWitness;
  close(): Promise<void>;
}

const env = {
  ...sharedSettings,
  HELIOGRAPH_PLANS: '{"enterprise":{"per_minute":1000000,"burst":1000000}}',
  HELIOGRAPH_GUARD: '{"per_prefix":1000000,"per_number":1000000}',
  HELIOGRAPH_TOKEN_SECONDS: '86400',
  HELIOGRAPH_RESEND_SECONDS: '1',
};
/** Some thirty requests a second: the drills are about what is true, on a machine of any size. */
const breathMs = 500;

/** Nodes name the three hosts, or the port of HAProxy that leads to the primary. */
export async function startHaWorld(address: 'hosts' | 'haproxy'): Promise<HaWorld> {
  const missing = findMissing();
  assert.deepEqual(missing, [], `install them: apt-get install ${debianPackages.join(' ')}`);
  const endings: (() => Promise<unknown>)[] = [];
  const close = async () => {
    for (const step of endings.splice(0).reverse()) await step().catch(() => {});
  };
  try {
    return { ...(await start(address, endings)), close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** A machine that is busy with other things may answer 503 while everything starts. */
async function patiently<Result>(step: () => Promise<Result>): Promise<Result> {
  for (let tries = 1; ; tries++) {
    try {
      return await step();
    } catch (error) {
      if (tries === 5) throw error;
      await pause(2000);
    }
  }
}

async function start(address: string, endings: (() => Promise<unknown>)[]): Promise<Omit<HaWorld, 'close'>> {
  const folder = makeFolder('ha');
  chmodSync(folder, 0o711);
  const postgres = await startPatroni(folder, freePort);
  endings.push(() => postgres.close());
  const redis = await startRedis();
  endings.push(() => redis.stop());
  const ports = [await freePort(), await freePort()];
  const primaryPort = await freePort();
  if (address === 'haproxy') {
    const addresses = ports.map((port) => ({ url: `http://127.0.0.1:${port}` }));
    const callersPort = await freePort();
    const haproxy = startHaProxy(folder, { postgres, nodes: addresses, primaryPort, callersPort });
    endings.push(() => end(haproxy));
  }
  const url = address === 'haproxy' ? postgres.urlThrough(primaryPort) : postgres.url;
  const nodes: Service[] = [];
  for (const port of ports) {
    const node = await startService({ port, env: { ...env, DATABASE_URL: url, REDIS_URL: redis.url } });
    nodes.push(node);
    endings.push(() => endService(node));
    await node.ready;
  }
  const [first = assert.fail()] = nodes;
  const own = await patiently(() => createRegistered(first, ['sms', 'verify', 'messaging'], 'enterprise'));
  const primary = (await postgres.primary()) ?? assert.fail('there is no primary');
  await postgres.inDatabase(primary, 'heliograph', async (database) => {
    await watchStates(database);
    await database.query('grant all on witness, witness_place_seq to heliograph');
  });
  const witness = await startHaWitness(postgres, primary);
  endings.push(() => witness.stop());
  const receiver = await createWebhookReceiver();
  endings.push(() => receiver.close());
  const made = await own.developer.send('POST', `/portal/v1/applications/${own.id}/webhooks`, { url: receiver.url });
  assert.equal(made.status, 201, JSON.stringify(made.body));
  const reader = await startFeedReader(nodes, { apikey: own.apiKey });
  endings.push(() => reader.stop());
  const load = startChaosLoad({ nodes, own, random: createRandom(7), breathMs });
  endings.push(() => load.stop());
  // A new key ends the older ones of its application.
  const other = await patiently(() => createRegistered(first, ['sms'], 'enterprise', own.developer));
  const callers = startHaCallers({ nodes, own, otherId: other.id, load });
  endings.push(() => callers.stop());
  const isLoaded = () => load.sent.size > 20 && load.approvals.size > 3 && load.revoked > 2;
  await eventually('there is load', isLoaded, { withinMs: 180_000 });
  return { postgres, nodes, own, load, callers, reader, receiver, witness };
}
