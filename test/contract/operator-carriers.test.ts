// Carriers, for operators: section 14 of the contract.
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { type BindState, writeBinds } from '../../src/delivery/carrier/bind-store.ts';
import { writeLog } from '../../src/delivery/carrier/log-store.ts';
import { carrierAccount, carrierKey, findCarrier } from '../../src/delivery/carrier/store.ts';
import { claimTest, type TestStep, writeTestStep } from '../../src/delivery/carrier/test-store.ts';
import { presetNames } from '../../src/delivery/http/presets/presets.ts';
import { type ConfiguredCarrier, watchCarriers } from '../../src/delivery/setup/watch.ts';
import { statusCode } from '../../src/messages/message-row.ts';
import { hourMs, minuteMs, toTimestamp } from '../../src/platform/clock.ts';
import { uuidOf } from '../../src/platform/ids.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { createCertificate } from '../support/certificates.ts';
import { type Answer, send, signUp, type TestDeveloper } from '../support/developer.ts';
import { eventually } from '../support/eventually.ts';
import { createTestLog } from '../support/log.ts';
import { createOperator } from '../support/operator.ts';
import { createSender, dumpAll, type Page, type Refusal } from '../support/texts.ts';

let app: TestApp;
let operator: TestDeveloper;
let developer: TestDeveloper;
before(async () => {
  app = await createTestApp({ delivery: 'held' });
  operator = await createOperator(app);
  developer = await signUp(app);
});
after(() => app.close());
beforeEach(() => app.db.database.query('truncate carrier, carrier_bind, carrier_log, carrier_test'));

const path = '/portal/v1/operator/carriers';
const settings = { host: '127.0.0.1', port: 2775, system_id: 'me', password: 'pass-Zq7', window: 20 };
interface Carrier {
  name: string;
  kind: string;
  paused: boolean;
  state: string;
  binds: Record<string, unknown>[];
  settings: Record<string, unknown>;
  version: number;
}
const create = (name: string, given: Record<string, unknown> = {}, kind = 'smpp') =>
  operator.send<Carrier & Refusal>('POST', path, { name, kind, settings: { ...settings, ...given } });
const read = async (name: string) => (await operator.send<Carrier>('GET', `${path}/${name}`)).body;
const change = (name: string, given: unknown) =>
  operator.send<Carrier & Refusal>('PATCH', `${path}/${name}`, { settings: given });
const fieldsOf = ({ body }: Answer<Refusal>) => body.details.map(({ field }) => field);
async function row(name: string) {
  const found = await findCarrier(app.db.database, name);
  assert.ok(found, `there is a carrier ${name}`);
  return found;
}

/** What a worker sees of the carriers. */
async function seenByWorker(): Promise<ConfiguredCarrier[]> {
  let seen: ConfiguredCarrier[] = [];
  const { log } = createTestLog();
  const onChange = (carriers: ConfiguredCarrier[]) => {
    seen = carriers;
  };
  await watchCarriers({ database: app.db.database, clock: app.clock, keys: app.keys, log, onChange }).refresh();
  return seen;
}

const bind = (state: BindState['state'], given: Partial<BindState> = {}): BindState => ({
  slot: 0,
  state,
  mode: 'transceiver',
  host: '127.0.0.1:2775',
  sinceMs: app.clock.nowMs(),
  error: null,
  nextTryAtMs: null,
  ...given,
});
const writeState = async (name: string, ...binds: BindState[]) =>
  writeBinds(app.db.database, { carrierId: (await row(name)).id, node: 'nod_a', binds }, app.clock.nowMs());

