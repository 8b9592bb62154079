// The table of routes: section 14 of the contract.
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { dayMs } from '../../src/platform/clock.ts';
import { uuidOf } from '../../src/platform/ids.ts';
import { dayOf } from '../../src/quality/total-store.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { bearer, createRegistered, getToken, type TestApplication } from '../support/applications.ts';
import { type Answer, send, type TestDeveloper } from '../support/developer.ts';
import { eventually } from '../support/eventually.ts';
import { createKnownCarriers } from '../support/known-carriers.ts';
import { approveAll, createOperator } from '../support/operator.ts';

const path = '/portal/v1/operator/routes';
const carriersPath = '/portal/v1/operator/carriers';

interface Table {
  version: number;
  routes: Record<string, unknown>[];
  updated_at: string | null;
}
interface Explained {
  version: number;
  outcome: string;
  rule: { name: string } | null;
  from: string | null;
  deferred_until: string | null;
  candidates: { carrier: string; group: string; available: boolean; share: number; reason: string }[];
  chosen: string | null;
  carrier: string | null;
}
interface Refusal {
  code: string;
  details: { field: string; message: string }[];
}

let app: TestApp;
let operator: TestDeveloper;
let caller: TestApplication;
let verifying: Record<string, string>;
let messaging: Record<string, string>;
let carriers: ReturnType<typeof createKnownCarriers>;
before(async () => {
  app = await createTestApp({
    delivery: 'held',
    env: {
      HELIOGRAPH_ENV: 'production',
      HELIOGRAPH_SENDERS: 'open',
      HELIOGRAPH_GUARD: JSON.stringify({ blocked: ['+3399'] }),
    },
  });
  operator = await createOperator(app);
  carriers = createKnownCarriers(app, operator);
  caller = await createRegistered(app, undefined, 'enterprise', operator);
  await approveAll(operator);
  verifying = bearer(await getToken(app, caller.client, 'verify:manage'));
  messaging = bearer(await getToken(app, caller.client, 'messaging:send'));
});
after(() => app.close());
beforeEach(() => carriers.clear());

const route = (name: string, countries: string[], ...own: string[]) => ({
  name,
  match: { countries },
  carriers: own.map((carrier) => ({ carrier })),
});
const put = (body: unknown) => operator.send<Table & Refusal>('PUT', path, body);
const explain = async (body: unknown) => {
  const answer = await operator.send<Explained>('POST', `${path}/explain`, body);
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
  return answer.body;
};
const readTable = async () => (await operator.send<Table>('GET', path)).body;

let numbers = 0;
const someNumber = (prefix = '+4477009') => `${prefix}${String(++numbers).padStart(5, '0')}`;
const french = () => someNumber('+336120');
const sendText = (body: object = {}) =>
  send<Record<string, unknown> & Refusal>(app, 'POST', '/sms/v1/messages', {
    body: { to: someNumber(), from: 'ACME', message: 'Hi', ...body },
    headers: { apikey: caller.apiKey },
  });
const start = (to = someNumber()) =>
  send<Record<string, unknown> & Refusal>(app, 'POST', '/verify/v1/verifications', {
    body: { to, channel: 'sms' },
    headers: verifying,
  });

interface Row {
  carrier: string;
  sender: string;
  sentAs: string | null;
  status: number;
  version: number | null;
  dueAtMs: number | null;
}
async function rowOf(messageId: unknown): Promise<Row> {
  const { rows } = await app.db.database.query<Row>(
    `select m.carrier, sender, sent_as as "sentAs", status, route_version as version, due_at as "dueAtMs"
     from message m left join delivery_schedule s on s.message_id = m.id where m.id = $1`,
    [uuidOf(String(messageId))],
  );
  assert.ok(rows[0], 'the message is there');
  return rows[0];
}
const textOf = (started: Answer) => (started.body.delivery as { message_id: string }).message_id;
async function countMessages(): Promise<number> {
  const { rows } = await app.db.database.query<{ count: number }>('select count(*) as count from message');
  return rows[0]?.count ?? 0;
}

