// run: with hostile callers
// While one caller does its worst, another's sends and checks see no 503 and are answered in time.
import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { SandboxCredentials } from '../../src/registry/demo-applications.ts';
import { bearer, getToken } from '../support/applications.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { send } from '../support/developer.ts';
import { inShort } from '../support/effort.ts';
import { tellFigure } from '../support/figures.ts';
import { urlOf } from '../support/node-settings.ts';
import { compiledFile } from '../support/process.ts';
import { buildService, endServices, type Service, startService } from '../support/service.ts';
import type { Attack, Statuses } from './attacker.ts';
import { busyNumber, fill, firstStart, withoutLimits } from './large-store.ts';
import { assertTimeBound, p99, timed } from './time-bounds.ts';

const amounts = inShort(
  { old: 1, verificationsOfOneNumber: 5000, lapsed: 1, applications: 2000, messages: 10_000 },
  { old: 1, verificationsOfOneNumber: 200_000, lapsed: 1, applications: 100_000, messages: 600_000 },
);
const lastingMs = inShort(300, 10_000);
const mostMs = 250;

let db: TestDatabase;
let service: Service;
let credentials: SandboxCredentials;
let victim: { apikey: string; verify: Record<string, string> };
let attacker: { apikey: string; verify: Record<string, string>; cookie: string; id: string };
let correlationId: string;

function clientOf(plan: 'free' | 'enterprise') {
  const found = credentials.applications.find((each) => each.plan === plan);
  assert.ok(found !== undefined);
  return found;
}

before(async () => {
  await buildService();
  db = await createTestDatabase();
  const env = { ...withoutLimits, DATABASE_URL: urlOf(db.connection) };
  const dataDir = await firstStart(env);
  credentials = JSON.parse(readFileSync(join(dataDir, 'sandbox-credentials.json'), 'utf8')) as SandboxCredentials;
  const patient = db.another({ poolSize: 1, timeouts: { statementMs: 900_000, transactionMs: 900_000 } });
  await fill(patient, credentials, amounts);
  await patient.query('analyze');
  service = await startService({ dataDir, env });
  await service.ready;
  const [free, enterprise] = [clientOf('free'), clientOf('enterprise')];
  const signedIn = await send(service, 'POST', '/portal/v1/sessions', { body: credentials.portal });
  attacker = {
    apikey: free.api_key,
    verify: bearer(await getToken(service, free, 'verify:manage')),
    cookie: signedIn.headers.getSetCookie()[0]?.split(';')[0] ?? '',
    id: free.application_id,
  };
  victim = { apikey: enterprise.api_key, verify: bearer(await getToken(service, enterprise, 'verify:manage')) };
  const sent = await send(service, 'GET', '/sms/v1/messages?limit=1', { headers: { apikey: attacker.apikey } });
  correlationId = sent.headers.get('x-correlation-id') ?? '';
});
after(async () => {
  await endServices();
  await db?.drop();
});

const attacks: Record<string, () => Omit<Attack, 'url'> & { path: string }> = {
  'inbox streams, and texts for them': () => ({
    path: '/sandbox/v1/inbox/stream',
    headers: { apikey: attacker.apikey },
    connections: inShort(100, 3000),
    stream: true,
  }),
  'connections on /readyz without a credential': () => ({
    path: '/readyz',
    headers: {},
    connections: inShort(100, 2000),
  }),
  'usage over many messages': () => ({
    path: `/portal/v1/applications/${attacker.id}/usage?step=hour`,
    headers: { cookie: attacker.cookie },
    connections: 50,
  }),
  'traces on an account with many applications': () => ({
    path: `/portal/v1/requests/${correlationId}`,
    headers: { cookie: attacker.cookie },
    connections: 50,
  }),
  'guard/explain on a number with many verifications': () => ({
    path: '/verify/v1/guard/explain',
    headers: { ...attacker.verify, 'Content-Type': 'application/json' },
    method: 'POST',
    body: JSON.stringify({ to: busyNumber }),
    connections: 50,
  }),
  'a filtered list that finds nothing': () => ({
    path: `/sms/v1/messages?to=${encodeURIComponent(busyNumber)}&status=failed`,
    headers: { apikey: attacker.apikey },
    connections: 50,
  }),
};

let numbers = 0;

/** One send, one start and one check of the other caller. Returns what was not as it should be. */
async function beServed(): Promise<string[]> {
  const to = `+4478${String(++numbers).padStart(8, '0')}`;
  const text = { to, from: 'ACME', message: 'Hello' };
  const sent = await send(service, 'POST', '/sms/v1/messages', { body: text, headers: { apikey: victim.apikey } });
  const start = { to, channel: 'sms' };
  const path = '/verify/v1/verifications';
  const started = await send(service, 'POST', path, { body: start, headers: victim.verify });
  const checked = await send(service, 'POST', `${path}/${started.body.id}`, {
    body: { code: '000000' },
    headers: victim.verify,
  });
  const seen = [sent.status, started.status, checked.status];
  return seen.join() === '201,200,200' ? [] : [seen.join()];
}

async function underAttack(attack: Attack): Promise<{ times: number[]; failures: string[]; statuses: Statuses }> {
  const attacker = fork(compiledFile('test/hostile/attacker.ts'), [JSON.stringify(attack)], { execArgv: [] });
  assert.deepEqual(await once(attacker, 'message'), ['begun', undefined]);
  const times: number[] = [];
  const failures: string[] = [];
  const untilMs = performance.now() + lastingMs;
  while (performance.now() < untilMs) {
    times.push((await timed(async () => failures.push(...(await beServed())))) / 3);
  }
  const statuses = await new Promise<Statuses>((resolve) => {
    attacker.once('message', (told) => resolve(told as Statuses));
    attacker.send('end');
  });
  return { times, failures, statuses };
}

describe('bulkheads', () => {
  for (const [name, attackOf] of Object.entries(attacks)) {
    test(`${name}: another caller's sends and checks see no 503`, async () => {
      await assertTimeBound(
        `${name}, p99 of another caller in ms`,
        () => service,
        async () => {
          const { path, ...attack } = attackOf();
          const { times, failures, statuses } = await underAttack({ url: service.url + path, ...attack });
          assert.deepEqual(failures, []);
          const unexpected = Object.keys(statuses).filter((status) => Number(status) >= 500 && status !== '503');
          assert.deepEqual(unexpected, [], JSON.stringify(statuses));
          tellFigure(`${name}: ${JSON.stringify(statuses)}`);
          return { value: p99(times), most: mostMs };
        },
      );
    });
  }
});