describe('POST /portal/v1/operator/carriers', () => {
  test('201: the carrier with all its settings, and without its password', async () => {
    const { status, body, headers } = await create('acme');
    assert.equal(status, 201);
    assert.equal(headers.get('location'), `${path}/acme`);
    assert.deepEqual(
      [body.name, body.kind, body.paused, body.state, body.binds, body.version],
      ['acme', 'smpp', false, 'not_running', [], 1],
    );
    const { window, port, binds, charsets, password_set, message_id, tls } = body.settings;
    assert.deepEqual(
      { window, port, binds, charsets, password_set, message_id, tls },
      {
        window: 20,
        port: 2775,
        binds: 1,
        charsets: ['gsm7/0', 'ucs2/8'],
        password_set: true,
        message_id: { response: 'exact', receipt: 'exact' },
        tls: false,
      },
    );
    assert.equal(JSON.stringify(body).includes(settings.password), false);
  });

  test('400: every bad field is named', async () => {
    const answer = await create('Acme!', {
      port: '2775',
      window: 0,
      host: 'http://somewhere/',
      system_id: '',
      passwort: 'x',
      tls: { ca: 'no PEM', cert: 'no PEM' },
      hosts: [{ port: 1 }],
    });
    assert.equal(answer.status, 400);
    assert.equal(answer.body.code, 'INVALID_ARGUMENT');
    assert.deepEqual(
      new Set(fieldsOf(answer)),
      new Set([
        'name',
        'settings.port',
        'settings.window',
        'settings.host',
        'settings.system_id',
        'settings.passwort',
        'settings.tls.ca',
        'settings.tls.cert',
        'settings.tls.key',
        'settings.hosts.0.host',
      ]),
    );
  });

  for (const name of ['a', 'sandbox', 'Acme', '1acme', 'acme_1', 'a'.repeat(33), '']) {
    test(`400: the name ${name || '(empty)'}`, async () => {
      const answer = await create(name);
      assert.deepEqual([answer.status, fieldsOf(answer)], [400, ['name']]);
    });
  }

  for (const kind of ['https', 'sandbox', 'SMPP', '']) {
    test(`400: the kind ${kind || '(empty)'}, and what is supported`, async () => {
      const answer = await operator.send<Refusal>('POST', path, { name: 'acme', kind, settings: {} });
      assert.deepEqual([answer.status, fieldsOf(answer)], [400, ['kind']]);
      assert.match(answer.body.message, /smpp/);
    });
  }

  for (const host of ['192.0.2.1', '10.0.0.1', '0.0.0.0', '169.254.169.254', '2001:db8::1', '::ffff:10.0.0.1', '::']) {
    test(`400: no text leaves the sandbox to ${host}`, async () => {
      const answer = await create('acme', { host });
      assert.deepEqual([answer.status, fieldsOf(answer)], [400, ['settings.host']]);
      const further = await create('acme', { hosts: [{ host: 'localhost' }, { host }] });
      assert.deepEqual([further.status, fieldsOf(further)], [400, ['settings.hosts.1.host']]);
    });
  }

  for (const host of ['localhost', '127.0.0.1', '127.1.2.3', '::1', '::ffff:127.0.0.1']) {
    test(`201: ${host} is on this machine`, async () => assert.equal((await create('acme', { host })).status, 201));
  }

  test('400: a name without an address', async () => {
    const answer = await create('acme', { host: 'nowhere.invalid' });
    assert.deepEqual([answer.status, fieldsOf(answer)], [400, ['settings.host']]);
    assert.match(answer.body.message, /could not be resolved/);
  });

  test('409: the name is taken; of two at once one gets it', async () => {
    const answers = await Promise.all(Array.from({ length: 5 }, () => create('acme')));
    const statuses = answers.map(({ status }) => status).sort((a, b) => a - b);
    assert.deepEqual(statuses, [201, 409, 409, 409, 409]);
    assert.equal(answers.find(({ status }) => status === 409)?.body.code, 'ALREADY_EXISTS');
  });

  test('a name used again is another carrier', async () => {
    await create('acme');
    const first = carrierKey(await row('acme'));
    assert.equal((await operator.send('DELETE', `${path}/acme`)).status, 204);
    assert.equal((await create('acme')).status, 201);
    assert.notEqual(carrierKey(await row('acme')), first);
  });
});

