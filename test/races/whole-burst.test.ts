// A plan's whole burst at the same moment, on every operation: what the limits admit is served, and metered as served.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { hexOf } from '../../src/platform/ids.ts';
import { bearer, countStatuses, createRegistered, getToken, type TestApplication } from '../support/applications.ts';
import { sendAtOnce } from '../support/at-once.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { send, signUp, type TestDeveloper } from '../support/developer.ts';
import { inShort } from '../support/effort.ts';
import { tellFigure } from '../support/figures.ts';
import { urlOf } from '../support/node-settings.ts';
import { makeFolder } from '../support/process.ts';
import { buildService, endServices, type Service, startService } from '../support/service.ts';
import { createTwilioAccount } from '../twilio/caller.ts';
import { type BurstAct, type BurstCaller, burstActs } from './burst-acts.ts';

/** The numbers of the plans; in short a smaller Free, and an Enterprise that is not more than twice a Pro. */
const bursts = { free: inShort(20, 60), pro: 200, enterprise: inShort(300, 2000) };
const plans = {
  free: { per_minute: bursts.free, burst: bursts.free },
  pro: { per_minute: 600, burst: 200 },
  enterprise: { per_minute: 3 * bursts.enterprise, burst: bursts.enterprise },
};
type Plan = keyof typeof plans;

/** Ways in which bursts were refused: in short these go on to Pro, and the two that wait the longest to Enterprise. */
const refusedOnce = [
  'listSms: equal ones',
  'listSms: different ones',
  'cancelSms: different messages',
  'putSmsOptOut: different numbers',
  'checkVerification: different verifications, with keys',
  'checkVerification: one verification',
  'startVerification: one number',
  'cancelVerification: different ones',
];
const longest = ['listSms: different ones', 'startVerification: one number'];

/** Free has every operation in one way. */
function isInShort(act: BurstAct, plan: Plan, name: string): boolean {
  if (plan === 'free') return burstActs.find(({ operationId }) => operationId === act.operationId) === act;
  return (plan === 'pro' ? refusedOnce : longest).includes(name);
}
const answeredWithinMs = inShort(20_000, 4000);

let db: TestDatabase;
let service: Service;
let developer: TestDeveloper;
const dataDir = makeFolder('whole-burst');

interface Case {
  act: BurstAct;
  plan: Plan;
  name: string;
  count: number;
  ids: string[];
  application: TestApplication;
}

/** More than the burst, so that the limits refuse some. */
const countOf = (plan: Plan) => Math.ceil(bursts[plan] * 1.05);

const planned = Object.keys(plans).flatMap((plan) =>
  burstActs
    .map((act) => ({ act, plan: plan as Plan, name: `${act.operationId}: ${act.name}` }))
    .filter(({ act, name }) => inShort(isInShort(act, plan as Plan, name), true)),
);
const cases: Case[] = [];

function startNode(limits: object): Promise<Service> {
  return startService({
    dataDir,
    env: {
      DATABASE_URL: urlOf(db.connection),
      HELIOGRAPH_PLANS: JSON.stringify(limits),
      HELIOGRAPH_ADDRESS_PER_MINUTE: '1000000',
      HELIOGRAPH_ADDRESS_BURST: '1000000',
      LOG_LEVEL: 'error',
    },
  });
}

/** Made while the first node runs, whose address the developer knows; the token is shown once. */
const twilioAccounts = new Map<string, Promise<{ basic: string }>>();

async function twilioOf(application: TestApplication): Promise<{ authorization: string }> {
  const made = twilioAccounts.get(application.id) ?? createTwilioAccount(application);
  twilioAccounts.set(application.id, made);
  return { authorization: (await made).basic };
}

async function callerOf({ application }: Pick<Case, 'application'>): Promise<BurstCaller> {
  const { apiKey, client } = application;
  const [verify, messaging] = await Promise.all([
    getToken(service, client, 'verify:manage'),
    getToken(service, client, 'messaging:send'),
  ]);
  const { authorization } = await twilioOf(application);
  return {
    ...{ url: service.url, sms: { apikey: apiKey }, verify: bearer(verify), messaging: bearer(messaging) },
    ...{ twilio: { authorization }, digits: hexOf(application.id) },
  };
}

/** A lone node forgets its windows: what the requests need is made by a node whose plans have no end. */
async function prepareAll(): Promise<void> {
  const endless = { per_minute: 1_000_000, burst: 1_000_000 };
  service = await startNode({ free: endless, pro: endless, enterprise: endless });
  await service.ready;
  for (const [index, { act, plan, name }] of planned.entries()) {
    if (index % 50 === 0) developer = await signUp(service);
    const application = await createRegistered(service, undefined, plan, developer);
    await twilioOf(application);
    const count = countOf(plan);
    const ids = act.prepare === undefined ? [] : await act.prepare(await callerOf({ application }), count);
    cases.push({ act, plan, name, count, ids, application });
  }
  service.kill('SIGTERM');
  await service.ended;
}

before(async () => {
  await buildService();
  db = await createTestDatabase();
  await prepareAll();
  service = await startNode(plans);
  await service.ready;
});
after(async () => {
  await endServices();
  await db?.drop();
});

async function meteredOf({ application, act }: Case): Promise<{ admitted: number; refused: number }> {
  const { developer: owner, id } = application;
  const { body } = await send<{ data: { api: string; totals: { admitted: number; refused: number } }[] }>(
    service,
    'GET',
    `/portal/v1/applications/${id}/usage`,
    { headers: { cookie: owner.cookie } },
  );
  const { admitted = -1, refused = -1 } = body.data.find(({ api }) => api === act.api)?.totals ?? {};
  return { admitted, refused };
}

describe('a whole burst at once', () => {
  test('the walk knows every operation of the APIs', async () => {
    const { body } = await send<{ paths: Record<string, Record<string, { operationId?: string }>> }>(
      service,
      'GET',
      '/openapi.json',
    );
    const documented = Object.entries(body.paths)
      .filter(([path]) => /^\/(?:sms\/v1|verify\/v1|messaging\/v1|events\/v1|twilio)\//.test(path))
      .flatMap(([, methods]) => Object.values(methods).flatMap(({ operationId }) => operationId ?? []));
    assert.deepEqual([...new Set(burstActs.map(({ operationId }) => operationId))].sort(), documented.sort());
  });

  for (const [index, { plan, name }] of planned.entries()) {
    test(`${plan}, ${name}: nothing but answers of the work and 429`, async () => {
      const each = cases[index] as Case;
      const caller = await callerOf(each);
      const requests = Array.from({ length: each.count }, (_, place) => each.act.request(caller, place, each.ids));
      const before = await meteredOf(each);
      const beganMs = performance.now();
      const statuses = await sendAtOnce(service.url, requests, answeredWithinMs);
      const tookMs = Math.round(performance.now() - beganMs);
      const counted = countStatuses(statuses.map((status) => ({ status })));
      tellFigure(`${plan}, ${name}: ${JSON.stringify(counted)} within ${tookMs} ms`);
      const unserved = statuses.filter((status) => status < 200 || status >= 500);
      assert.deepEqual(unserved, [], JSON.stringify(counted));
      const admitted = statuses.filter((status) => status !== 429).length;
      assert.ok(admitted >= bursts[plan], `${admitted} of a burst of ${bursts[plan]} were admitted`);
      const now = await meteredOf(each);
      assert.deepEqual(
        { admitted: now.admitted - before.admitted, refused: now.refused - before.refused },
        { admitted, refused: statuses.length - admitted },
      );
    });
  }
});
