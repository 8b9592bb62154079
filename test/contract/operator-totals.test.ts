// What carriers did with texts, for operators: kept by day for 400 days, as a list and as a file.
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { dayMs, minuteMs, toTimestamp } from '../../src/platform/clock.ts';
import { uuidOf } from '../../src/platform/ids.ts';
import type { TotalsRecord } from '../../src/portal/operator/total-api.ts';
import type { TrafficRecord } from '../../src/portal/operator/traffic-api.ts';
import { dayOf, foldDays } from '../../src/quality/total-store.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { send, signUp, type TestDeveloper } from '../support/developer.ts';
import { createOperator } from '../support/operator.ts';
import { createSender, type Refusal, type Sender } from '../support/texts.ts';
import { createVerifyCaller } from '../support/verify-caller.ts';

let app: TestApp;
let operator: TestDeveloper;
let sender: Sender;
before(async () => {
  app = await createTestApp();
  operator = await createOperator(app);
  sender = await createSender(app);
});
after(() => app.close());
beforeEach(() => app.db.database.query('truncate total_day'));

const path = '/portal/v1/operator/totals';
const read = async (query = '') => {
  const { status, body } = await operator.send<TotalsRecord>('GET', `${path}${query}`);
  assert.equal(status, 200, JSON.stringify(body));
  return body;
};

async function settle(id: string, status: string): Promise<void> {
  for (let looks = 0; (await sender.readSms(id)).status !== status; looks++) {
    assert.ok(looks < 500, `${id} should be ${status}`);
    app.clock.advance(100);
    await new Promise((done) => setTimeout(done, 10));
  }
}

interface Given {
  day?: string;
  carrier?: string;
  country?: string;
  from?: string;
  node?: string;
  sent?: number;
  codes?: number;
  approved?: number;
}

/** A row as a node wrote it. */
function write({ day = today(), carrier = 'acme#1', country = 'GB', from = 'ACME', node = 'a', ...counts }: Given) {
  const { sent = 0, codes = 0, approved = 0 } = counts;
  return app.db.database.query(
    `insert into total_day (day, carrier, country, sender, application_id, node, revision, sent, codes, approved)
     values ($1, $2, $3, $4, $5, $6, 1, $7, $8, $9)`,
    [day, carrier, country, from, uuidOf(sender.id), node, sent, codes, approved],
  );
}
const today = () => dayOf(app.clock.nowMs());
const daysAgo = (days: number) => dayOf(app.clock.nowMs() - days * dayMs);