describe('secrets', () => {
  test('are in no answer, no row, no log and no trace', async () => {
    const password = 'hidden-8f3K';
    const before = app.logLines.length;
    const answers = [
      await create('acme', { password }),
      await change('acme', { window: 5 }),
      await operator.send('GET', path),
      await operator.send('GET', `${path}/acme`),
      await operator.send('GET', '/portal/v1/operator/health'),
      await send(app, 'GET', '/readyz'),
      await create('acme', { password, windows: 1 }),
      await change('acme', { password: 'x'.repeat(10) + password }),
    ];
    await app.app.metering.flush();
    const told = [JSON.stringify(answers.map(({ body }) => body)), await dumpAll(app), ...app.logLines.slice(before)];
    assert.equal(told.join('\n').includes(password), false);
    const hex = Buffer.from(password).toString('hex');
    assert.equal(told.join('\n').includes(hex), false, 'a bytea is shown as hexadecimal digits');
    const [seen] = await seenByWorker();
    assert.equal(seen?.settings.password, password, 'the worker has it');
  });

  test('a change that does not name the password keeps it; null removes it', async () => {
    await create('acme');
    const kept = await change('acme', { window: 30, password_set: true });
    assert.deepEqual([kept.status, kept.body.settings.password_set, kept.body.settings.window], [200, true, 30]);
    assert.equal((await seenByWorker())[0]?.settings.password, settings.password);
    const other = await change('acme', { password: 'other' });
    assert.equal(other.body.settings.password_set, true);
    assert.equal((await seenByWorker())[0]?.settings.password, 'other');
    const removed = await change('acme', { password: null });
    assert.equal(removed.body.settings.password_set, false);
    assert.equal((await seenByWorker())[0]?.settings.password, undefined);
  });

  test('a private key must belong to its certificate, and is not shown', async () => {
    const { cert, key } = createCertificate({ name: 'carrier.test' });
    const wrong = await create('acme', { tls: { cert, key: createCertificate({ name: 'carrier.test' }).key } });
    assert.deepEqual([wrong.status, fieldsOf(wrong)], [400, ['settings.tls.key']]);
    const alone = await create('acme', { tls: { cert } });
    assert.deepEqual([alone.status, fieldsOf(alone)], [400, ['settings.tls.key']]);
    const { status, body } = await create('acme', { tls: { cert, key, ca: cert } });
    assert.equal(status, 201);
    assert.deepEqual(body.settings.tls, { ca: cert, cert, key_set: true });
    const { password } = settings;
    const kept = await change('acme', { tls: { servername: 'smsc.example.com', key }, password });
    assert.deepEqual(kept.body.settings.tls, { ca: cert, cert, servername: 'smsc.example.com', key_set: true });
    assert.deepEqual((await seenByWorker())[0]?.settings.tls, { ca: cert, cert, key, servername: 'smsc.example.com' });
    const plain = await change('acme', { tls: false, password });
    assert.equal(plain.body.settings.tls, false);
  });
});

describe('PATCH /portal/v1/operator/carriers/{name}', () => {
  test('200: what is not named stays; null sets the default; the version rises', async () => {
    await create('acme', { per_second: 5, ton_npi: { national: { ton: 0, npi: 1 } } });
    const { status, body } = await change('acme', {
      window: null,
      per_second: 7,
      ton_npi: { short_code: { ton: 6, npi: 0 } },
    });
    assert.equal(status, 200);
    assert.deepEqual(
      [body.settings.window, body.settings.per_second, body.settings.ton_npi, body.version],
      [10, 7, { national: { ton: 0, npi: 1 }, short_code: { ton: 6, npi: 0 } }, 2],
    );
    assert.deepEqual((await read('acme')).settings, body.settings);
  });

  test('another host, port or system_id is another account; another window is not', async () => {
    await create('acme');
    const accountAfter = async (given: Record<string, unknown>) => {
      assert.equal((await change('acme', { password: 'x', ...given })).status, 200);
      return carrierAccount(await row('acme'));
    };
    const { id } = await row('acme');
    assert.equal(await accountAfter({ window: 3 }), `${id}.1`);
    assert.equal(await accountAfter({ host: 'localhost' }), `${id}.2`);
    assert.equal(await accountAfter({ port: 2776 }), `${id}.3`);
    assert.equal(await accountAfter({ system_id: 'you' }), `${id}.4`);
    assert.equal(await accountAfter({ hosts: [{ host: '127.0.0.1' }] }), `${id}.5`);
    assert.equal(await accountAfter({ hosts: [{ host: '127.0.0.1', port: 2775 }] }), `${id}.5`);
  });

  test('400: every bad field is named, and nothing is changed', async () => {
    const { body } = await create('acme');
    for (const [given, fields] of [
      [{ host: '192.0.2.1' }, ['settings.host']],
      [{ host: null }, ['settings.host']],
      [{ windows: 3, window: -1 }, ['settings.windows', 'settings.window']],
      ['no object', ['settings']],
    ] as const) {
      const answer = await change('acme', given);
      assert.equal(answer.status, 400, JSON.stringify(given));
      assert.deepEqual(new Set(fieldsOf(answer)), new Set(fields));
    }
    assert.deepEqual((await read('acme')).settings, body.settings);
  });

  test('changes at the same time are all kept', async () => {
    await create('acme');
    const all = [{ window: 3 }, { binds: 4 }, { system_type: 'sms' }];
    const answers = await Promise.all(all.map((given) => change('acme', given)));
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 200, 200],
    );
    const { window, binds, system_type } = (await read('acme')).settings;
    assert.deepEqual([window, binds, system_type], [3, 4, 'sms']);
  });

  test('404 for a carrier that is not there', async () => assert.equal((await change('acme', {})).status, 404));
});