describe('the table', () => {
  test('is empty at first, and keeps what is put with every default', async () => {
    const before = await readTable();
    assert.deepEqual(before.routes, []);
    await carriers.connect('acme');
    const given = { name: 'uk', match: { countries: ['gb'], prefixes: ['4477'] }, carriers: [{ carrier: 'acme' }] };
    const { status, body } = await put({ version: before.version, routes: [given] });
    assert.equal(status, 200);
    assert.equal(body.version, before.version + 1);
    assert.ok(body.updated_at, 'it says when');
    assert.deepEqual(body.routes, [
      {
        name: 'uk',
        match: { countries: ['GB'], prefixes: ['+4477'], apis: [], channels: [], applications: [], senders: [] },
        carriers: [{ carrier: 'acme', weight: 1 }],
        failover: [],
        failover_bulk: false,
        from: null,
        hours: null,
      },
    ]);
    assert.deepEqual(await readTable(), body);
    assert.equal((await put(body)).status, 200, 'what was read can be put back');
  });

  test('409 for an old version; of callers with one version exactly one succeeds', async () => {
    const { version } = await readTable();
    assert.equal((await put({ version, routes: [] })).status, 200);
    const old = await put({ version, routes: [] });
    assert.deepEqual([old.status, old.body.code], [409, 'INCOMPATIBLE_STATE']);
    assert.equal((await put({ version: version + 5, routes: [] })).status, 409);
    const all = await Promise.all(Array.from({ length: 8 }, () => put({ version: version + 1, routes: [] })));
    assert.deepEqual(all.map(({ status }) => status).sort(), [200, ...Array(7).fill(409)]);
  });

  test('400 names the bad field', async () => {
    await carriers.connect('acme');
    const { version } = await readTable();
    const good = { name: 'a', carriers: [{ carrier: 'acme', weight: 1 }] };
    const hours = { from: '08:00', to: '20:00', zone: 'Europe/London' };
    const bad: [object, string][] = [
      [{ ...good, name: '' }, 'name'],
      [{ ...good, name: 'x'.repeat(65) }, 'name'],
      [{ name: 'a' }, 'carriers'],
      [{ ...good, carriers: [] }, 'carriers'],
      [{ ...good, carriers: [{ carrier: 'other' }] }, 'carriers.0.carrier'],
      [{ ...good, carriers: [{ carrier: 'sandbox' }] }, 'carriers.0.carrier'],
      [{ ...good, carriers: [{ carrier: 'acme', weight: 0 }] }, 'carriers.0.weight'],
      [{ ...good, carriers: [{ carrier: 'acme', weight: 1001 }] }, 'carriers.0.weight'],
      [{ ...good, carriers: [{ carrier: 'acme', weight: 1.5 }] }, 'carriers.0.weight'],
      [{ ...good, carriers: [...good.carriers, ...good.carriers] }, 'carriers.1.carrier'],
      [{ ...good, failover: ['acme'] }, 'failover.0'],
      [{ ...good, failover: ['other'] }, 'failover.0'],
      [{ ...good, failover_bulk: true }, 'failover_bulk'],
      [{ ...good, failover_bulk: { per_minute: 0 } }, 'failover_bulk'],
      [{ ...good, from: 'Ünicode' }, 'from'],
      [{ ...good, match: { countries: ['XX'] } }, 'match.countries.0'],
      [{ ...good, match: { countries: Array(51).fill('GB') } }, 'match.countries'],
      [{ ...good, match: { prefixes: ['0044'] } }, 'match.prefixes.0'],
      [{ ...good, match: { apis: ['mail'] } }, 'match.apis.0'],
      [{ ...good, match: { applications: ['me'] } }, 'match.applications.0'],
      [{ ...good, match: { senders: ['Ü'] } }, 'match.senders.0'],
      [{ ...good, hours: { ...hours, from: '8:00' } }, 'hours.from'],
      [{ ...good, hours: { ...hours, to: '24:01' } }, 'hours.to'],
      [{ ...good, hours: { ...hours, days: ['monday'] } }, 'hours.days.0'],
      [{ ...good, hours: { ...hours, zone: 'Europe/Nowhere' } }, 'hours.zone'],
      [{ ...good, hours: { ...hours, zone: '../etc' } }, 'hours.zone'],
    ];
    for (const [given, field] of bad) {
      const { status, body } = await put({ version, routes: [given] });
      assert.equal(status, 400, JSON.stringify(given));
      assert.ok(
        body.details.some((each) => each.field.startsWith(`routes.0.${field}`)),
        `${field}: ${JSON.stringify(body.details)}`,
      );
      const draft = await operator.send('POST', `${path}/explain`, { to: '+447700900123', routes: [given] });
      assert.equal(draft.status, 400, `a draft: ${JSON.stringify(given)}`);
    }
    const twice = await put({ version, routes: [good, good] });
    assert.deepEqual([twice.status, twice.body.details[0]?.field], [400, 'routes.1.name']);
    const many = await put({
      version,
      routes: Array.from({ length: 501 }, (_, index) => ({ ...good, name: `${index}` })),
    });
    assert.equal(many.status, 400);
    for (const body of [{}, { version }, { routes: [] }, { version: '1', routes: [] }, { version: -1, routes: [] }])
      assert.equal((await put(body)).status, 400, JSON.stringify(body));
    assert.equal((await readTable()).version, version, 'nothing was written');
  });

  test('only operators read and write the routing table', async () => {
    const { developer } = await createRegistered(app, []);
    for (const [method, where] of [
      ['GET', path],
      ['PUT', path],
      ['POST', `${path}/explain`],
    ] as const) {
      const body = method === 'GET' ? undefined : { version: 0, routes: [], to: '+447700900123' };
      assert.equal((await developer.send(method, where, body)).status, 404);
      assert.equal((await send(app, method, where, { body })).status, 404);
    }
  });
});

