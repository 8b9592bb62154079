// Usage is metered against the plan (SPEC.md, Limits): to the request, and whatever happens to the database meanwhile.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { CountedRequest } from '../../src/http/admission.ts';
import { everyRight } from '../../src/http/sending-rights.ts';
import { createMessageRetention } from '../../src/messages/message-retention.ts';
import { statusOf } from '../../src/messages/message-row.ts';
import { createMetering } from '../../src/metering/metering.ts';
import { rollUpUsage } from '../../src/metering/metering-store.ts';
import { minuteMs } from '../../src/platform/clock.ts';
import type { Database } from '../../src/platform/database/database.ts';
import { newId, uuidOf } from '../../src/platform/ids.ts';
import { deleteArrivalsOf } from '../../src/sandbox/handsets.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { createRegistered, getToken, sendMany, type TestApplication } from '../support/applications.ts';
import { asDeveloper, register, send, signUp } from '../support/developer.ts';
import { createTestLog } from '../support/log.ts';
import { createVerifyCaller } from '../support/verify-caller.ts';

interface Counts {
  admitted: number;
  refused: number;
  messages: number;
  segments: number;
  verifications: number;
  approved: number;
}
interface ApiUsage {
  api: string;
  plan: string;
  per_minute: number;
  burst: number;
  remaining: number;
  reset_seconds: number;
  totals: Counts;
  states: Record<string, number>;
  steps: (Counts & { at: string; per_minute: number | null })[];
}
interface UsageBody {
  from: string;
  to: string;
  step: string;
  data: ApiUsage[];
}

let app: TestApp;
before(async () => {
  app = await createTestApp();
});
after(() => app.close());

/** How long minutes are kept before they are added up. */
const eightDaysMs = 8 * 86_400_000;
const usage = ({ developer, id }: Pick<TestApplication, 'developer' | 'id'>, query = '') =>
  developer.send<UsageBody>('GET', `/portal/v1/applications/${id}/usage${query}`);
const of = ({ body }: { body: UsageBody }, api: string): ApiUsage => {
  const found = body.data.find((each) => each.api === api);
  assert.ok(found);
  return found;
};
const nothing: Counts = { admitted: 0, refused: 0, messages: 0, segments: 0, verifications: 0, approved: 0 };

async function sendSms({ apiKey }: TestApplication, message = 'Hello'): Promise<number> {
  const body = { to: '+447700900123', from: 'ACME', message };
  return (await send(app, 'POST', '/sms/v1/messages', { headers: { apikey: apiKey }, body })).status;
}

