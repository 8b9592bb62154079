// Alerts for operators (section 13 of the contract): each is fired here, reported once, and once more when it is over.
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { type BindState, writeBinds } from '../../src/delivery/carrier/bind-store.ts';
import { carrierAccount, carrierKey, findCarrier } from '../../src/delivery/carrier/store.ts';
import { dayMs, minuteMs, toTimestamp } from '../../src/platform/clock.ts';
import { rotateKeyRing } from '../../src/platform/crypto/open-key-ring.ts';
import { uuidOf } from '../../src/platform/ids.ts';
import type { AlertRecord } from '../../src/portal/operator/alert-api.ts';
import { alertKinds } from '../../src/quality/alerts/alert.ts';
import { alertSecret } from '../../src/quality/alerts/body.ts';
import { answerBounds } from '../../src/quality/answer-times.ts';
import { dayOf } from '../../src/quality/total-store.ts';
import { type AlertReceiver, createAlertReceiver } from '../support/alert-receiver.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { createCertificate } from '../support/certificates.ts';
import { signUp, type TestDeveloper } from '../support/developer.ts';
import { createOperator } from '../support/operator.ts';
import { acceptMessages, testApplicationId } from '../support/recording-carrier.ts';
import type { Page, Refusal } from '../support/texts.ts';

let app: TestApp;
let operator: TestDeveloper;
let receiver: AlertReceiver;
before(async () => {
  receiver = await createAlertReceiver();
  app = await createTestApp({ delivery: 'held', env: { HELIOGRAPH_ALERT_URL: receiver.url } });
  // The test looks itself, when it has turned the clock.
  await app.app.alerts.stop();
  receiver.knowSecret(alertSecret(app.keys));
  operator = await createOperator(app);
});
after(async () => {
  await app.close();
  await receiver.close();
});
beforeEach(async () => {
  receiver.received.length = 0;
  receiver.answerWith(200);
  await app.db.database.query(
    `truncate carrier, carrier_bind, carrier_log, carrier_test, message, delivery_queue, delivery_schedule, delivery_claim,
       unmatched_receipt, carrier_minute, carrier_outcome, total_day, spend_day, alert, alert_call`,
  );
});

const path = '/portal/v1/operator/alerts';
async function list(query = ''): Promise<AlertRecord[]> {
  const { status, body } = await operator.send<Page<AlertRecord>>('GET', `${path}${query}`);
  assert.equal(status, 200, JSON.stringify(body));
  return body.data;
}

/** Time passes, and a node looks now and then. What `renew` writes is written again before each look. */
async function watch(ms: number, renew: () => Promise<unknown> = async () => {}, everyMs = 20_000): Promise<void> {
  for (let passedMs = 0; passedMs < ms; passedMs += everyMs) {
    app.clock.advance(Math.min(everyMs, ms - passedMs));
    await renew();
    assert.ok(await app.app.alerts.poll(), 'no other node holds the lock');
  }
}

async function connect(name = 'acme', settings: Record<string, unknown> = {}): Promise<{ id: number; key: string }> {
  const all = { host: '127.0.0.1', port: 2775, system_id: 'me', password: 'secret', ...settings };
  const { status, body } = await operator.send('POST', '/portal/v1/operator/carriers', {
    name,
    kind: 'smpp',
    settings: all,
  });
  assert.equal(status, 201, JSON.stringify(body));
  const row = (await findCarrier(app.db.database, name)) ?? assert.fail('the carrier is there');
  return { id: row.id, key: carrierKey(row) };
}

/** The connection as its worker writes it. */
const state = (carrierId: number, ...given: Partial<BindState>[]) => {
  const bind = { slot: 0, state: 'bound', mode: 'transceiver', host: null, error: null, nextTryAtMs: null } as const;
  const all = given.length === 0 ? [{}] : given;
  const binds = all.map((each) => ({ ...bind, sinceMs: app.clock.nowMs(), ...each }));
  return writeBinds(app.db.database, { carrierId, node: 'nod_a', binds }, app.clock.nowMs());
};