describe('a carrier that a route names', () => {
  test('is deleted by force only; its route then leaves it out', async () => {
    await carriers.connect('acme');
    await carriers.connect('spare');
    await carriers.putRoutes([{ ...route('all', [], 'acme'), failover: ['spare'] }]);
    for (const name of ['acme', 'spare']) {
      const { status, body } = await operator.send<Refusal>('DELETE', `${carriersPath}/${name}`);
      assert.deepEqual([status, body.code], [409, 'INCOMPATIBLE_STATE'], name);
    }
    assert.equal((await operator.send('DELETE', `${carriersPath}/acme?force=true`)).status, 204);
    await eventually('the node to know that it is gone', async () => {
      const { candidates } = await explain({ to: '+447700900123' });
      return candidates.map(({ carrier }) => carrier).join() === 'spare';
    });
    await carriers.putRoutes([route('all', [], 'spare')]);
  });

  test('a change of the routes and a deletion at once: the routes never name a carrier that is gone', async () => {
    for (let round = 0; round < 5; round++) {
      await carriers.connect(`acme-${round}`);
      const { version } = await readTable();
      const [written, deleted] = await Promise.all([
        put({ version, routes: [route('all', [], `acme-${round}`)] }),
        operator.send('DELETE', `${carriersPath}/acme-${round}`),
      ]);
      assert.deepEqual(
        [written.status, deleted.status],
        written.status === 200 ? [200, 409] : [400, 204],
        'one of them came first',
      );
      await carriers.putRoutes([]);
    }
  });
});