describe('GET /portal/v1/operator/carriers', () => {
  test('200: the state of each bind, for as long as its worker writes', async () => {
    await create('acme', { binds: 2 });
    await writeState(
      'acme',
      bind('bound'),
      bind('waiting', {
        slot: 1,
        error: 'The carrier refused the password.',
        nextTryAtMs: app.clock.nowMs() + 60_000,
      }),
    );
    const { state, binds } = await read('acme');
    const at = toTimestamp(app.clock.nowMs());
    const later = toTimestamp(app.clock.nowMs() + 60_000);
    const shared = { node: 'nod_a', mode: 'transceiver', host: '127.0.0.1:2775', since: at };
    assert.equal(state, 'degraded');
    assert.deepEqual(binds, [
      { slot: 0, state: 'bound', ...shared, error: null, next_try_at: null },
      { slot: 1, state: 'waiting', ...shared, error: 'The carrier refused the password.', next_try_at: later },
    ]);
    const list = await operator.send<Page<Carrier>>('GET', path);
    assert.deepEqual(list.body.data[0]?.binds, binds);
    app.clock.advance(15_000);
    const gone = await read('acme');
    assert.deepEqual([gone.state, gone.binds], ['not_running', []]);
  });

  test('200: pages, newest first', async () => {
    for (const name of ['one', 'two', 'three']) await create(name);
    const first = await operator.send<Page<Carrier>>('GET', `${path}?limit=2`);
    assert.deepEqual(
      first.body.data.map(({ name }) => name),
      ['three', 'two'],
    );
    const second = await operator.send<Page<Carrier>>('GET', `${path}?limit=2&cursor=${first.body.next_cursor}`);
    assert.deepEqual([second.body.data.map(({ name }) => name), second.body.next_cursor], [['one'], null]);
    for (const cursor of [
      'x',
      Buffer.from('car_1').toString('base64url'),
      Buffer.from(`app_${'0'.repeat(26)}`).toString('base64url'),
    ]) {
      assert.equal((await operator.send('GET', `${path}?cursor=${cursor}`)).status, 400);
    }
  });

  test('operators see carriers in health, metrics and /readyz; a carrier that is down keeps /readyz at 200', async () => {
    await create('acme');
    await writeState('acme', bind('waiting', { error: 'It refused the connection.' }));
    const carriers = await eventually('the directory has read the rows', async () => {
      const { body } = await operator.send<{ carriers: Carrier[] }>('GET', '/portal/v1/operator/health');
      return body.carriers[0]?.state === 'down' && body.carriers;
    });
    assert.deepEqual(
      [carriers.length, carriers[0]?.name, carriers[0]?.binds[0]?.error],
      [1, 'acme', 'It refused the connection.'],
    );
    const ready = await eventually('/readyz is read anew', async () => {
      const answer = await send<{ status: string; carriers: Record<string, string> }>(app, 'GET', '/readyz');
      return answer.body.carriers.acme === 'down' && answer;
    });
    assert.deepEqual([ready.status, ready.body.status], [200, 'ready']);
    const metrics = await (await fetch(`${app.url}/metrics`)).text();
    assert.match(metrics, /^heliograph_carrier_binds\{carrier="acme",state="waiting"\} 1$/m);
  });
});