describe('GET /portal/v1/applications/{id}/usage', () => {
  test('counts admitted and refused to the request, messages and segments from their rows', async () => {
    const acme = await createRegistered(app, ['sms', 'verify'], 'free');
    for (let i = 0; i < 3; i++) assert.equal(await sendSms(acme), 201);
    assert.equal(await sendSms(acme, 'x'.repeat(200)), 201);
    assert.equal(await sendSms(acme, ''), 400);
    const volley = await sendMany(app, 70, { path: '/sms/v1/messages', headers: { apikey: acme.apiKey } });
    const refused = volley.filter(({ status }) => status === 429).length;
    assert.equal(refused, 15);

    const answer = await usage(acme);
    assert.equal(answer.status, 200);
    const sms = of(answer, 'sms');
    assert.deepEqual([sms.plan, sms.per_minute, sms.burst], ['free', 60, 60]);
    assert.deepEqual(sms.totals, { ...nothing, admitted: 60, refused: 15, messages: 4, segments: 5 });
    assert.deepEqual(
      sms.steps.filter(({ admitted }) => admitted > 0).map(({ at, ...counts }) => counts),
      [{ ...sms.totals, per_minute: 60 }],
    );
    assert.equal(
      Object.values(sms.states).reduce((sum, count) => sum + count, 0),
      4,
    );
    assert.deepEqual(of(answer, 'verify').totals, nothing);
  });

  test('says what is left of the plan now, without using any of it up', async () => {
    const acme = await createRegistered(app, ['sms'], 'free');
    await sendSms(acme);
    for (let i = 0; i < 3; i++) {
      const sms = of(await usage(acme), 'sms');
      assert.deepEqual([sms.remaining, sms.reset_seconds], [59, 60]);
    }
    await register(acme.developer, acme.id, 'sms', 'pro');
    const sms = of(await usage(acme), 'sms');
    assert.deepEqual([sms.plan, sms.per_minute, sms.remaining], ['pro', 600, 599]);
    // The limit that applied then stays with the requests of then, also when their minutes are added up.
    app.clock.advance(60_000);
    await sendSms(acme);
    const limits = async () => of(await usage(acme), 'sms').steps.flatMap(({ per_minute }) => per_minute ?? []);
    assert.deepEqual(await limits(), [60, 600]);
  });

  test('verifications, those approved, and their texts; what the guard refused is not metered', async () => {
    const caller = await createVerifyCaller(app);
    const { id, code } = await caller.pending();
    await caller.pending();
    assert.equal((await caller.check(id, code)).body.status, 'approved');
    assert.equal((await caller.start({ to: '+15005550112', channel: 'sms' })).body.status, 'blocked');
    const { rows } = await app.db.database.query<{ applicationId: string }>(
      'select application_id as "applicationId" from oauth_client where id = $1',
      [caller.clientId],
    );
    await app.app.metering.flush();
    const counted = await app.db.database.query<{ admitted: number }>(
      'select sum(admitted) as admitted from usage_minute where application_id = $1',
      [rows[0]?.applicationId],
    );
    assert.ok((counted.rows[0]?.admitted ?? 0) >= 4);
    const developer = await signUp(app);
    await app.db.database.query(
      `update application set account_id =
         (select m.account_id from member m join person p on p.id = m.person_id where p.email = $1)`,
      [developer.email],
    );
    const verify = of(await usage({ developer, id: rows[0]?.applicationId ?? '' }), 'verify');
    const { verifications, approved, messages, segments } = verify.totals;
    assert.deepEqual([verifications, approved, messages, segments], [2, 1, 2, 2]);
    assert.deepEqual(verify.states, { approved: 1, pending: 1, blocked: 1 });
    app.clock.advance(600_000);
    assert.deepEqual(of(await usage({ developer, id: rows[0]?.applicationId ?? '' }), 'verify').states, {
      approved: 1,
      expired: 1,
      blocked: 1,
    });
  });

  test('by minute, hour and day, every step of the span, oldest first', async () => {
    const acme = await createRegistered(app, ['sms'], 'free');
    await sendSms(acme);
    app.clock.advance(2 * minuteMs);
    await sendSms(acme);
    const byMinute = of(await usage(acme), 'sms');
    assert.equal(byMinute.steps.length, 61);
    assert.deepEqual(
      byMinute.steps.slice(-3).map(({ admitted, messages }) => [admitted, messages]),
      [
        [1, 1],
        [0, 0],
        [1, 1],
      ],
    );
    const to = new Date(app.clock.nowMs()).toISOString();
    const from = new Date(app.clock.nowMs() - 86_400_000).toISOString();
    for (const [step, least] of [
      ['hour', 24],
      ['day', 1],
    ] as const) {
      const answer = await usage(acme, `?step=${step}&from=${from}&to=${to}`);
      const { steps, totals } = of(answer, 'sms');
      assert.ok(steps.length >= least && steps.length <= least + 1, `${steps.length} ${step}s`);
      assert.equal(totals.admitted, 2);
      assert.equal(
        steps.reduce((sum, each) => sum + each.admitted, 0),
        2,
      );
      assert.equal(answer.body.from, steps[0]?.at);
    }
  });

  test('usage is equal before and after it is summed up, follows states, and survives a forgotten number', async () => {
    const acme = await createRegistered(app, ['sms'], 'pro');
    const { database } = app.db;
    /** Its session does not outlive the days that pass here. */
    const signedIn = async () => {
      const { email, password } = acme.developer;
      const answer = await send(app, 'POST', '/portal/v1/sessions', { body: { email, password } });
      return asDeveloper(app, email, password, answer);
    };
    const read = async (query: string) => of(await usage({ developer: await signedIn(), id: acme.id }, query), 'sms');
    const counts = ({ totals: { messages, segments } }: ApiUsage) => [messages, segments];
    const sumUp = () => app.delivery.maintenance.runAll();
    const unsummed = async () => {
      const { rows } = await database.query<{ left: number }>(
        `select count(*) as left from message where application_id = $1
         and id > (select done_before from walk where name = 'message_sum-0')`,
        [uuidOf(acme.id)],
      );
      return rows[0]?.left;
    };
    for (let i = 0; i < 3; i++) assert.equal(await sendSms(acme, 'x'.repeat(200)), 201);
    assert.deepEqual(counts(await read('?step=hour')), [3, 6]);
    for (const minutes of [1, 4, 90, 24 * 60]) {
      app.clock.advance(minutes * minuteMs);
      await sumUp();
      assert.equal(await unsummed(), minutes === 1 ? 3 : 0, 'texts are summed up when they are 3 minutes old');
      assert.deepEqual(counts(await read('?step=hour')), [3, 6], `${minutes} minutes later`);
    }
    await sendSms(acme);
    await createMessageRetention({ database, clock: app.clock, days: 30, deleteArrivalsOf }).forget('+447700900123');
    assert.deepEqual(counts(await read('?step=hour')), [4, 7]);

    app.clock.advance(2 * eightDaysMs);
    await sumUp();
    const old = await read(`?step=day&from=${new Date(app.clock.nowMs() - 20 * 86_400_000).toISOString()}`);
    assert.deepEqual(counts(old), [4, 7]);
    const { rows } = await database.query<{ status: number; count: number }>(
      'select status, count(*) as count from message where application_id = $1 group by 1',
      [uuidOf(acme.id)],
    );
    assert.deepEqual(old.states, Object.fromEntries(rows.map(({ status, count }) => [statusOf(status), count])));

    const developer = await signedIn();
    assert.equal((await developer.send('DELETE', `/portal/v1/applications/${acme.id}`)).status, 204);
    assert.equal((await usage({ developer, id: acme.id })).status, 404);
    await sumUp();
  });

  test('400 names what is wrong with the span', async () => {
    const acme = await createRegistered(app, ['sms'], 'free');
    for (const [query, field] of [
      ['?step=week', 'step'],
      ['?from=yesterday', 'from'],
      ['?from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z', 'from'],
      ['?from=2025-01-01T00:00:00Z&to=2026-01-01T00:00:00Z', 'from'],
      ['?from=0001-01-01T00:00:00Z&to=0001-01-01T01:00:00Z', 'to'],
      ['?to=9999-01-01T00:00:00Z', 'to'],
    ]) {
      const { status, body } = await acme.developer.send<{ details: { field: string }[] }>(
        'GET',
        `/portal/v1/applications/${acme.id}/usage${query}`,
      );
      assert.deepEqual([status, body.details[0]?.field], [400, field], query);
    }
  });

  test('404: another account sees nothing', async () => {
    const acme = await createRegistered(app, ['sms'], 'free');
    const other = await signUp(app);
    assert.equal((await usage({ developer: other, id: acme.id })).status, 404);
  });

  test('an API that is counted by address is not metered', async () => {
    const acme = await createRegistered(app, ['sms', 'verify'], 'free');
    const token = await getToken(app, acme.client, 'verify:manage');
    await send(app, 'GET', '/sandbox/v1/inbox', { headers: { Authorization: `Bearer ${token}` } });
    assert.deepEqual(of(await usage(acme), 'verify').totals, nothing);
  });
});

