// Every number of every page of operators, after a run with known faults: refusals, reports of undelivered texts,
// throttling, silence, and codes that another carrier delivered. The real app and database, and the virtual SMSC.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { statusOf } from '../../src/messages/message-row.ts';
import { minuteMs } from '../../src/platform/clock.ts';
import type { AnalyticsRecord } from '../../src/portal/developer/analytics-record.ts';
import type { AlertRecord } from '../../src/portal/operator/alert-api.ts';
import type { OperatedApplication } from '../../src/portal/operator/application-api.ts';
import type { DeliveryGroupRecord, DeliveryRecord } from '../../src/portal/operator/delivery-api.ts';
import type { GuardRulesRecord } from '../../src/portal/operator/guard-rule-api.ts';
import type { HealthRecord } from '../../src/portal/operator/health-api.ts';
import type { NowRecord } from '../../src/portal/operator/now-api.ts';
import type { QueueRecord } from '../../src/portal/operator/queue-api.ts';
import type { RouteEffectRecord } from '../../src/portal/operator/route-api.ts';
import type { TotalsRecord } from '../../src/portal/operator/total-api.ts';
import type { TrafficRecord } from '../../src/portal/operator/traffic-api.ts';
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
let practice: Smsc;
let spare: Smsc;
/** Submits that practice throttled. */
let throttled: number;
/** Requests that the application made, apart from reading its records. */
let requests = 0;
before(async () => {
  app = await createTestApp();
  await app.app.alerts.stop();
  world = await createCarrierWorld(app);
  token = await getToken(app, world.sender.client, 'verify:manage');
  [practice, spare] = await Promise.all([
    startSmsc({ behaviour: { receipt_after_ms: 0 } }),
    startSmsc({ behaviour: { receipt_after_ms: 0 } }),
  ]);
  await runWithFaults();
});
after(async () => {
  await app.close();
  await Promise.all([practice.close(), spare.close()]);
});

async function runWithFaults(): Promise<void> {
  const be = (change: Partial<Behaviour>) =>
    practice.change({ refuse_every: 0, throttle_every: 0, silent_every: 0, receipt_state: 'delivered', ...change });
  const times = async (count: number, act: () => Promise<unknown>) => {
    for (let n = 0; n < count; n++) await act();
  };
  await world.connect(practice.port, { on_doubt: 'resend', on_doubt_seconds: 3600, response_seconds: 10 });
  await times(2, async () => world.untilStatus(await sms(), 'delivered'));
  be({ refuse_every: 1 });
  await times(3, async () => world.untilStatus(await sms(), 'failed'));
  await times(2, verify);
  await eventually('the codes fail', async () => (await ledger()).failed === 5);
  be({ receipt_state: 'undelivered' });
  await times(2, async () => world.untilStatus(await sms(), 'undelivered'));
  be({ throttle_every: 1 });
  const seen = practice.texts(10_000).length;
  await world.untilStatus(await sms({ validity_seconds: 60 }), 'expired');
  throttled = practice.texts(10_000).length - seen;
  be({ silent_every: 1 });
  await sms();
  await world.turnUntil('the doubt', async () => (await world.doubts()) === 1);
  be({ refuse_every: 1 });
  await world.connect(spare.port, {}, { name: 'spare' });
  await times(2, verify);
  await world.turnUntil('spare to deliver the codes', async () => (await ledger()).delivered === 4);
  // Lists leave out texts that were accepted a moment ago.
  app.clock.advance(minuteMs + 1000);
  await app.delivery.totals.flush();
}

async function sms(changes = {}): Promise<string> {
  requests++;
  return world.send(changes);
}

async function verify(): Promise<void> {
  const body = { to: `+44770090${2000 + requests++}`, channel: 'sms' };
  const answer = await send(app, 'POST', '/verify/v1/verifications', { body, headers: bearer(token) });
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
}

/** The texts by status, as their records have it. */
async function ledger(): Promise<Record<string, number>> {
  const { rows } = await app.db.database.query<{ status: number; count: number }>(
    'select status, count(*) as count from message group by status',
  );
  return Object.fromEntries(rows.map(({ status, count }) => [statusOf(status), count]));
}

async function read<Body extends object>(path: string, body?: object): Promise<Body> {
  const answer = await world.operator.send<Body>(body ? 'POST' : 'GET', `/portal/v1/operator/${path}`, body);
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
  return answer.body;
}

/** When the text in doubt was accepted. */
async function findDoubt(): Promise<number> {
  const { rows } = await app.db.database.query<{ atMs: number }>(
    'select created_at as "atMs" from message join delivery_schedule on message_id = id where in_doubt',
  );
  return rows[0]?.atMs ?? assert.fail('no text is in doubt');
}