describe('POST …/pause and …/resume', () => {
  test('pause and resume return 200, also when repeated', async () => {
    await create('acme');
    for (const [act, paused, version] of [
      ['pause', true, 2],
      ['pause', true, 2],
      ['resume', false, 3],
      ['resume', false, 3],
    ] as const) {
      const { status, body } = await operator.send<Carrier>('POST', `${path}/acme/${act}`);
      assert.deepEqual([status, body.paused, body.version], [200, paused, version]);
    }
  });
});

describe('DELETE /portal/v1/operator/carriers/{name}', () => {
  test('a deleted carrier is gone with its secrets', async () => {
    await create('acme');
    const { id } = await row('acme');
    assert.equal((await operator.send('DELETE', `${path}/acme`)).status, 204);
    assert.equal((await operator.send('GET', `${path}/acme`)).status, 404);
    assert.deepEqual(await seenByWorker(), []);
    const { rows } = await app.db.database.query('select secrets from carrier where id = $1', [id]);
    assert.deepEqual(rows, [{ secrets: null }]);
  });

  test('409 while texts wait or receipts are awaited; ?force=true deletes it', async () => {
    await create('acme');
    const carrier = await row('acme');
    const sender = await createSender(app);
    const { database } = app.db;
    const { body: text } = await sender.sms({ to: '+15005550100' });
    const message = uuidOf(text.id);
    const refused = async () => {
      const answer = await operator.send<Refusal>('DELETE', `${path}/acme`);
      assert.equal(answer.status, 409);
      assert.equal(answer.body.code, 'INCOMPATIBLE_STATE');
      assert.match(answer.body.message, /force=true/);
    };
    await database.query('update delivery_queue set carrier = $1 where message_id = $2', [
      carrierKey(carrier),
      message,
    ]);
    await refused();
    await database.query('delete from delivery_queue where message_id = $1', [message]);
    const sentAt = toTimestamp(app.clock.nowMs());
    await insertSent(carrierAccount(carrier), message, sentAt);
    const setStatus = (status: unknown) =>
      database.query(`update message set status = $2, sent_at = $3 where id = $1`, [message, status, sentAt]);
    await setStatus(statusCode('sent'));
    await refused();
    await change('acme', { system_id: 'other' });
    await refused();
    assert.equal((await operator.send('DELETE', `${path}/acme?force=yes`)).status, 400);
    assert.equal((await operator.send('DELETE', `${path}/acme?force=true`)).status, 204);
  });

  test('204 once the receipt has come, or can come no more', async () => {
    const sender = await createSender(app);
    const { database } = app.db;
    for (const [status, sentAtMs] of [
      ['delivered', app.clock.nowMs()],
      ['sent', app.clock.nowMs() - 73 * hourMs],
    ] as const) {
      await create('acme');
      const carrier = await row('acme');
      const { body: text } = await sender.sms({ to: '+15005550100' });
      const message = uuidOf(text.id);
      await insertSent(carrierAccount(carrier), message, toTimestamp(sentAtMs));
      await database.query('update message set status = $2 where id = $1', [message, statusCode(status)]);
      assert.equal((await operator.send('DELETE', `${path}/acme`)).status, 204, status);
    }
  });
});

function insertSent(account: string, messageId: string, sentAt: string) {
  return app.db.database.query(
    `insert into sent_text (account, receipt_key, message_id, sent_at) values ($1, 'id', $2, $3)`,
    [account, messageId, sentAt],
  );
}