describe('sends and starts', () => {
  test('the first route that matches takes the text; its version is kept', async () => {
    const uk = await carriers.connect('uk', 'bound');
    const rest = await carriers.connect('rest', 'bound');
    const version = await carriers.putRoutes([route('uk', ['GB'], 'uk'), route('others', ['FR', 'US'], 'rest')]);
    const [british, other] = [await sendText(), await sendText({ to: french() })];
    assert.deepEqual([british.status, other.status], [201, 201]);
    const rows = [await rowOf(british.body.id), await rowOf(other.body.id)];
    assert.deepEqual(
      rows.map((row) => [row.carrier, row.version]),
      [
        [uk, version],
        [rest, version],
      ],
    );
    assert.equal((await rowOf(textOf(await start()))).carrier, uk);
  });

  test('400 where no route leads, as a send, as an item of a batch, as a start; nothing is kept', async () => {
    await carriers.connect('uk', 'bound');
    await carriers.putRoutes([route('uk', ['GB'], 'uk')]);
    const before = await countMessages();
    for (const answer of [await sendText({ to: french() }), await start(french())]) {
      assert.deepEqual([answer.status, answer.body.code], [400, 'UNROUTABLE_DESTINATION']);
      assert.equal(answer.body.details[0]?.field, 'to');
    }
    const to = french();
    await start(to);
    const listed = await send<{ data: unknown[] }>(
      app,
      'GET',
      `/verify/v1/verifications?to=${encodeURIComponent(to)}`,
      {
        headers: verifying,
      },
    );
    assert.deepEqual(listed.body.data, [], 'no verification was kept');
    assert.equal(await countMessages(), before);
    const batch = await send<{ data: { error?: Refusal; id?: string }[]; summary: object }>(
      app,
      'POST',
      '/messaging/v1/messages/batch',
      {
        headers: messaging,
        body: {
          messages: [someNumber(), french(), someNumber()].map((each) => ({ to: each, from: 'ACME', message: 'Hi' })),
        },
      },
    );
    assert.equal(batch.status, 200);
    assert.deepEqual(batch.body.summary, { accepted: 2, rejected: 1 });
    assert.equal(batch.body.data[1]?.error?.code, 'UNROUTABLE_DESTINATION');
    assert.equal(await countMessages(), before + 2);
  });

  test('an unroutable send with a key is refused anew each time', async () => {
    await carriers.connect('uk', 'bound');
    await carriers.putRoutes([route('uk', ['GB'], 'uk')]);
    const to = french();
    const keyed = () =>
      send(app, 'POST', '/verify/v1/verifications', {
        body: { to, channel: 'sms' },
        headers: { ...verifying, 'Idempotency-Key': `key-${to.slice(1)}` },
      });
    for (let tries = 0; tries < 2; tries++) {
      const { status, body } = await keyed();
      assert.deepEqual([status, body.code], [400, 'UNROUTABLE_DESTINATION']);
    }
    await carriers.putRoutes([route('all', [], 'uk')]);
    assert.equal((await keyed()).status, 200, 'the refusal was not kept');
  });

  test('order: 503 without carriers, 402, the guard, then the route', async () => {
    const limited = await createRegistered(app, ['sms'], 'free', operator);
    await approveAll(operator);
    const sendLimited = () =>
      send(app, 'POST', '/sms/v1/messages', {
        body: { to: french(), from: 'ACME', message: 'Hi' },
        headers: { apikey: limited.apiKey },
      });
    await app.db.database.query(
      `insert into spend_day (application_id, day, segments, most) values ($1, $2, 1000, 1000)`,
      [uuidOf(limited.id), new Date(app.clock.nowMs()).toISOString().slice(0, 10)],
    );
    assert.equal((await sendLimited()).status, 503);
    const blocked = `+3399${String(++numbers).padStart(7, '0')}`;
    assert.equal((await start(blocked)).status, 503);
    await carriers.connect('uk', 'bound');
    await carriers.putRoutes([route('uk', ['GB'], 'uk')]);
    const spent = await sendLimited();
    assert.deepEqual([spent.status, spent.body.code], [402, 'SPEND_LIMIT']);
    const refused = await start(blocked);
    assert.deepEqual([refused.status, refused.body.status, refused.body.reason], [200, 'blocked', 'block_list']);
    assert.equal((await start(french())).status, 400);
  });

  test('a resend takes a carrier that did not have the code', async () => {
    const first = await carriers.connect('first', 'bound');
    const second = await carriers.connect('second', 'bound');
    await carriers.putRoutes([{ ...route('all', [], 'first'), failover: ['second'] }]);
    const to = someNumber();
    const used: string[] = [];
    for (let sends = 0; sends < 3; sends++) {
      used.push((await rowOf(textOf(await start(to)))).carrier);
      app.clock.advance(61_000);
      await carriers.bind('first', 'bound');
      await carriers.bind('second', 'bound');
    }
    assert.deepEqual(used, [first, second, first]);
  });

  test('a continued verification whose number lost its route: the record, or a 400 when a text is due', async () => {
    await carriers.connect('uk', 'bound');
    await carriers.putRoutes([route('all', [], 'uk')]);
    const to = french();
    const started = await start(to);
    await carriers.putRoutes([route('uk', ['GB'], 'uk')]);
    const again = await start(to);
    assert.deepEqual([again.status, again.body.id, again.body.sent], [200, started.body.id, false]);
    app.clock.advance(61_000);
    assert.equal((await start(to)).status, 400);
    const read = await send(app, 'GET', `/verify/v1/verifications/${started.body.id}`, { headers: verifying });
    assert.equal(read.body.status, 'pending');
  });

  test('a start is 503 once every carrier of its route has been down for 30 s', async () => {
    await carriers.connect('uk', 'waiting');
    await carriers.connect('spare', 'waiting');
    await carriers.connect('rest', 'bound');
    await carriers.putRoutes([{ ...route('uk', ['GB'], 'uk'), failover: ['spare'] }, route('others', [], 'rest')]);
    assert.equal((await start()).status, 200, 'it may be up in a moment');
    app.clock.advance(14_000);
    for (const name of ['uk', 'spare']) await carriers.bind(name, 'waiting');
    app.clock.advance(14_000);
    for (const name of ['uk', 'spare']) await carriers.bind(name, 'waiting');
    await carriers.bind('rest', 'bound');
    app.clock.advance(2000);
    const refused = await start();
    assert.deepEqual([refused.status, refused.body.code], [503, 'UNAVAILABLE']);
    assert.equal((await start(french())).status, 200, 'another route works');
    assert.equal((await sendText()).status, 201, 'a send waits in the queue');
    await carriers.bind('spare', 'bound');
    assert.equal((await start()).status, 200);
  });

  test('the route rewrites the sender; the record keeps what the caller gave', async () => {
    await carriers.connect('uk', 'bound');
    await carriers.putRoutes([{ ...route('uk', ['GB'], 'uk'), from: '447700900999' }]);
    const { body } = await sendText();
    assert.equal(body.from, 'ACME');
    assert.deepEqual([(await rowOf(body.id)).sender, (await rowOf(body.id)).sentAs], ['ACME', '447700900999']);
    assert.equal((await rowOf(textOf(await start()))).sentAs, '447700900999');
  });

  test('outside the hours a text waits as queued, or until it expires; codes go at once', async () => {
    await carriers.connect('uk', 'bound');
    const opens = new Date(app.clock.nowMs() + 7_200_000);
    const clockTime = (ms: number) => new Date(ms).toISOString().slice(11, 16);
    const hours = { from: clockTime(opens.getTime()), to: clockTime(opens.getTime() + 3_600_000) };
    await carriers.putRoutes([{ ...route('uk', ['GB'], 'uk'), hours }]);
    const { body } = await sendText();
    assert.equal(body.status, 'queued');
    const opensMs = opens.setUTCSeconds(0, 0);
    assert.equal((await rowOf(body.id)).dueAtMs, opensMs);
    const short = await sendText({ validity_seconds: 60 });
    assert.equal((await rowOf(short.body.id)).dueAtMs, Date.parse(String(short.body.expires_at)));
    assert.equal((await rowOf(textOf(await start()))).dueAtMs, null, 'a code is in the queue');
    const canceled = await send(app, 'DELETE', `/sms/v1/messages/${body.id}`, { headers: { apikey: caller.apiKey } });
    assert.deepEqual([canceled.status, canceled.body.status], [200, 'canceled']);
    const explained = await explain({ message_id: short.body.id });
    assert.equal(explained.deferred_until, short.body.expires_at);
  });
});