interface Minute {
  agoMs?: number;
  country?: string;
  attempts?: number;
  sent?: number;
  reported?: number;
  tookMs?: number;
}
function writeMinute(carrier: string, { agoMs = 0, country = 'GB', tookMs = 20, ...counts }: Minute) {
  const { attempts = 0, sent = 0, reported = 0 } = counts;
  const bucket = answerBounds.findIndex((bound) => tookMs <= bound);
  const took = [...answerBounds, 0].map((_, place) =>
    place === (bucket < 0 ? answerBounds.length : bucket) ? attempts : 0,
  );
  const minute = app.clock.nowMs() - agoMs;
  return app.db.database.query(
    `insert into carrier_minute (minute, carrier, country, node, revision, attempts, sent, reported, took)
     values (date_bin('1 minute', $1, '2000-01-01Z'), $2, $3, 'a', 1, $4, $5, $6, $7)
     on conflict (minute, carrier, country, node) do update set attempts = excluded.attempts`,
    [toTimestamp(minute), carrier, country, attempts, sent, reported, took],
  );
}

interface WrittenOutcome {
  country?: string;
  codes?: number;
  words?: string;
}
function writeOutcome(
  carrier: string,
  outcome: string,
  total: number,
  { country = 'GB', codes = 0, words = '' }: WrittenOutcome = {},
) {
  return app.db.database.query(
    `insert into carrier_outcome (minute, carrier, country, outcome, words, node, revision, total, codes)
     values (date_bin('1 minute', $1, '2000-01-01Z'), $2, $3, $4, $5, 'a', 1, $6, $7) on conflict do nothing`,
    [toTimestamp(app.clock.nowMs()), carrier, country, outcome, words, total, codes],
  );
}
const forgetOutcomes = () => app.db.database.query('truncate carrier_outcome');

const kindsOf = (alerts: AlertRecord[]) => alerts.map(({ kind }) => kind);

/** Fired: raised with these facts, posted once with a right signature, and posted once more when the facts are gone. */
async function fires(
  kind: string,
  {
    facts,
    after: lastsMs,
    gone,
    shows,
  }: { facts: () => Promise<unknown>; after: number; gone: () => Promise<unknown>; shows: RegExp },
): Promise<AlertRecord> {
  await facts();
  await watch(lastsMs, facts);
  const before = (await list()).filter((alert) => alert.kind === kind);
  if (lastsMs > 0) assert.deepEqual(before, [], `${kind} has not lasted long enough`);
  await watch(40_000, facts);
  const [alert, ...more] = (await list()).filter((each) => each.kind === kind);
  assert.ok(alert, `${kind} should be raised; there are: ${kindsOf(await list()).join(', ')}`);
  assert.deepEqual(more, []);
  assert.match(alert.summary, shows);
  await gone();
  await watch(40_000, gone);
  assert.ok(!kindsOf(await list()).includes(kind as AlertRecord['kind']), `${kind} is over`);
  assert.ok(
    (await list('?state=cleared')).some(({ id, cleared_at }) => id === alert.id && cleared_at !== null),
    'it is kept',
  );
  const told = receiver.received.filter(({ data }) => data.id === alert.id);
  assert.deepEqual(
    told.map(({ type, id, verified }) => ({ type, id, verified })),
    [
      { type: 'alert.raised', id: `${alert.id}-raised`, verified: true },
      { type: 'alert.cleared', id: `${alert.id}-cleared`, verified: true },
    ],
  );
  assert.equal(told[0]?.data.kind, kind);
  fired.add(kind);
  return alert;
}
const fired = new Set<string>();