describe('POST …/test', () => {
  const test1 = { to: '+44 7700 900123', from: 'ACME', message: 'Hello' };
  interface Report {
    status: string;
    to: string;
    steps: Record<string, unknown>[];
    error: string | null;
    finished_at: string | null;
  }

  test('202, and its steps as a worker writes them', async () => {
    await create('acme');
    const { status, body, headers } = await operator.send<{ id: string }>('POST', `${path}/acme/test`, test1);
    assert.equal(status, 202);
    assert.equal(headers.get('location'), `${path}/acme/test/${body.id}`);
    const report = async () => (await operator.send<Report>('GET', `${path}/acme/test/${body.id}`)).body;
    assert.deepEqual([(await report()).status, (await report()).steps], ['waiting', []]);
    assert.equal((await seenByWorker())[0]?.testWaiting, true);
    const { id } = await row('acme');
    const claimed = await claimTest(app.db.database, id, app.clock.nowMs());
    assert.deepEqual(
      [claimed?.id, claimed?.to, claimed?.from, claimed?.message],
      [body.id, '+447700900123', 'ACME', 'Hello'],
    );
    const write = (step: TestStep['step'], ok: boolean) =>
      writeTestStep(app.db.database, body.id, { step, ok, detail: `About ${step}.`, tookMs: 4.2 }, app.clock.nowMs());
    await write('name', true);
    const running = await report();
    assert.deepEqual(
      [running.status, running.steps, running.to],
      ['running', [{ step: 'name', ok: true, detail: 'About name.', took_ms: 4 }], '+4477•••••123'],
    );
    for (const step of ['connection', 'tls', 'bind', 'text', 'receipt'] as const) await write(step, true);
    const passed = await report();
    assert.deepEqual([passed.status, passed.steps.length, passed.error], ['passed', 6, null]);
    assert.equal(passed.finished_at, toTimestamp(app.clock.nowMs()));
  });

  test('a failed step ends it', async () => {
    await create('acme');
    const { body } = await operator.send<{ id: string }>('POST', `${path}/acme/test`, { to: '+447700900123' });
    await claimTest(app.db.database, (await row('acme')).id, app.clock.nowMs());
    const step: TestStep = { step: 'name', ok: false, detail: 'The name has no address.', tookMs: 1 };
    await writeTestStep(app.db.database, body.id, step, app.clock.nowMs());
    const report = await operator.send<Report>('GET', `${path}/acme/test/${body.id}`);
    assert.equal(report.body.status, 'failed');
  });

  test('without a worker, or when the worker dies, it fails and says so', async () => {
    await create('acme');
    const start = async () => (await operator.send<{ id: string }>('POST', `${path}/acme/test`, test1)).body.id;
    const report = async (id: string) => (await operator.send<Report>('GET', `${path}/acme/test/${id}`)).body;
    const alone = await start();
    app.clock.advance(30_000);
    assert.deepEqual(
      [(await report(alone)).status, (await report(alone)).error?.includes('No worker')],
      ['failed', true],
    );
    const broken = await start();
    await claimTest(app.db.database, (await row('acme')).id, app.clock.nowMs());
    app.clock.advance(4 * minuteMs);
    assert.deepEqual(
      [(await report(broken)).status, (await report(broken)).error?.includes('has stopped')],
      ['failed', true],
    );
  });

  test('400 for a number, sender or text that cannot be sent', async () => {
    await create('acme');
    const bad = { to: '07700900123', from: 'much too long a sender'.slice(0, 15), message: '' };
    const answer = await operator.send<Refusal>('POST', `${path}/acme/test`, bad);
    assert.deepEqual([answer.status, fieldsOf(answer)], [400, ['to', 'from', 'message']]);
  });

  test("404 for another carrier's test", async () => {
    await create('acme');
    await create('other');
    const { body } = await operator.send<{ id: string }>('POST', `${path}/acme/test`, test1);
    assert.equal((await operator.send('GET', `${path}/other/test/${body.id}`)).status, 404);
    assert.equal((await operator.send('GET', `${path}/acme/test/tst_x`)).status, 404);
    assert.equal((await operator.send('POST', `${path}/nobody/test`, test1)).status, 404);
  });
});