describe('counting', () => {
  test('texts are counted by carrier, country, sender and application, and receipts on the day of sending', async () => {
    const well = (await sender.sms()).body.id;
    const long = (await sender.sms({ message: 'a'.repeat(200), from: 'Other' })).body.id;
    const bad = (await sender.sms({ to: '+15005550111' })).body.id;
    await settle(well, 'delivered');
    await settle(long, 'delivered');
    await settle(bad, 'undelivered');
    await app.delivery.totals.flush();
    const { data, by } = await read('?by=country,sender,application,carrier,day');
    assert.deepEqual(by, ['country', 'sender', 'application', 'carrier', 'day']);
    const shown = data.map(({ country, sender: from, sent, parts, delivered, undelivered }) => {
      return { country, from, sent, parts, delivered, undelivered };
    });
    assert.deepEqual(shown, [
      { country: 'GB', from: 'ACME', sent: 1, parts: 1, delivered: 1, undelivered: 0 },
      { country: 'GB', from: 'Other', sent: 1, parts: 2, delivered: 1, undelivered: 0 },
      { country: 'US', from: 'ACME', sent: 1, parts: 1, delivered: 0, undelivered: 1 },
    ]);
    assert.ok(
      data.every(({ carrier, day }) => carrier === 'sandbox' && day === today()),
      'carrier and day',
    );
    assert.ok(
      data.every(({ application_id }) => application_id === sender.id),
      'the application',
    );
  });

  test('traffic of the last hours by step: requests, and what carriers answered', async () => {
    const traffic = async (query = '') => {
      const { status, body } = await operator.send<TrafficRecord>('GET', `/portal/v1/operator/traffic${query}`);
      assert.equal(status, 200, JSON.stringify(body));
      return body;
    };
    await app.db.database.query(
      `insert into carrier_minute (minute, carrier, country, node, revision, attempts, throttled, in_doubt, sent, refused, took)
       select date_bin('1 minute', $1::timestamptz - n * interval '1 minute', '2000-01-01Z'), 'acme#1', 'GB', 'x', 1, 10, 2, 3, 4, 1, '{}'
       from generate_series(59, 61) n`,
      [toTimestamp(app.clock.nowMs())],
    );
    const hour = await traffic();
    assert.deepEqual([hour.data.length, hour.step_seconds], [60, 60]);
    assert.deepEqual(hour.data[0], {
      ...{ at: hour.from, admitted: 0, refused: 0 },
      ...{ sent: 4, throttled: 2, in_doubt: 3, rejected: 1 },
    });
    const sum = (counts: number[]) => counts.reduce((all, count) => all + count, 0);
    assert.ok(sum(hour.data.map(({ admitted }) => admitted)) >= 3, 'the requests of the test before');
    const long = await traffic('?hours=6');
    assert.deepEqual([long.data.length, long.step_seconds], [72, 300]);
    assert.equal(sum(long.data.map(({ rejected }) => rejected)), 3);
    for (const hours of ['0', '7', 'x', '1.5'])
      assert.equal((await operator.send('GET', `/portal/v1/operator/traffic?hours=${hours}`)).status, 400, hours);
    assert.equal((await (await signUp(app)).send('GET', '/portal/v1/operator/traffic')).status, 404);
  });

  test('a flush that runs again counts nothing twice', async () => {
    await settle((await sender.sms()).body.id, 'delivered');
    await app.delivery.totals.flush();
    await settle((await sender.sms()).body.id, 'delivered');
    await Promise.all([app.delivery.totals.flush(), app.delivery.totals.flush()]);
    const { data } = await read();
    // The test before counted one in the same row of this node.
    assert.equal(data.find(({ country }) => country === 'GB')?.sent, 3);
  });

  test('codes that one carrier alone sent, and how many were typed in, count once', async () => {
    const caller = await createVerifyCaller(app);
    const { id, code } = await caller.pending();
    await caller.pending();
    assert.equal((await caller.check(id, code)).body.status, 'approved');
    await eventuallySent(2);
    app.clock.advance(11 * minuteMs);
    await app.delivery.maintenance.runAll();
    await app.delivery.maintenance.runAll();
    const { data } = await read('?by=carrier');
    const [row] = data;
    assert.deepEqual([row?.codes, row?.approved, row?.quality], [2, 1, 0.5]);
    assert.ok((row?.quality_low ?? 0) > 0.09 && (row?.quality_high ?? 1) < 0.91, 'the interval of 1 in 2');
  });
});

async function eventuallySent(count: number): Promise<void> {
  for (let looks = 0; ; looks++) {
    const { count: sent } = await app.db.database.query(
      'select from message where verification_id is not null and sent_at is not null',
    );
    if (sent >= count) return;
    assert.ok(looks < 500, 'the codes should be sent');
    await new Promise((done) => setTimeout(done, 10));
  }
}

// These tests read days before today: receipts of the texts above may still come, and are counted today.
describe('keeping', () => {
  test('adding up old rows of nodes leaves the totals unchanged', async () => {
    const days = `?from=${daysAgo(9)}&to=${daysAgo(1)}&by=day`;
    for (const node of ['a', 'b', '']) await write({ day: daysAgo(9), node, sent: 5, codes: 2, approved: 1 });
    await write({ day: daysAgo(1), node: 'a', sent: 1 });
    const before = await read(days);
    assert.equal(await foldDays(app.db.database, app.clock.nowMs()), 2);
    assert.deepEqual(await read(days), before);
    const { rows } = await app.db.database.query<{ node: string }>(
      'select node from total_day where day < $1 order by day',
      [today()],
    );
    assert.deepEqual(
      rows.map(({ node }) => node),
      ['', 'a'],
    );
  });

  test('totals are deleted after 400 days', async () => {
    await write({ day: daysAgo(401), sent: 1 });
    await write({ day: daysAgo(399), sent: 2 });
    await app.delivery.maintenance.runAll();
    const { data } = await read(`?from=${daysAgo(400)}&to=${daysAgo(1)}&by=`);
    assert.deepEqual(
      data.map(({ sent }) => sent),
      [2],
    );
    assert.equal((await app.db.database.query('select from total_day where day < $1', [today()])).count, 1);
  });
});