describe('explain', () => {
  test('explain shows every candidate with its share', async () => {
    for (const name of ['one', 'two', 'spare']) await carriers.connect(name, 'bound');
    const version = await carriers.putRoutes([
      {
        ...{ name: 'uk', match: { countries: ['GB'] }, from: 'Other', failover: ['spare'] },
        carriers: [{ carrier: 'one', weight: 3 }, { carrier: 'two' }],
      },
    ]);
    const found = await explain({ to: '+44 7700 900123', from: 'ACME', api: 'sms', application_id: caller.id });
    assert.deepEqual([found.version, found.outcome, found.rule?.name, found.from], [version, 'routed', 'uk', 'Other']);
    assert.deepEqual(
      found.candidates.map(({ carrier, group, available, share }) => [carrier, group, available, share]),
      [
        ['one', 'carriers', true, 0.75],
        ['two', 'carriers', true, 0.25],
        ['spare', 'failover', true, 0],
      ],
    );
    assert.deepEqual([found.chosen, found.carrier], [null, null]);
    const nowhere = await explain({ to: '+33612000000' });
    assert.deepEqual([nowhere.outcome, nowhere.rule, nowhere.candidates], ['unroutable', null, []]);
  });

  test('a draft, before it is saved', async () => {
    await carriers.connect('one', 'bound');
    const routes = [route('fr', ['FR'], 'one')];
    assert.equal((await explain({ to: '+447700900123' })).outcome, 'routed');
    assert.equal((await explain({ to: '+447700900123', routes })).outcome, 'unroutable');
    assert.equal((await explain({ to: '+33612000000', routes })).rule?.name, 'fr');
    const { body } = await sendText({ to: french() });
    const ofText = await explain({ message_id: body.id, routes });
    assert.deepEqual([ofText.rule?.name, ofText.chosen], ['fr', 'one']);
  });

  test('without carriers; 400 without a number; 404 for an unknown message', async () => {
    assert.equal((await explain({ to: '+447700900123' })).outcome, 'no_carrier');
    const bad = async (body: object) => (await operator.send('POST', `${path}/explain`, body)).status;
    assert.equal(await bad({}), 400);
    assert.equal(await bad({ to: '0044' }), 400);
    assert.equal(await bad({ to: '+447700900123', api: 'mail' }), 400);
    assert.equal(await bad({ message_id: 'msg_1' }), 400);
    assert.equal(await bad({ message_id: `msg_${'0'.repeat(26)}` }), 404);
  });

  test('of a text that was sent: by its table and the health of its time, whatever has changed since', async () => {
    for (const name of ['one', 'two', 'spare']) await carriers.connect(name, 'bound');
    const both = { name: 'all', carriers: [{ carrier: 'one', weight: 2 }, { carrier: 'two' }], failover: ['spare'] };
    const ids: string[] = [];
    const rowsOf = new Map<string, string>();
    const note = async (id: unknown) => {
      ids.push(String(id));
      rowsOf.set(String(id), (await rowOf(id)).carrier.split('#')[0] ?? '');
    };
    const someTexts = async () => {
      for (let text = 0; text < 6; text++) await note((await sendText()).body.id);
      await note(textOf(await start()));
    };
    await someTexts();
    await carriers.putRoutes([both]);
    await someTexts();
    await carriers.bind('one', 'waiting');
    await someTexts();
    await carriers.setPaused('two', true);
    await someTexts();
    const before = await Promise.all(ids.map((id) => explain({ message_id: id })));
    for (const [index, id] of ids.entries()) assert.equal(before[index]?.chosen, rowsOf.get(id), id);
    await carriers.putRoutes([]);
    await carriers.setPaused('two', false);
    assert.equal((await operator.send('DELETE', `${carriersPath}/one?force=true`)).status, 204);
    await app.db.database.query(`update message set recipient = '+4477•••••123', body = null`);
    assert.deepEqual(await Promise.all(ids.map((id) => explain({ message_id: id }))), before);
  });
});