describe('counting', () => {
  const answered = (registrationId: string, admitted: boolean): CountedRequest => ({
    caller: {
      kind: 'application',
      applicationId: 'app_of_the_counts',
      applicationName: 'ACME',
      registrationId,
      windowKey: 'app_of_the_counts:sms',
      api: 'sms',
      highPriority: false,
      rights: everyRight,
    },
    correlationId: newId('req', app.clock),
    decision: {
      admitted,
      limits: { perMinute: 60, burst: 60 },
      remaining: 0,
      resetMs: 60_000,
      nextFreeMs: 0,
      retryAfterMs: 0,
      refusedBy: undefined,
      chargedAtMs: undefined,
    },
    method: 'POST',
    path: '/sms/v1/messages',
    status: admitted ? 201 : 429,
    isUnserved: false,
    refusal: undefined,
    outcome: undefined,
    durationMs: 1,
    id: undefined,
    location: undefined,
  });
  const written = async (registrationId: string) =>
    (
      await app.db.database.query<{ admitted: number; refused: number }>(
        'select sum(admitted) as admitted, sum(refused) as refused from usage_minute where registration_id = $1',
        [registrationId],
      )
    ).rows[0];

  /** A database whose answers get lost: the statement runs, and its answer never arrives. */
  function losing(database: Database, lost: () => boolean): Database {
    return {
      ...database,
      async query(statement, values) {
        const result = await database.query(statement, values);
        if (lost()) throw new Error('the answer was lost');
        return result as never;
      },
    };
  }

  test('a lost answer never counts twice, over minutes and several nodes', async () => {
    let lost = false;
    const { log } = createTestLog();
    const database = losing(app.db.database, () => lost);
    const nodes = [1, 2].map(() => createMetering({ database, clock: app.clock, log }));
    let admitted = 0;
    let refused = 0;
    for (let round = 0; round < 40; round++) {
      for (const node of nodes) {
        for (let i = 0; i < round; i++) {
          node.note(answered('reg_lost', i % 3 !== 0));
          if (i % 3 === 0) refused++;
          else admitted++;
        }
        lost = round % 2 === 0 && round < 38;
        await node.flush().catch(() => {});
      }
      if (round % 5 === 0) app.clock.advance(minuteMs);
    }
    lost = false;
    for (const node of nodes) await node.stop();
    assert.deepEqual(await written('reg_lost'), { admitted, refused });
  });

  test('counts that come in while others are written are not lost', async () => {
    const { log } = createTestLog();
    const node = createMetering({ database: app.db.database, clock: app.clock, log });
    const flushes: Promise<void>[] = [];
    for (let i = 0; i < 1000; i++) {
      node.note(answered('reg_busy', true));
      if (i % 50 === 0) flushes.push(node.flush());
      if (i % 100 === 0) await new Promise((done) => setImmediate(done));
    }
    await Promise.all(flushes);
    await node.stop();
    assert.deepEqual(await written('reg_busy'), { admitted: 1000, refused: 0 });
  });

  test('a clock that goes back counts nothing twice and loses nothing', async () => {
    const { log } = createTestLog();
    // Near the app's own time: the upkeep puts minutes together that are older than eight days.
    let nowMs = app.clock.nowMs() - (app.clock.nowMs() % minuteMs) + 30_000;
    const clock = { ...app.clock, nowMs: () => nowMs };
    const node = createMetering({ database: app.db.database, clock, log });
    for (const step of [0, minuteMs, -minuteMs, 1000, -2 * minuteMs, 4 * minuteMs]) {
      nowMs += step;
      for (let i = 0; i < 10; i++) node.note(answered('reg_clock', true));
      // A quiet minute in which what was counted is written and let go of, and then the clock is set back.
      nowMs += minuteMs;
      await node.flush();
      nowMs -= minuteMs;
    }
    await node.stop();
    assert.deepEqual(await written('reg_clock'), { admitted: 60, refused: 0 });
  });

  test('old minutes are put together by the hour, and the sum stays', async () => {
    const before = await written('reg_lost');
    await Promise.all([1, 2].map(() => rollUpUsage(app.db.database, app.clock.nowMs() + eightDaysMs + minuteMs)));
    await rollUpUsage(app.db.database, app.clock.nowMs() + eightDaysMs + minuteMs);
    assert.deepEqual(await written('reg_lost'), before);
    const { rows } = await app.db.database.query<{ boot: string }>(
      'select distinct boot from usage_minute where registration_id = $1',
      ['reg_lost'],
    );
    assert.deepEqual(rows, [{ boot: '' }]);
  });
});