describe('GET /portal/v1/operator/totals', () => {
  test('the days asked for, both included, in groups; a name used again is one carrier', async () => {
    await write({ day: '2026-02-01', sent: 1 });
    await write({ day: '2026-02-02', carrier: 'acme#2', sent: 2 });
    await write({ day: '2026-02-03', carrier: 'beta#3', country: '', sent: 4 });
    await write({ day: '2026-02-04', sent: 8 });
    const { data, from, to, truncated } = await read('?from=2026-02-02&to=2026-02-03&by=carrier,country');
    assert.deepEqual([from, to, truncated], ['2026-02-02', '2026-02-03', false]);
    assert.deepEqual(
      data.map(({ carrier, country, sent, quality }) => [carrier, country, sent, quality]),
      [
        ['acme', 'GB', 2, null],
        ['beta', null, 4, null],
      ],
    );
    const all = await read('?from=2026-02-01&to=2026-02-04&by=carrier');
    assert.deepEqual(
      all.data.map(({ carrier, sent }) => [carrier, sent]),
      [
        ['acme', 11],
        ['beta', 4],
      ],
    );
  });

  test('400 names the field that is wrong', async () => {
    const wrong: [query: string, field: string][] = [
      ['?from=2026-02-30', 'from'],
      ['?from=yesterday', 'from'],
      ['?from=0000-01-01&to=0000-01-02', 'to'],
      ['?from=2026-02-02&to=2026-02-01', 'from'],
      ['?from=2024-01-01&to=2026-02-01', 'from'],
      ['?by=carrier,carrier', 'by'],
      ['?by=carrier,number', 'by'],
      [`?by=${'carrier,'.repeat(50)}`, 'by'],
    ];
    for (const [query, field] of wrong) {
      for (const kind of ['', '.csv']) {
        const { status, body } = await operator.send<Refusal>('GET', `${path}${kind}${query}`);
        assert.equal(status, 400, query);
        assert.deepEqual(
          body.details.map((each) => each.field),
          [field],
          query,
        );
      }
    }
  });

  test('the first 1,000 rows, and that there are more', async () => {
    await app.db.database.query(
      `insert into total_day (day, carrier, country, sender, application_id, node, revision, sent)
       select $1, 'acme#1', 'GB', 's' || n, $2, 'a', 1, 1 from generate_series(1, 1001) n`,
      [today(), uuidOf(sender.id)],
    );
    const { data, truncated } = await read('?by=sender');
    assert.deepEqual([data.length, truncated], [1000, true]);
  });

  test('only operators read the totals', async () => {
    const developer = await signUp(app);
    for (const kind of ['', '.csv']) {
      assert.equal((await developer.send('GET', `${path}${kind}`)).status, 404);
      assert.equal((await send(app, 'GET', `${path}${kind}`)).status, 404);
    }
  });
});

describe('GET /portal/v1/operator/totals.csv', () => {
  test('a file with titles; no cell is a formula', async () => {
    const day = daysAgo(1);
    await write({ day, from: '+447700900000', sent: 3, codes: 4, approved: 1 });
    await write({ day, from: '-A', country: '', sent: 1 });
    const query = `?from=${day}&to=${day}&by=sender,country,day`;
    const answer = await fetch(`${app.url}${path}.csv${query}`, { headers: { cookie: operator.cookie } });
    assert.equal(answer.status, 200);
    assert.equal(answer.headers.get('content-type'), 'text/csv; charset=utf-8');
    assert.match(answer.headers.get('content-disposition') ?? '', /^attachment; filename="totals-[0-9-]{21}\.csv"$/);
    const lines = (await answer.text()).split('\r\n');
    const titles =
      'sender,country,day,attempts,copies,throttled,in_doubt,sent,parts,delivered,undelivered,failed,codes,approved,quality,quality_low,quality_high,refused,unavailable,expired,code_attempts,code_sent,code_refused,code_delivered,code_failed,reported';
    assert.equal(lines[0], titles);
    const zeros = ',0'.repeat(9);
    assert.deepEqual(
      lines.slice(1).toSorted(),
      [
        '',
        `'-A,,${day},0,0,0,0,1,0,0,0,0,0,0,,,${zeros}`,
        `+447700900000,GB,${day},0,0,0,0,3,0,0,0,0,4,1,0.25,0.0456,0.6994${zeros}`,
      ].toSorted(),
    );
  });
});

test('no number of a phone is in the totals', async () => {
  await settle((await sender.sms({ to: '+447700900987' })).body.id, 'delivered');
  await app.delivery.totals.flush();
  const { rows } = await app.db.database.query<{ all: string }>(
    'select string_agg(t::text, $1) as all from (select * from total_day) t',
    [' '],
  );
  assert.ok(!(rows[0]?.all ?? '').includes('900987'), 'the number');
});
