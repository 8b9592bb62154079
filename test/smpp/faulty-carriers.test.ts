// What operators see of a carrier that fails: one alert explains it within a minute. The real app and database, the
// virtual SMSC, and a clock that stands still until the test turns it.
import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import type { AlertRecord } from '../../src/portal/operator/alert-api.ts';
import type { CarrierRecord } from '../../src/portal/operator/carrier-record.ts';
import type { NowRecord } from '../../src/portal/operator/now-api.ts';
import type { Outcome } from '../../src/quality/outcome-store.ts';
import type { Behaviour } from '../../src/smsc/faults.ts';
import { type Smsc, startSmsc } from '../../src/smsc/server.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { bearer, getToken } from '../support/applications.ts';
import { type CarrierWorld, createCarrierWorld } from '../support/carrier-world.ts';
import { send } from '../support/developer.ts';
import { eventually } from '../support/eventually.ts';
import type { Page } from '../support/texts.ts';

let app: TestApp;
let world: CarrierWorld;
let token: string;
let smsc: Smsc;
let spare: Smsc | undefined;
let numbers = 0;
before(async () => {
  app = await createTestApp();
  await app.app.alerts.stop();
  world = await createCarrierWorld(app);
  token = await getToken(app, world.sender.client, 'verify:manage');
});
after(() => app.close());
afterEach(async () => {
  await world.disconnect();
  await smsc.close();
  await spare?.close();
  spare = undefined;
  await app.db.database.query(
    'truncate message, delivery_queue, delivery_schedule, carrier_outcome, carrier_minute, total_day, alert cascade',
  );
});

async function connect(behaviour: Partial<Behaviour> = {}): Promise<void> {
  smsc = await startSmsc({ behaviour: { receipt_after_ms: 0, ...behaviour } });
  await world.connect(smsc.port, { on_doubt: 'resend', on_doubt_seconds: 3600 });
}

async function verify(): Promise<string> {
  const body = { to: `+4477009${String(20_000 + numbers++)}`, channel: 'sms' };
  const answer = await send<{ id: string }>(app, 'POST', '/verify/v1/verifications', { body, headers: bearer(token) });
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
  return answer.body.id;
}

async function read<Body extends object>(path: string): Promise<Body> {
  const { status, body } = await world.operator.send<Body>('GET', `/portal/v1/operator/${path}`);
  assert.equal(status, 200, JSON.stringify(body));
  return body;
}

/** What an operator reads: the top of the page Now, and of the list of alerts. */
async function readTop() {
  const { alerts: present } = await read<NowRecord>('now');
  const { data: raised } = await read<Page<AlertRecord>>('alerts');
  return { present: present[0], raised: raised[0] };
}

/** Nodes write counts, and check for alerts, every 5 s, and the page asks every 5 s: a minute less these. */
const withinMs = 45_000;

/** Lets time pass in steps, each of them once the carrier's answers until then are counted, until such an alert is raised. */
async function untilAlert(kind: string, areCounted: (passedMs: number) => Promise<boolean>): Promise<AlertRecord> {
  for (let passedMs = 0; passedMs <= withinMs; passedMs += stepMs) {
    await eventually('the answers to be counted', () => areCounted(passedMs));
    await eventually('the workers to have reported', async () => (await carrierStates()).every(isReported));
    await app.app.alerts.poll();
    const { present, raised } = await readTop();
    if (raised?.kind === kind) {
      assert.deepEqual(present, raised, 'the page Now begins with it');
      return raised;
    }
    app.clock.advance(stepMs);
  }
  assert.fail(`after ${withinMs} ms: ${JSON.stringify(await readTop())}`);
}

const stepMs = 5000;
const carrierStates = async () => (await read<Page<CarrierRecord>>('carriers')).data;
const isReported = ({ state }: CarrierRecord) => state !== 'not_running';

/** Of all answers and reports of the carrier. */
async function count(outcome: Outcome): Promise<number> {
  await app.delivery.totals.flush();
  const { rows } = await app.db.database.query<{ total: number }>(
    `select coalesce(sum(total), 0)::integer as total from carrier_outcome where outcome = $1 and carrier like 'practice#%'`,
    [outcome],
  );
  return rows[0]?.total ?? 0;
}