const ageSeconds = (atMs: number) => Math.floor((app.clock.nowMs() - atMs) / 1000);

/** The numbers of a record that has others too. */
const pick = (record: object | undefined, names: object) =>
  Object.fromEntries(Object.keys(names).map((name) => [name, (record as Record<string, unknown> | undefined)?.[name]]));

/** What became of the texts that ended with practice, and of those of all carriers. */
const ended = { delivered: 2, undelivered: 2, failed: 5, expired: 1 };
const inDoubt = 1;
/** Codes that practice refused, and spare delivered. */
const moved = 2;

test('the ledger', async () => {
  assert.deepEqual(await ledger(), { ...ended, delivered: ended.delivered + moved, queued: inDoubt });
  const submits = 4 + 5 + throttled + inDoubt + moved;
  assert.deepEqual([practice.texts(10_000).length, spare.texts(10_000).length], [submits, moved]);
});

describe('every page counts the same', () => {
  const ofPractice = {
    texts: 4 + 5 + 1 + moved,
    delivered: 2,
    undelivered: 2,
    unreported: 0,
    failed: 5 + 1 + moved,
  };
  const ofSpare = { texts: moved, delivered: moved, undelivered: 0, unreported: 0, failed: 0 };
  const ofAll = { texts: 4 + 5 + 1 + moved, delivered: 2 + moved, undelivered: 2, unreported: 0, failed: 5 + 1 };

  test('Now', async () => {
    const { queue, carriers } = await read<NowRecord>('now');
    const none = { waiting: 0, oldest_seconds: null };
    // A text in doubt waits to be sent again.
    const waits = { codes: none, bulk: { waiting: inDoubt, oldest_seconds: ageSeconds(await findDoubt()) } };
    assert.deepEqual(queue, waits);
    const shown = Object.fromEntries(carriers.map((carrier) => [carrier.name, carrier]));
    assert.deepEqual(new Set(Object.keys(shown)), new Set(['practice', 'spare']));
    for (const [name, figures] of Object.entries({ practice: ofPractice, spare: ofSpare })) {
      assert.deepEqual(pick(shown[name]?.hour, figures), figures, name);
      assert.deepEqual(
        shown[name]?.countries.map((row) => [row.country, pick(row, figures)]),
        [['GB', figures]],
      );
      assert.deepEqual(shown[name]?.queue, name === 'practice' ? waits : { codes: none, bulk: none });
    }
    assert.deepEqual([shown.practice?.unanswered, shown.practice?.put_off], [inDoubt, throttled]);
    assert.deepEqual([shown.spare?.unanswered, shown.spare?.put_off], [0, 0]);
  });

  test('Alerts, and the number in the top bar', async () => {
    await app.app.alerts.poll();
    const { data } = await read<Page<AlertRecord>>('alerts');
    const [refused] = data.filter(({ kind }) => kind === 'refused');
    assert.match(refused?.summary ?? '', /^practice refuses \d+ % of \d+ submits to GB \(\d codes\)/);
    assert.deepEqual(await read('alerts/count'), { open: data.length });
  });

  test('Queue and Deliveries', async () => {
    const { data } = await read<Page<QueueRecord>>('queue');
    const { ages, ...numbers } = data.find(({ carrier }) => carrier === 'practice') ?? assert.fail('no queue');
    assert.deepEqual(numbers, {
      ...{ carrier: 'practice', waiting: inDoubt, retrying: inDoubt, scheduled: 0, sending: 0 },
      ...{ stuck: inDoubt, in_doubt: inDoubt, oldest_seconds: ageSeconds(await findDoubt()) },
    });
    assert.deepEqual(Object.values(ages), [0, 0, inDoubt, 0]);
    assert.equal(data.length, 1);
    for (const [state, count] of [
      ['stuck', inDoubt],
      ['in_doubt', inDoubt],
    ]) {
      const { data: texts } = await read<Page<DeliveryRecord>>(`deliveries?state=${state}`);
      const { data: groups } = await read<Page<DeliveryGroupRecord>>(`deliveries/groups?state=${state}`);
      assert.deepEqual([texts.length, groups.reduce((sum, group) => sum + group.texts, 0)], [count, count]);
    }
  });

  test('Analytics', async () => {
    for (const [by, expected] of [
      ['country', { GB: ofAll }],
      ['carrier', { practice: ofPractice, spare: ofSpare }],
    ] as const) {
      const { all, data } = await read<AnalyticsRecord>(`analytics?span=hour&by=${by}`);
      assert.deepEqual(pick(all.total, ofAll), ofAll);
      assert.deepEqual(Object.fromEntries(data.map(({ name, total }) => [name, pick(total, ofAll)])), expected);
    }
    const { data: senders } = await read<AnalyticsRecord>('analytics?span=hour&by=sender');
    for (const name of Object.keys(ofAll) as (keyof typeof ofAll)[])
      assert.equal(
        senders.reduce((sum, { total }) => sum + total[name], 0),
        ofAll[name],
        name,
      );
  });

  test('Totals, its file, and Carriers, which show those of today', async () => {
    const { data } = await read<TotalsRecord>('totals?by=carrier');
    const none = { throttled: 0, in_doubt: 0, refused: 0, unavailable: 0, undelivered: 0, failed: 0, expired: 0 };
    const codes = { code_attempts: moved, code_sent: moved, code_refused: 0, code_delivered: moved, code_failed: 0 };
    const rows = {
      practice: {
        ...{ attempts: 4 + 5 + throttled + inDoubt + moved, sent: 4, parts: 4, copies: 0 },
        ...{ throttled, in_doubt: inDoubt, refused: 5 + moved, unavailable: 0, ...ended },
        ...{ code_attempts: 2 + moved, code_sent: 0, code_refused: 2 + moved, code_delivered: 0, code_failed: 2 },
      },
      spare: { attempts: moved, sent: moved, parts: moved, copies: 0, ...none, delivered: moved, ...codes },
    };
    const shown = Object.fromEntries(data.map((total) => [total.carrier, pick(total, rows.practice)]));
    assert.deepEqual(shown, rows);
    const { cookie } = world.operator;
    const file = await fetch(`${app.url}/portal/v1/operator/totals.csv?by=carrier`, { headers: { cookie } });
    const [titles = [], ...lines] = (await file.text())
      .trim()
      .split('\r\n')
      .map((line) => line.split(','));
    for (const line of lines) {
      const of = Object.fromEntries(titles.map((title, at) => [title, line[at]]));
      const wanted = rows[of.carrier as keyof typeof rows];
      for (const [name, count] of Object.entries(wanted))
        assert.equal(of[name], String(count), `${of.carrier} ${name}`);
    }
    assert.equal(lines.length, 2);
  });

  test('Traffic', async () => {
    const { data } = await read<TrafficRecord>('traffic');
    const sum = (name: Exclude<keyof (typeof data)[number], 'at'>) => data.reduce((all, step) => all + step[name], 0);
    const rejected = 5 + moved;
    assert.deepEqual(
      [sum('sent'), sum('throttled'), sum('in_doubt'), sum('rejected')],
      [4 + moved, throttled, 1, rejected],
    );
    assert.deepEqual([sum('admitted') >= requests, sum('refused')], [true, 0]);
  });

  test('Applications, Limits, SMS pumping and the effect of routes', async () => {
    const { data } = await read<Page<OperatedApplication>>('applications?limit=100');
    const { admitted, ...texts } = data.find(({ id }) => id === world.sender.id)?.today ?? assert.fail('no numbers');
    assert.deepEqual(texts, { refused: 0, sent: 4 + moved, delivered: 2 + moved, failed: 2 + 5 + 1 });
    const { data: steps } = await read<TrafficRecord>('traffic');
    assert.equal(
      admitted,
      steps.reduce((sum, step) => sum + step.admitted, 0),
    );
    const { data: rules } = await read<GuardRulesRecord>('guard-rules');
    assert.deepEqual(
      rules.filter(({ blocked_30_days: blocked }) => blocked > 0),
      [],
    );
    const uk = { name: 'france', match: { countries: ['FR'] }, carriers: [{ carrier: 'spare' }] };
    const effect = await read<RouteEffectRecord>('routes/effect', { routes: [uk] });
    assert.deepEqual([effect.texts, effect.refused], [ofAll.texts, ofAll.texts]);
  });

  test('Health', async () => {
    // The clock was turned: a carrier is known to run once it has said so again.
    const { queue, carriers } = await eventually('both carriers are up', async () => {
      const found = await read<HealthRecord>('health');
      return found.carriers.every(({ state }) => state === 'up') && found;
    });
    assert.deepEqual([queue.waiting, queue.on_the_wire], [inDoubt, 0]);
    assert.equal(queue.oldest_due_seconds, ageSeconds(await findDoubt()));
    assert.deepEqual(
      new Set(carriers.map(({ name, state }) => `${name} ${state}`)),
      new Set(['practice up', 'spare up']),
    );
  });
});
