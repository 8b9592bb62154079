// What is wrong at this moment, for operators: open alerts, the queue and the last hour of each carrier, in one request.
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { writeBinds } from '../../src/delivery/carrier/bind-store.ts';
import { carrierKey, findCarrier } from '../../src/delivery/carrier/store.ts';
import { minuteMs, toTimestamp } from '../../src/platform/clock.ts';
import { newId } from '../../src/platform/ids.ts';
import type { NowRecord } from '../../src/portal/operator/now-api.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { signUp, type TestDeveloper } from '../support/developer.ts';
import { createOperator } from '../support/operator.ts';
import { acceptMessages } from '../support/recording-carrier.ts';

let app: TestApp;
let operator: TestDeveloper;
before(async () => {
  app = await createTestApp({ delivery: 'held' });
  await app.app.alerts.stop();
  operator = await createOperator(app);
});
after(() => app.close());
beforeEach(() =>
  app.db.database.query(
    'truncate carrier, carrier_bind, message, delivery_queue, delivery_schedule, delivery_claim, carrier_minute, alert cascade',
  ),
);

async function read(): Promise<NowRecord> {
  const { status, body } = await operator.send<NowRecord>('GET', '/portal/v1/operator/now');
  assert.equal(status, 200, JSON.stringify(body));
  return body;
}

async function connect(name: string): Promise<string> {
  const settings = { host: '127.0.0.1', port: 2775, system_id: 'me', password: 'secret' };
  const body = { name, kind: 'smpp', settings };
  assert.equal((await operator.send('POST', '/portal/v1/operator/carriers', body)).status, 201);
  const row = (await findCarrier(app.db.database, name)) ?? assert.fail('the carrier is there');
  const bind = { slot: 0, mode: 'transceiver', host: null, nextTryAtMs: null, sinceMs: app.clock.nowMs() } as const;
  const binds = [{ ...bind, state: 'waiting' as const, error: 'it refuses connections' }];
  await writeBinds(app.db.database, { carrierId: row.id, node: 'nod_a', binds }, app.clock.nowMs());
  return carrierKey(row);
}

/** A minute as a node wrote it. */
const minute = (
  carrier: string,
  country: string,
  counts: Record<string, number>,
  arrived: string | null = null,
  minutesAgo = 5,
) => {
  const columns = Object.keys(counts);
  return app.db.database.query(
    `insert into carrier_minute (minute, carrier, country, node, revision, took, arrived, code_arrived, ${columns.join(', ')})
     values (date_bin('1 minute', $1, '2000-01-01Z'), $2, $3, 'nod_a', 1, '{}', $4, $4, ${columns.map((_, index) => `$${5 + index}`).join(', ')})`,
    [toTimestamp(app.clock.nowMs() - minutesAgo * minuteMs), carrier, country, arrived, ...Object.values(counts)],
  );
};

const alert = (kind: string, changes: { carrier?: string; raised?: boolean; cleared?: boolean } = {}) => {
  const now = toTimestamp(app.clock.nowMs());
  const { carrier = null, raised = true, cleared = false } = changes;
  return app.db.database.query(
    `insert into alert (id, key, kind, carrier, summary, advice, since, seen_at, raised_at, cleared_at)
     values ($1, $1, $2, $3, 'It is wrong.', 'Mend it.', $4, $4, $5, $6)`,
    [newId('alr', app.clock), kind, carrier, now, raised ? now : null, cleared ? now : null],
  );
};

describe('the number in the top bar', () => {
  test('counts alerts that are raised and not over, for operators alone', async () => {
    const count = (who: TestDeveloper) => who.send<{ open: number }>('GET', '/portal/v1/operator/alerts/count');
    assert.deepEqual((await count(operator)).body, { open: 0 });
    await alert('bind_down');
    await alert('codes_waiting');
    await alert('throttled', { raised: false });
    await alert('throttled', { cleared: true });
    assert.deepEqual((await count(operator)).body, { open: 2 });
    assert.equal((await count(await signUp(app))).status, 404);
  });
});