describe('GET …/log', () => {
  const entry = {
    at: '2026-11-16T03:12:10.123Z',
    slot: 0,
    direction: 'out',
    command: 'submit_sm',
    status: 0,
    sequence: 7,
    message_id: 'msg_1',
    carrier_message_id: null,
    number_ends: '123',
    reported: null,
  } as const;

  test('200: empty while no worker runs it', async () => {
    await create('acme');
    const { status, body } = await operator.send('GET', `${path}/acme/log`);
    assert.deepEqual([status, body], [200, { data: [], next_cursor: null }]);
  });

  test('200: the workers write it when they are asked; newest first', async () => {
    await create('acme');
    await writeState('acme', bind('bound'));
    const { id: carrierId } = await row('acme');
    const asked = operator.send<Page<Record<string, unknown>>>('GET', `${path}/acme/log`);
    const wantedAtMs = await eventually(
      'the log is wanted',
      async () => (await row('acme')).logWantedAtMs ?? undefined,
    );
    const later = { ...entry, at: '2026-11-16T03:12:10.124Z', command: 'submit_sm_resp', direction: 'in' as const };
    const secret = { ...entry, at: '2026-11-16T03:12:10.122Z', password: 'hidden' };
    const entries = [secret, entry, later];
    await writeLog(app.db.database, { carrierId, node: 'nod_a', wantedAtMs, entries }, app.clock.nowMs());
    const { body } = await asked;
    assert.deepEqual(
      body.data.map(({ at, command, node }) => [at, command, node]),
      [
        [later.at, 'submit_sm_resp', 'nod_a'],
        [entry.at, 'submit_sm', 'nod_a'],
        [secret.at, 'submit_sm', 'nod_a'],
      ],
    );
    assert.deepEqual(body.data[1], { ...entry, node: 'nod_a', meaning: null });
    assert.equal(JSON.stringify(body).includes('hidden'), false, 'only what the reference names');
  });
});

describe('GET /portal/v1/operator/carrier-presets', () => {
  const presetsPath = '/portal/v1/operator/carrier-presets';
  interface Preset {
    name: string;
    base: string | null;
    base_help: string | null;
    fields: { name: string; help: string; secret: boolean; required: boolean; choices: string[] | null }[];
  }

  test('200: what a page has to ask for; a carrier with just that is checked like any other', async () => {
    const { status, body } = await operator.send<Page<Preset>>('GET', presetsPath);
    assert.equal(status, 200);
    assert.deepEqual(
      body.data.map(({ name }) => name),
      [...presetNames],
    );
    for (const preset of body.data) {
      const { status: refused, body: refusal } = await operator.send<Refusal>('POST', path, {
        name: 'asked',
        kind: 'http',
        settings: { preset: preset.name, allow_private: true, base: 'http://127.0.0.1:1' },
      });
      const missing = preset.fields.filter(({ required }) => required).map(({ name }) => `settings.${name}`);
      assert.equal(refused, 400, preset.name);
      assert.deepEqual(new Set(refusal.details.map(({ field }) => field)), new Set(missing), preset.name);
      assert.ok(preset.base !== null || preset.base_help !== null, `${preset.name} says where its API is`);
    }
  });

  test('404 for a developer and for visitors', async () => {
    assert.equal((await developer.send('GET', presetsPath)).status, 404);
    assert.equal((await send(app, 'GET', presetsPath)).status, 404);
  });
});

describe('only for operators', () => {
  const calls = [
    ['POST', path],
    ['GET', path],
    ['GET', `${path}/acme`],
    ['PATCH', `${path}/acme`],
    ['DELETE', `${path}/acme`],
    ['POST', `${path}/acme/pause`],
    ['POST', `${path}/acme/resume`],
    ['POST', `${path}/acme/try`],
    ['POST', `${path}/acme/test`],
    ['GET', `${path}/acme/test/tst_1`],
    ['GET', `${path}/acme/log`],
  ] as const;
  for (const [method, url] of calls) {
    test(`404 for a developer and for visitors: ${method} ${url}`, async () => {
      await create('acme');
      const body = method === 'POST' || method === 'PATCH' ? { name: 'other', kind: 'smpp', settings } : undefined;
      assert.equal((await developer.send(method, url, body)).status, 404);
      assert.equal((await send(app, method, url, { body })).status, 404);
      assert.equal((await read('acme')).version, 1);
    });
  }

  test('404 for operators where there is no such carrier', async () => {
    for (const [method, url] of calls.filter(([, each]) => each !== path)) {
      const body = url.endsWith('/test') ? { to: '+447700900123' } : method === 'PATCH' ? { settings: {} } : undefined;
      assert.equal((await operator.send(method, url, body)).status, 404, `${method} ${url}`);
    }
  });
});