describe('each alert', () => {
  test('bind down: no connection for 45 s, one of several for 60 s', async () => {
    const { id } = await connect();
    const alert = await fires('bind_down', {
      facts: () => state(id, { state: 'waiting', error: 'Connection refused.' }),
      after: 40_000,
      gone: () => state(id),
      shows: /^acme is down: it has no connection\. Connection refused\.$/,
    });
    assert.deepEqual([alert.carrier, alert.country, alert.application_id], ['acme', null, null]);
    await fires('bind_down', {
      facts: () => state(id, {}, { slot: 1, state: 'waiting', error: 'Connection refused.' }),
      after: 50_000,
      gone: () => state(id),
      shows: /^Connection 1 of acme on nod_a is waiting\. Connection refused\.$/,
    });
  });

  test('no worker runs a carrier for 60 s', async () => {
    const { id } = await connect();
    await fires('bind_down', {
      facts: async () => {},
      after: 50_000,
      gone: () => state(id),
      shows: /^acme is down: no worker runs it\.$/,
    });
  });

  test('an account that the carrier refuses raises an alert', async () => {
    const { id } = await connect();
    await fires('account_refused', {
      facts: () => state(id, { state: 'waiting', refused: true, error: 'The password is wrong.' }),
      after: 0,
      gone: () => state(id),
      shows: /^acme refuses the account\. The password is wrong\.$/,
    });
  });

  test('oldest queued code over 10 s; a text that was scheduled long ago is no old code', async () => {
    const { database } = app.db;
    const { key, id } = await connect();
    const code = { api: 'verify', lane: 'first' } as const;
    await acceptMessages({ database, clock: app.clock, carrier: key }, 1, code);
    await database.query('update message set send_at = $1', [toTimestamp(app.clock.nowMs() + minuteMs)]);
    await watch(minuteMs, () => state(id));
    assert.deepEqual(kindsOf(await list()), []);
    await fires('codes_waiting', {
      facts: () => state(id),
      after: 0,
      gone: async () => {
        await state(id);
        await database.query('delete from delivery_queue');
      },
      shows: /has waited 40 s for acme/,
    });
  });

  test('age of the bulk queue; texts that came outside the hours of their route wait from when these began', async () => {
    const { database } = app.db;
    const { key, id } = await connect();
    await acceptMessages({ database, clock: app.clock, carrier: key }, 2);
    app.clock.advance(20 * minuteMs);
    await database.query('update message set deferred_until = $1', [toTimestamp(app.clock.nowMs())]);
    await watch(2 * minuteMs, () => state(id));
    assert.deepEqual(kindsOf(await list()), []);
    app.clock.advance(13 * minuteMs);
    await fires('bulk_waiting', {
      facts: () => state(id),
      after: 50_000,
      gone: async () => {
        await state(id);
        await database.query('delete from delivery_queue');
      },
      shows: /has waited 17 minutes for acme/,
    });
  });

  test('a slow p95 of submits raises an alert', async () => {
    const { key, id } = await connect();
    await fires('answers_slow', {
      facts: async () => {
        await state(id);
        await writeMinute(key, { country: 'GB', attempts: 94 });
        await writeMinute(key, { country: 'DE', attempts: 6, tookMs: 7000 });
      },
      after: 50_000,
      gone: async () => {
        await state(id);
        await app.db.database.query('truncate carrier_minute');
      },
      shows: /^acme takes more than 5 s to answer 1 submit in 20/,
    });
  });

  test('a high share of throttled submits raises an alert; of a carrier that has backed off, a few suffice', async () => {
    const { key, id } = await connect();
    const seen = (throttled: number, accepted: number, shows: RegExp) =>
      fires('throttled', {
        facts: async () => {
          await state(id);
          await writeOutcome(key, 'accepted', accepted);
          await writeOutcome(key, 'throttled', throttled, { words: '0x58: throttled' });
        },
        after: 20_000,
        gone: async () => {
          await state(id);
          await forgetOutcomes();
        },
        shows,
      });
    await seen(11, 89, /^acme throttled 11 % of \d+ submits: 0x58: throttled\.$/);
    await forgetOutcomes();
    await seen(3, 0, /^acme throttled 100 % of \d+ submits/);
  });

  test('refused: 3 of 3 codes to a country are enough, with the words of the carrier and what to do', async () => {
    const { key, id } = await connect();
    const alert = await fires('refused', {
      facts: async () => {
        await state(id);
        await writeOutcome(key, 'refused', 3, { codes: 3, words: '0x45: submit failed' });
        await writeOutcome(key, 'accepted', 9, { country: 'DE', codes: 9 });
      },
      after: 0,
      gone: async () => {
        await state(id);
        await forgetOutcomes();
      },
      shows: /^acme refuses 100 % of \d+ submits to GB \(\d+ codes\): 0x45: submit failed\.$/,
    });
    assert.deepEqual([alert.carrier, alert.country], ['acme', 'GB']);
    assert.match(alert.advice, /^Route the country to another carrier, or pause acme\./);
  });

  test('undelivered: by carrier and country, and as one alert if every country is so', async () => {
    const { key, id } = await connect();
    const alert = await fires('undelivered', {
      facts: async () => {
        await state(id);
        for (const country of ['GB', 'DE'])
          await writeOutcome(key, 'undelivered', 3, { country, codes: 3, words: 'stat:UNDELIV err:069' });
      },
      after: 0,
      gone: async () => {
        await state(id);
        await forgetOutcomes();
      },
      shows: /^acme reports 100 % of \d+ texts as not delivered \(\d+ codes\): stat:UNDELIV err:069\.$/,
    });
    assert.deepEqual([alert.carrier, alert.country], ['acme', null]);
  });

  test('a carrier that takes submits and answers none raises an alert after three', async () => {
    const { key, id } = await connect();
    await fires('answers_slow', {
      facts: async () => {
        await state(id);
        await writeOutcome(key, 'in_doubt', 3, { codes: 3 });
      },
      after: 0,
      gone: async () => {
        await state(id);
        await forgetOutcomes();
      },
      shows: /^acme is connected and does not answer: \d+ of \d+ submits had no answer\.$/,
    });
  });

  test('causes come before symptoms in the list and in the calls, and a symptom names its cause', async () => {
    const { database } = app.db;
    const { key, id } = await connect();
    await acceptMessages({ database, clock: app.clock, carrier: key }, 1, { api: 'verify', lane: 'first' });
    await watch(20_000, () => state(id, { state: 'waiting', error: 'Connection refused.' }));
    assert.deepEqual(kindsOf(await list()), ['bind_down', 'codes_waiting']);
    assert.deepEqual(
      receiver.received.map(({ data }) => data.kind),
      ['bind_down', 'codes_waiting'],
    );
    const [down, waiting] = await list();
    assert.match(
      waiting?.summary ?? '',
      /^An urgent text has waited 20 s for acme\. acme is down: it has no connection\./,
    );
    const page = async (cursor = '') =>
      (await operator.send<Page<AlertRecord>>('GET', `${path}?limit=1${cursor && `&cursor=${cursor}`}`)).body;
    const { data, next_cursor } = await page();
    assert.deepEqual(data, [down]);
    assert.deepEqual(kindsOf((await page(next_cursor ?? '')).data), ['codes_waiting']);
  });

  test('share without receipts, by carrier and country; not of a carrier that gives none', async () => {
    const { key, id } = await connect();
    const silent = await connect('silent', { receipts: 'none' });
    const alert = await fires('receipts_missing', {
      facts: async () => {
        await state(id);
        await state(silent.id);
        await app.db.database.query('truncate carrier_minute');
        await writeMinute(key, { agoMs: 45 * minuteMs, country: 'DE', sent: 100, reported: 60 });
        await writeMinute(key, { agoMs: 45 * minuteMs, country: 'GB', sent: 100, reported: 90 });
        await writeMinute(silent.key, { agoMs: 45 * minuteMs, sent: 100 });
      },
      after: 280_000,
      gone: async () => {
        await state(id);
        await app.db.database.query('truncate carrier_minute');
      },
      shows: /^acme has not reported on 40 % of 100 texts to DE/,
    });
    assert.deepEqual([alert.carrier, alert.country], ['acme', 'DE']);
  });

  test('many unmatched receipts raise an alert', async () => {
    const { key, id } = await connect();
    const account = carrierAccount({ id, generation: 1 });
    await fires('receipts_unmatched', {
      facts: async () => {
        await state(id);
        await app.db.database.query(
          `insert into unmatched_receipt (carrier, account, carrier_message_id, keys, outcome, received_at, retry_at)
           select $1, $2, n::text, '{}', 3, $3, $3 from generate_series(1, 20) n on conflict do nothing`,
          [key, account, toTimestamp(app.clock.nowMs() - 2 * minuteMs)],
        );
      },
      after: 0,
      gone: async () => {
        await state(id);
        await app.db.database.query('truncate unmatched_receipt');
      },
      shows: /^20 receipts of acme match no text/,
    });
  });

  test('a drop of the conversion raises an alert', async () => {
    const write = (daysAgo: number, country: string, codes: number, approved: number) =>
      app.db.database.query(
        `insert into total_day (day, carrier, country, sender, application_id, node, revision, codes, approved)
         values ($1, 'acme#1', $2, 'ACME', $3, '', 0, $4, $5) on conflict do nothing`,
        [dayOf(app.clock.nowMs() - daysAgo * dayMs), country, uuidOf(testApplicationId), codes, approved],
      );
    const alert = await fires('conversion_drop', {
      facts: async () => {
        await write(5, 'GB', 1000, 800);
        await write(0, 'GB', 300, 180);
        // As good as before, and too few to judge.
        await write(5, 'DE', 1000, 800);
        await write(0, 'DE', 300, 235);
        await write(5, 'FR', 1000, 800);
        await write(0, 'FR', 150, 10);
      },
      after: 0,
      gone: () => app.db.database.query('truncate total_day'),
      shows: /^60 % of 300 codes to GB by acme were entered, down from 80 %\.$/,
    });
    assert.deepEqual([alert.carrier, alert.country], ['acme', 'GB']);
  });

  test('spend at 50, 80 and 100 %', async () => {
    const write = (segments: number, alerted: number) =>
      app.db.database.query(
        `insert into spend_day (application_id, day, segments, most, alerted) values ($1, $2, $3, 1000, $4)
         on conflict (application_id, day) do update set segments = $3, alerted = $4`,
        [uuidOf(testApplicationId), dayOf(app.clock.nowMs()), segments, alerted],
      );
    const alert = await fires('spend', {
      facts: () => write(510, 50),
      after: 0,
      gone: () => app.db.database.query('truncate spend_day'),
      shows: /has used 50 % of its 1000 segments of today \(510\)/,
    });
    assert.equal(alert.application_id, testApplicationId);
    await write(1000, 100);
    await watch(5000);
    const levels = (await list()).map(({ summary }) => /(\d+ %|refused)/.exec(summary)?.[0]);
    assert.deepEqual(new Set(levels), new Set(['50 %', '80 %', 'refused']));
  });

  test('suspected pumping, as long as something is held back', async () => {
    const { database } = app.db;
    const began = toTimestamp(app.clock.nowMs());
    const until = toTimestamp(app.clock.nowMs() + 6 * 60 * minuteMs);
    const alert = await fires('suspected_pumping', {
      facts: () =>
        database.query(
          `insert into guard_hold (id, application_id, scope, country, acts, numbers, approved, least_share, began_at, until)
           values ('hld_1', $1, '+44740012****', 'GB', true, 40, 1, 0.25, $2, $3) on conflict do nothing`,
          [testApplicationId, began, until],
        ),
      after: 0,
      gone: () => database.query('delete from guard_hold'),
      shows: /^Of 40 numbers that begin with \+44740012 \(GB\) .*, 1 entered it\. Verifications are held back until/,
    });
    assert.deepEqual([alert.carrier, alert.country, alert.application_id], [null, 'GB', testApplicationId]);
  });

  test('certificate expiry: in the settings, and as the carrier shows it', async () => {
    const soon = new Date(app.clock.nowMs() + 10 * dayMs);
    const ca = createCertificate({ name: 'CA', isCa: true, notAfter: new Date(app.clock.nowMs() + 100 * dayMs) });
    const { cert, key } = createCertificate({ name: 'client', issuer: ca, notAfter: soon });
    const { id } = await connect('acme', { tls: { ca: ca.cert, cert, key } });
    await fires('certificate_expiry', {
      facts: () => state(id),
      after: 0,
      gone: async () => {
        await app.db.database.query(`update carrier set settings = settings || '{"tls": false}'`);
        await state(id);
      },
      shows: /^Our certificate of acme ends at 20/,
    });
    await watch(5000, () => state(id, { certificateEndsAtMs: app.clock.nowMs() - 1 }));
    assert.match((await list())[0]?.summary ?? '', /^The carrier’s certificate of acme ended at 20/);
  });

  test('every alert of the contract was fired above', () => {
    assert.deepEqual([...fired].toSorted(), [...alertKinds].toSorted());
  });
});