describe('POST …/routes/effect', () => {
  test('counts the texts of the last day that the routes would have refused, by country; nothing is saved', async () => {
    await carriers.connect('acme');
    const day = (daysAgo: number) => dayOf(app.clock.nowMs() - daysAgo * dayMs);
    const write = (country: string, sent: number, failed: number, daysAgo = 0) =>
      app.db.database.query(
        `insert into total_day (day, carrier, country, sender, application_id, node, revision, sent, failed)
         values ($1, 'acme#1', $2, 'ACME', $3, 'test', 0, $4, $5)`,
        [day(daysAgo), country, uuidOf(caller.id), sent, failed],
      );
    await app.db.database.query('truncate total_day');
    await write('GB', 10, 0);
    await write('DE', 5, 2);
    await write('DE', 1, 0, 1);
    await write('FR', 100, 0, 5);
    const effect = async (routes: unknown[]) => {
      const { status, body } = await operator.send('POST', `${path}/effect`, { routes });
      assert.equal(status, 200, JSON.stringify(body));
      return body;
    };
    assert.deepEqual(await effect([]), {
      ...{ texts: 18, refused: 0, unsure: 0 },
      countries: [
        { country: 'GB', texts: 10, refused: 0, unsure: 0 },
        { country: 'DE', texts: 8, refused: 0, unsure: 0 },
      ],
    });
    const first = await effect([route('uk', ['GB'], 'acme')]);
    assert.deepEqual(
      [first.refused, first.countries],
      [
        8,
        [
          { country: 'DE', texts: 8, refused: 8, unsure: 0 },
          { country: 'GB', texts: 10, refused: 0, unsure: 0 },
        ],
      ],
    );
    const bad = await operator.send('POST', `${path}/effect`, { routes: [route('uk', ['GB'], 'nowhere')] });
    assert.equal(bad.status, 400);
    assert.equal((await operator.send<Table>('GET', path)).body.routes.length, 0);
  });
});
