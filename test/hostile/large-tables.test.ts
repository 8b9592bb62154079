// run: with hostile callers
// Millions of old rows change neither a start nor a request: the same requests on an empty store, in the same run.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { SandboxCredentials } from '../../src/registry/demo-applications.ts';
import { bearer, getToken, sendForm } from '../support/applications.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { send } from '../support/developer.ts';
import { inShort } from '../support/effort.ts';
import { eventually } from '../support/eventually.ts';
import { urlOf } from '../support/node-settings.ts';
import { buildService, endServices, type Service, startService } from '../support/service.ts';
import { type Amounts, busyNumber, fill, firstStart, withoutLimits } from './large-store.ts';
import { assertTimeBound, p99, timed } from './time-bounds.ts';

const amounts: Amounts = inShort(
  { old: 20_000, verificationsOfOneNumber: 5000, lapsed: 5000, applications: 2000, messages: 1000 },
  { old: 3_000_000, verificationsOfOneNumber: 200_000, lapsed: 300_000, applications: 100_000, messages: 1000 },
);
const rounds = inShort(4, 150);

interface Store {
  db: TestDatabase;
  env: Record<string, string>;
  dataDir: string;
  credentials: SandboxCredentials;
  service: Service;
}

const databases: TestDatabase[] = [];
/** In short nothing is timed, so there is no empty store to compare with. */
let stores: { empty: Store | undefined; large: Store };
let firstStartMs: { empty: number; large: number } | undefined;

/** Its service has made the demo applications and is not running. */
async function openStore(amounts: Amounts | undefined): Promise<Omit<Store, 'service'>> {
  const db = await createTestDatabase();
  databases.push(db);
  const env = { ...withoutLimits, DATABASE_URL: urlOf(db.connection) };
  const dataDir = await firstStart(env);
  const credentials = JSON.parse(readFileSync(join(dataDir, 'sandbox-credentials.json'), 'utf8')) as SandboxCredentials;
  const patient = db.another({ poolSize: 1, timeouts: { statementMs: 900_000, transactionMs: 900_000 } });
  if (amounts !== undefined) await fill(patient, credentials, amounts);
  await patient.query('analyze');
  return { db, env, dataDir, credentials };
}

/** Starts its service, again if it runs, and returns how long that took. */
async function startOn(store: Omit<Store, 'service'> & Partial<Store>): Promise<number> {
  store.service?.kill('SIGTERM');
  await store.service?.ended;
  store.service = await startService({ dataDir: store.dataDir, env: store.env });
  return store.service.ready;
}

before(async () => {
  await buildService();
  const [empty, large] = await Promise.all([inShort(undefined, () => openStore(undefined))?.(), openStore(amounts)]);
  firstStartMs = { large: await startOn(large), empty: empty === undefined ? 0 : await startOn(empty) };
  stores = { empty: empty as Store | undefined, large: large as Store };
});
after(async () => {
  await endServices();
  for (const db of databases) await db.drop();
});

function clientOf({ credentials }: Store, plan: 'free' | 'enterprise') {
  const found = credentials.applications.find((each) => each.plan === plan);
  assert.ok(found !== undefined);
  return found;
}

async function verifyToken(store: Store, plan: 'free' | 'enterprise'): Promise<Record<string, string>> {
  return bearer(await getToken(store.service, clientOf(store, plan), 'verify:manage'));
}

let numbers = 0;
const newNumber = () => `+4478${String(++numbers).padStart(8, '0')}`;

/** What is asked of both stores. Each returns its statuses, which must be good ones. */
const requests: Record<string, (store: Store) => Promise<() => Promise<number>>> = {
  'a sign-in': async (store) => {
    const body = store.credentials.portal;
    return async () => (await send(store.service, 'POST', '/portal/v1/sessions', { body })).status - 1;
  },
  'a revocation': async (store) => {
    const { client_id, client_secret } = clientOf(store, 'enterprise');
    return async () => {
      const token = await getToken(store.service, { client_id, client_secret }, 'verify:manage');
      const { status } = await sendForm(store.service, 'revoke', { client_id, client_secret, token });
      const read = await send(store.service, 'GET', '/verify/v1/verifications?limit=1', { headers: bearer(token) });
      assert.equal(read.status, 401, 'the token is dead');
      return status;
    };
  },
  'a start by another caller': async (store) => {
    const headers = await verifyToken(store, 'enterprise');
    const path = '/verify/v1/verifications';
    return async () =>
      (await send(store.service, 'POST', path, { headers, body: { to: newNumber(), channel: 'sms' } })).status;
  },
  'a start for the busy number': async (store) => {
    const headers = await verifyToken(store, 'free');
    const path = '/verify/v1/verifications';
    return async () =>
      (await send(store.service, 'POST', path, { headers, body: { to: busyNumber, channel: 'sms' } })).status;
  },
  'a list by status': async (store) => {
    const headers = await verifyToken(store, 'free');
    let turn = 0;
    return async () => {
      const status = ['pending', 'expired', 'approved', 'canceled'][turn++ % 4];
      return (await send(store.service, 'GET', `/verify/v1/verifications?status=${status}`, { headers })).status;
    };
  },
  'a list of applications': async (store) => {
    const signedIn = await send(store.service, 'POST', '/portal/v1/sessions', { body: store.credentials.portal });
    const headers = { cookie: signedIn.headers.getSetCookie()[0]?.split(';')[0] ?? '' };
    return async () => (await send(store.service, 'GET', '/portal/v1/applications', { headers })).status;
  },
};

const largeService = () => stores.large.service;

describe('large tables', () => {
  test('the service starts as on an empty store', async () => {
    await assertTimeBound('start, large to empty', largeService, async () => {
      const took = firstStartMs ?? {
        large: await startOn(stores.large),
        empty: await startOn(stores.empty ?? assert.fail()),
      };
      firstStartMs = undefined;
      return { value: took.large, most: 1.5 * took.empty };
    });
  });

  for (const [name, prepare] of Object.entries(requests)) {
    test(`${name} takes as long as on an empty store, and is never a 5xx`, async () => {
      const empty = stores.empty && (await prepare(stores.empty));
      const large = await prepare(stores.large);
      await assertTimeBound(`${name}, p99 in ms`, largeService, async () => {
        const times = { empty: [] as number[], large: [] as number[] };
        // In turns, so that whatever else the machine does hits both alike.
        for (let round = 0; round < rounds; round++) {
          if (empty !== undefined) times.empty.push(await timed(async () => assert.equal(await empty(), 200)));
          times.large.push(await timed(async () => assert.equal(await large(), 200)));
        }
        return { value: p99(times.large), most: 1.5 * p99(times.empty) };
      });
    });
  }

  test('what is over is deleted in the background, counted by chore', async () => {
    for (const chore of ['registry-changes', 'old-sign-in-tries', 'token-revocations', 'expire-verifications']) {
      await eventually(`${chore} has done something`, async () => {
        const text = await (await fetch(`${stores.large.service.url}/metrics`)).text();
        return new RegExp(`heliograph_maintenance_rows_total\\{chore="${chore}"\\} [1-9]`).test(text);
      });
    }
    assert.equal((await send(stores.large.service, 'GET', '/readyz')).status, 200);
  });
});