describe('now', () => {
  test('nothing is wrong: no alert, an empty queue, no carrier', async () => {
    const { alerts, more_alerts, queue, carriers } = await read();
    const none = { waiting: 0, oldest_seconds: null };
    assert.deepEqual(
      { alerts, more_alerts, queue, carriers },
      {
        ...{ alerts: [], more_alerts: false, carriers: [] },
        queue: { codes: none, bulk: none },
      },
    );
    assert.equal((await (await signUp(app)).send('GET', '/portal/v1/operator/now')).status, 404);
  });

  test('a problem is shown from the first poll on, and no longer when no node sees it', async () => {
    await alert('bind_down');
    await alert('throttled', { raised: false });
    await alert('refused', { cleared: true });
    const shown = async () => (await read()).alerts.map(({ kind, raised_at }) => [kind, raised_at !== null]);
    assert.deepEqual(await shown(), [
      ['bind_down', true],
      ['throttled', false],
    ]);
    app.clock.advance(31_000);
    assert.deepEqual(await shown(), [['bind_down', true]]);
  });

  test('the last hour of each carrier by country: every text once, and the times to the phone', async () => {
    const acme = await connect('acme');
    await connect('bell');
    await minute(
      acme,
      'GB',
      { attempts: 12, sent: 10, reported: 8, delivered: 7, undelivered: 1, refused: 2, failed: 2 },
      '{4,2,1}',
    );
    await minute(acme, 'FR', { attempts: 3, refused: 3 });
    await minute('gone#7', '', { attempts: 1, sent: 1 });
    await minute(acme, 'IT', { attempts: 9, in_doubt: 4, throttled: 3, unavailable: 2 });
    await minute('acme#1', 'DE', { attempts: 1, sent: 1 }, null, 62);
    await alert('refused', { carrier: 'bell' });
    const { carriers } = await read();
    assert.deepEqual(
      carriers.map(({ name, kind, state }) => [name, kind, state]),
      [
        ['bell', 'carrier', 'down'],
        ['acme', 'carrier', 'down'],
        ['gone', 'deleted', null],
      ],
      'a carrier with an alert is first',
    );
    const [bell, shown, gone] = carriers;
    assert.deepEqual([bell?.countries, bell?.hour.texts, bell?.hour.delivered_share], [[], 0, null]);
    assert.deepEqual(bell?.errors, ['it refuses connections']);
    const figures = shown?.countries.map(({ country, texts, delivered, unreported, undelivered, failed }) => ({
      ...{ country, texts, delivered, unreported, undelivered, failed },
    }));
    assert.deepEqual(figures, [
      { country: 'GB', texts: 12, delivered: 7, unreported: 2, undelivered: 1, failed: 2 },
      { country: 'FR', texts: 3, delivered: 0, unreported: 0, undelivered: 0, failed: 3 },
    ]);
    const [gb, fr] = shown?.countries ?? [];
    assert.deepEqual([gb?.delivered_share, gb?.seconds_median, gb?.seconds_p95], [0.5833, 1, 3]);
    assert.deepEqual(
      [fr?.delivered_share, fr?.seconds_median],
      [0, null],
      'a carrier that refuses everything delivers 0 %',
    );
    assert.deepEqual([shown?.hour.texts, shown?.hour.failed], [15, 5]);
    assert.deepEqual([shown?.unanswered, shown?.put_off], [4, 5], 'submits that are no texts');
    assert.equal(gone?.countries[0]?.country, null);
  });

  test('the queue: codes and other texts, and since when the oldest waits', async () => {
    const acme = await connect('acme');
    const waiting = (count: number, changes = {}) =>
      acceptMessages({ database: app.db.database, clock: app.clock, carrier: acme }, count, changes);
    await waiting(2);
    app.clock.advance(30_000);
    await waiting(1, { api: 'verify' });
    app.clock.advance(5000);
    const { queue, carriers } = await read();
    assert.deepEqual(queue, {
      codes: { waiting: 1, oldest_seconds: 5 },
      bulk: { waiting: 2, oldest_seconds: 35 },
    });
    assert.deepEqual(carriers[0]?.queue, queue);
  });
});