/** Texts that practice takes and delivers, so that few bad ones are a small share. */
async function sendGood(): Promise<void> {
  const messages = Array.from({ length: 60 }, () => ({
    to: `+4477008${String(20_000 + numbers++)}`,
    from: 'ACME',
    message: 'Hello',
  }));
  const path = '/messaging/v1/messages/batch';
  assert.equal((await send(app, 'POST', path, { body: { messages }, headers: world.sender.token })).status, 200);
  await world.turnUntil('the texts to be delivered', async () => (await count('delivered')) === 60);
  app.clock.advance(1000);
}

const cases: { name: string; fault: Partial<Behaviour>; kind: string; outcome: Outcome; says: RegExp }[] = [
  {
    name: 'refuses every code',
    fault: { refuse_every: 1 },
    kind: 'refused',
    outcome: 'refused',
    says: /^practice refuses 100 % of 3 submits to GB \(3 codes\): 0x45: submit failed\.$/,
  },
  {
    name: 'throttles every submit',
    fault: { throttle_every: 1 },
    kind: 'throttled',
    outcome: 'throttled',
    says: /^practice throttled 100 % of \d+ submits: 0x58: throttled\.$/,
  },
  {
    name: 'answers nothing',
    fault: { silent_every: 1 },
    kind: 'answers_slow',
    outcome: 'in_doubt',
    says: /^practice is connected and does not answer: (\d+) of \1 submits had no answer\.$/,
  },
  {
    name: 'reports every code as undelivered',
    fault: { receipt_state: 'undelivered' },
    kind: 'undelivered',
    outcome: 'undelivered',
    says: /^practice reports 100 % of 3 texts to GB as not delivered \(3 codes\): /,
  },
];
/** Answers that the carrier has given by then: a silent one at the end of response_seconds, a throttling one at each try. */
function least(outcome: Outcome, passedMs: number): number {
  if (outcome === 'in_doubt') return passedMs > 30_000 ? 3 : 0;
  return outcome === 'throttled' ? Math.min(3, 1 + passedMs / stepMs) : 3;
}

const connects = [
  { when: 'the only carrier', prepare: () => connect() },
  { when: 'a carrier that did well until now, beside another one', prepare: connectBusy },
];

async function connectBusy(): Promise<void> {
  await connect();
  spare = await startSmsc({ behaviour: { receipt_after_ms: 0 } });
  await world.connect(spare.port, {}, { name: 'spare' });
  await sendGood();
}

for (const { when, prepare } of connects)
  describe(`within a minute one alert, and the page Now, explain ${when}`, () => {
    for (const { name, fault, kind, outcome, says } of cases)
      test(`that ${name}`, async () => {
        await prepare();
        smsc.change(fault);
        const before = smsc.texts(1000).length;
        for (let n = 0; n < 3; n++) await verify();
        // A throttled carrier is tried again with texts that only it may take.
        if (outcome === 'throttled') for (let n = 0; n < 3; n++) await world.send();
        if (outcome === 'in_doubt') await eventually('the submits', () => smsc.texts(1000).length === before + 3);
        const alert = await untilAlert(kind, async (passedMs) => (await count(outcome)) >= least(outcome, passedMs));
        assert.deepEqual([alert.carrier, alert.cleared_at], ['practice', null]);
        assert.match(alert.summary, says);
        assert.notEqual(alert.advice, '');
      });

    test('that has stopped, and at once on the page Now', async () => {
      await prepare();
      await smsc.goDown();
      const isDown = async () => (await world.read()).state === 'down';
      await eventually('the carrier to be down', isDown);
      await app.app.alerts.poll();
      const { present, raised } = await readTop();
      assert.deepEqual([present?.kind, present?.raised_at, raised], ['bind_down', null, undefined]);
      const alert = await untilAlert('bind_down', async () => true);
      assert.match(alert.summary, /^practice is down: it has no connection\. /);
      await smsc.comeBack();
    });
  });