describe('telling', () => {
  const refuse = async () => {
    const { id } = await connect();
    await state(id, { refused: true, error: 'Wrong.' });
    await app.app.alerts.poll();
    return id;
  };

  test('until the receiver answers 2xx, with growing pauses, the same id, and never twice after that', async () => {
    receiver.answerWith(500);
    const id = await refuse();
    const stillSo = () => state(id, { refused: true });
    assert.equal(receiver.received.length, 1);
    receiver.answerWith('nothing');
    await watch(60_000, stillSo, 5000);
    const tried = receiver.received.length;
    assert.ok(tried >= 3 && tried <= 6, `${tried} tries in a minute`);
    assert.equal((await list())[0]?.told_at, null);
    // A redirect is no answer, and is not followed.
    receiver.answerWith(302);
    await watch(60_000, stillSo);
    receiver.answerWith(204);
    await watch(5 * minuteMs, stillSo);
    const total = receiver.received.length;
    await watch(5 * minuteMs, stillSo);
    assert.equal(receiver.received.length, total);
    assert.equal(new Set(receiver.received.map((each) => each.id)).size, 1);
    assert.notEqual((await list())[0]?.told_at, null);
  });

  test('the end of an alert is sent after the alert, however long that takes', async () => {
    receiver.answerWith(503);
    const id = await refuse();
    await watch(60_000, () => state(id));
    receiver.answerWith(200);
    await watch(5 * minuteMs, () => state(id));
    const types = receiver.received.map(({ type }) => type);
    assert.deepEqual(types.slice(-2), ['alert.raised', 'alert.cleared']);
    assert.equal(types.filter((type) => type === 'alert.cleared').length, 1);
  });

  test('the secret of before a rotation still verifies; no secret is logged, and not the URL', async () => {
    const before = alertSecret(app.keys);
    await rotateKeyRing({ database: app.db.database, clock: app.clock, secret: app.config.secret ?? '' });
    app.clock.advance(2 * minuteMs);
    await refuse();
    assert.deepEqual(
      receiver.received.map(({ verified }) => verified),
      [true],
    );
    const logged = app.logLines.join('\n');
    assert.ok(!logged.includes(before.slice(6)) && !logged.includes('a-secret-of-the-operator'), 'no secret is logged');
  });

  test('a condition that comes and goes within its time raises no alert', async () => {
    const { id } = await connect();
    for (let times = 0; times < 5; times++) {
      await watch(30_000, () => state(id, { state: 'waiting' }));
      await watch(10_000, () => state(id));
    }
    assert.deepEqual(await list(), []);
    assert.deepEqual(receiver.received, []);
  });
});

test('two nodes that check at the same time raise an alert once', async () => {
  const other = await createTestApp({
    delivery: 'held',
    db: app.db,
    clock: app.clock,
    env: { HELIOGRAPH_ALERT_URL: receiver.url },
  });
  await other.app.alerts.stop();
  const { id } = await connect();
  await state(id, { refused: true });
  for (let times = 0; times < 5; times++)
    await Promise.all([app, other, app, other].map((each) => each.app.alerts.poll()));
  assert.equal((await list()).length, 1);
  assert.equal(receiver.received.length, 1);
  await other.close();
});

test('GET: pages, states, 400, and only for operators', async () => {
  for (const name of ['one', 'two', 'three']) await state((await connect(name)).id, { refused: true });
  await app.app.alerts.poll();
  const first = await operator.send<Page<AlertRecord>>('GET', `${path}?limit=2`);
  const second = await operator.send<Page<AlertRecord>>('GET', `${path}?limit=2&cursor=${first.body.next_cursor}`);
  assert.deepEqual(
    [...first.body.data, ...second.body.data].map(({ carrier }) => carrier),
    ['two', 'three', 'one'],
  );
  const wrong = await operator.send<Refusal>('GET', `${path}?state=all`);
  assert.deepEqual([wrong.status, wrong.body.details[0]?.field], [400, 'state']);
  const developer = await signUp(app);
  assert.equal((await developer.send('GET', path)).status, 404);
});

test('metrics show the same, with carrier and country, and no number', async () => {
  const { key, id } = await connect();
  await state(id, { state: 'waiting', refused: true, certificateEndsAtMs: app.clock.nowMs() + dayMs });
  await acceptMessages({ database: app.db.database, clock: app.clock, carrier: key }, 1);
  app.clock.advance(30_000);
  await state(id, { state: 'waiting', refused: true, certificateEndsAtMs: app.clock.nowMs() + dayMs });
  await app.app.alerts.poll();
  const text = await app.app.metrics.text();
  for (const line of [
    'heliograph_alert{kind="account_refused",carrier="acme",country=""} 1',
    'heliograph_queue_oldest_seconds{carrier="acme",lane="bulk"} 30',
    'heliograph_carrier_up{carrier="acme"} 0',
    'heliograph_carrier_refused{carrier="acme"} 1',
    'heliograph_certificate_seconds{carrier="acme"} 86400',
    'heliograph_spend_applications{percent="50"} 0',
  ])
    assert.ok(text.includes(line), line);
  assert.ok(!text.includes('447700900123'), 'no number');
});
