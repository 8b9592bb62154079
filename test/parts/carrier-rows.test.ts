// The rows of carriers, as workers and web nodes follow them.
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { type BindState, readBinds, writeBinds } from '../../src/delivery/carrier/bind-store.ts';
import { readLogs, writeLog } from '../../src/delivery/carrier/log-store.ts';
import {
  type CarrierRow,
  carrierKey,
  changeCarrier,
  deleteCarrier,
  insertCarrier,
  newCarrierId,
  notifyCarriers,
  pauseCarrier,
  wantLog,
} from '../../src/delivery/carrier/store.ts';
import {
  type CarrierTest,
  claimTest,
  deleteOldTests,
  findTest,
  insertTest,
  type TestStep,
  writeTestStep,
} from '../../src/delivery/carrier/test-store.ts';
import { type CarrierDirectory, createCarrierDirectory } from '../../src/delivery/routing/directory.ts';
import { route } from '../../src/delivery/routing/routing.ts';
import { emptyTable, type RouteTable } from '../../src/delivery/routing/table.ts';
import { insertTable } from '../../src/delivery/routing/table-store.ts';
import { sealSecrets } from '../../src/delivery/setup/secrets.ts';
import { type ConfiguredCarrier, watchCarriers } from '../../src/delivery/setup/watch.ts';
import { dayMs, toTimestamp } from '../../src/platform/clock.ts';
import type { OpenKeyRing } from '../../src/platform/crypto/open-key-ring.ts';
import { createDatabase } from '../../src/platform/database/database.ts';
import { createTestClock, type TestClock } from '../support/clock.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { createDeliverySteps } from '../support/delivery-steps.ts';
import { eventually } from '../support/eventually.ts';
import { openTestKeyRing } from '../support/key-ring.ts';
import { createTestLog } from '../support/log.ts';
import { acceptMessages } from '../support/recording-carrier.ts';
import { routeFacts, routeRule } from '../support/routes.ts';

let db: TestDatabase;
let clock: TestClock;
let keys: OpenKeyRing;
const { log } = createTestLog();
before(async () => {
  db = await createTestDatabase();
  clock = createTestClock();
  keys = await openTestKeyRing(db.database, clock);
});
beforeEach(async () => {
  await db.database.query('truncate carrier, carrier_bind, carrier_log, carrier_test, route_table');
});
after(() => db.drop());

const settings = { host: 'localhost', port: 2775, tls: false, system_id: 'me', binds: 2 };

function add(name: string, password = 'secret') {
  return db.database.transaction(async (tx) => {
    const id = await newCarrierId(tx);
    const secrets = sealSecrets(keys, id, { password });
    const smpp = { id, name, kind: 'smpp', settings, secrets, callback: null } as const;
    const row = await insertCarrier(tx, smpp, clock.nowMs());
    await notifyCarriers(tx);
    return row;
  });
}

const bind = (slot: number, state: BindState['state']): BindState => ({
  slot,
  state,
  mode: 'transceiver',
  host: '127.0.0.1:2775',
  sinceMs: clock.nowMs(),
  error: null,
  nextTryAtMs: null,
});
const write = (carrierId: number, ...binds: BindState[]) =>
  writeBinds(db.database, { carrierId, node: 'nod_a', binds }, clock.nowMs());

function firstChoice(directory: CarrierDirectory): string | undefined {
  const decision = route(routeFacts(), directory.table(), directory.list());
  return decision.outcome === 'routed' ? decision.candidates[0]?.key : undefined;
}

describe('a pause', () => {
  test('acts with its commit: no worker claims a text after it, until the resume', async () => {
    const [paused, other] = [await add('paused'), await add('other')];
    for (const row of [paused, other]) {
      await acceptMessages({ database: db.database, clock, carrier: carrierKey(row) }, 1);
    }
    const claimFrom = (row: CarrierRow) => createDeliverySteps(db.database, clock, carrierKey(row)).claim();
    await pauseCarrier(db.database, 'paused', true, clock.nowMs());
    assert.equal(await claimFrom(paused), undefined);
    assert.equal((await claimFrom(other))?.texts.length, 1);
    await pauseCarrier(db.database, 'paused', false, clock.nowMs());
    assert.equal((await claimFrom(paused))?.texts.length, 1);
  });

  test('a carrier that has the name of a deleted one holds none of its texts', async () => {
    const deleted = await add('acme');
    await acceptMessages({ database: db.database, clock, carrier: carrierKey(deleted) }, 1);
    await deleteCarrier(db.database, deleted.id, clock.nowMs());
    await add('acme');
    await pauseCarrier(db.database, 'acme', true, clock.nowMs());
    const claim = await createDeliverySteps(db.database, clock, carrierKey(deleted)).claim();
    assert.equal(claim?.texts.length, 1);
  });
});

describe('the directory', () => {
  let directory: CarrierDirectory;
  beforeEach(() => {
    directory = createCarrierDirectory({ database: db.database, clock, log });
  });

  test('knows no carrier until there is one, and hears of it without being asked', async () => {
    await directory.start();
    assert.equal(firstChoice(directory), undefined);
    const row = await add('acme');
    await eventually('the carrier is known', () => firstChoice(directory) === carrierKey(row));
    await directory.stop();
  });

  test('a carrier is up while one of its binds can send, and down when its worker no longer writes', async () => {
    const { id } = await add('acme');
    const state = async () => {
      await directory.refresh();
      const [carrier] = directory.list();
      return [carrier?.state, carrier?.up];
    };
    assert.deepEqual(await state(), ['not_running', false]);
    await write(id, bind(0, 'connecting'), bind(1, 'waiting'));
    assert.deepEqual(await state(), ['down', false]);
    await write(id, bind(0, 'bound'));
    assert.deepEqual(await state(), ['degraded', true]);
    await write(id, bind(1, 'degraded'));
    assert.deepEqual(await state(), ['degraded', true]);
    await write(id, bind(1, 'bound'));
    assert.deepEqual(await state(), ['up', true]);
    clock.advance(15_000);
    assert.deepEqual(await state(), ['not_running', false]);
  });

  test('the first that is up takes the text; a paused or deleted one does not', async () => {
    const first = await add('a');
    const second = await add('b');
    await write(first.id, bind(0, 'waiting'));
    await write(second.id, bind(0, 'bound'));
    const carrierFor = async () => {
      await directory.refresh();
      return firstChoice(directory);
    };
    assert.equal(await carrierFor(), carrierKey(second));
    await pauseCarrier(db.database, 'b', true, clock.nowMs());
    assert.equal(await carrierFor(), carrierKey(first));
    await write(first.id, bind(0, 'bound'));
    await pauseCarrier(db.database, 'b', false, clock.nowMs());
    assert.equal(await carrierFor(), carrierKey(first));
    await deleteCarrier(db.database, first.id, clock.nowMs());
    assert.equal(await carrierFor(), carrierKey(second));
  });

  test('"all down" counts from when this node saw the last of them stop', async () => {
    const first = await add('a');
    const second = await add('b');
    const keys = [carrierKey(first), carrierKey(second)];
    const allDownFor = (ms: number) => directory.areDownFor(keys, ms);
    await write(first.id, bind(0, 'bound'));
    await directory.refresh();
    assert.equal(allDownFor(0), false);
    clock.advance(5000);
    await write(first.id, bind(0, 'waiting'));
    await directory.refresh();
    clock.advance(29_999);
    await directory.refresh();
    assert.equal(allDownFor(30_000), false);
    clock.advance(1);
    assert.equal(allDownFor(30_000), true);
    await write(second.id, bind(0, 'bound'));
    await directory.refresh();
    assert.equal(allDownFor(30_000), false);
    await pauseCarrier(db.database, 'b', true, clock.nowMs());
    await directory.refresh();
    clock.advance(30_000);
    assert.equal(allDownFor(30_000), true, 'a paused carrier sends nothing');
  });

  test('a carrier that worked for less than 15 s, like one that is being probed, has been down all the time', async () => {
    const { id, ...row } = await add('a');
    const isDownFor = (ms: number) => directory.areDownFor([carrierKey({ id, ...row })], ms);
    await directory.refresh();
    clock.advance(30_000);
    await directory.refresh();
    await write(id, bind(0, 'bound'));
    await directory.refresh();
    assert.equal(isDownFor(0), false, 'it works');
    await write(id, bind(0, 'waiting'));
    await directory.refresh();
    assert.equal(isDownFor(30_000), true, 'as failover sees it too');
  });

  test('the list stays as it was while the database is away', async () => {
    const row = await add('acme');
    const away = createDatabase({ connection: db.connection, log, poolSize: 1 });
    const lonely = createCarrierDirectory({ database: away, clock, log });
    await lonely.refresh();
    await away.close();
    await lonely.refresh();
    assert.equal(firstChoice(lonely), carrierKey(row));
  });
});

describe('the routes', () => {
  const write = (version: number, ...carriers: string[]) =>
    db.database.transaction(async (tx) => {
      await insertTable(tx, { version, routes: [routeRule(carriers)], createdBy: 'test' }, clock.nowMs());
      await notifyCarriers(tx);
    });

  test('web nodes and workers hear of a new table without being asked', async () => {
    await add('acme');
    const directory = createCarrierDirectory({ database: db.database, clock, log });
    let table: RouteTable | undefined;
    const onChange = (_: ConfiguredCarrier[], routes: RouteTable) => {
      table = routes;
    };
    const watch = watchCarriers({ database: db.database, clock, keys, log, onChange });
    await Promise.all([directory.start(), watch.start()]);
    assert.deepEqual([directory.table(), table], [emptyTable, emptyTable]);
    await write(1, 'acme');
    await eventually('both know it', () => directory.table().version === 1 && table?.version === 1);
    assert.deepEqual(directory.table().routes, [routeRule(['acme'])]);
    await Promise.all([directory.stop(), watch.stop()]);
  });

  test('without a NOTIFY they find it at the next read; a table that names a carrier that is gone is used as it is', async () => {
    const directory = createCarrierDirectory({ database: db.database, clock, log });
    await insertTable(db.database, { version: 1, routes: [routeRule(['gone'])], createdBy: 'test' }, clock.nowMs());
    const row = await add('acme');
    await directory.refresh();
    assert.equal(directory.table().version, 1);
    assert.equal(firstChoice(directory), undefined);
    await write(2, 'acme');
    await directory.refresh();
    assert.equal(firstChoice(directory), carrierKey(row));
  });

  test('of callers with the same version one is refused by the key', async () => {
    const results = await Promise.allSettled(Array.from({ length: 5 }, () => write(1, 'acme')));
    assert.equal(results.filter(({ status }) => status === 'fulfilled').length, 1);
  });
});

describe('a worker', () => {
  test('gets every carrier with its secrets, and each change', async () => {
    const row = await add('acme', 'first password');
    let seen: ConfiguredCarrier[] = [];
    const lists: ConfiguredCarrier[][] = [];
    const onChange = (carriers: ConfiguredCarrier[]) => {
      seen = carriers;
      lists.push(carriers);
    };
    const watch = watchCarriers({ database: db.database, clock, keys, log, onChange });
    await watch.start();
    const [first] = seen;
    assert.deepEqual(
      [first?.key, first?.account, first?.settings.password, first?.version],
      [carrierKey(row), `${row.id}.1`, 'first password', 1],
    );

    const secrets = sealSecrets(keys, row.id, { password: 'second password' });
    await db.database.transaction(async (tx) => {
      const change = { id: row.id, version: 1, settings, secrets, isOtherAccount: true };
      assert.ok(await changeCarrier(tx, change, clock.nowMs()), 'the version is the newest');
      await notifyCarriers(tx);
    });
    await eventually('the change is seen', () => seen[0]?.version === 2);
    assert.deepEqual([seen[0]?.account, seen[0]?.settings.password], [`${row.id}.2`, 'second password']);

    await wantLog(db.database, row.id, clock.nowMs());
    await watch.refresh();
    assert.equal(seen[0]?.logWantedAtMs, clock.nowMs());
    const reports = lists.length;
    await watch.refresh();
    assert.equal(lists.length, reports, 'nothing changed, so nothing is said');

    await deleteCarrier(db.database, row.id, clock.nowMs());
    await watch.refresh();
    assert.deepEqual(seen, []);
    await watch.stop();
  });

  test('a carrier whose secrets cannot be opened is left out, and the others work on', async () => {
    await add('good');
    const bad = await add('bad');
    // Sealed for another row.
    await db.database.query(
      `update carrier set secrets = (select secrets from carrier where name = 'good') where id = $1`,
      [bad.id],
    );
    let seen: ConfiguredCarrier[] = [];
    const onChange = (carriers: ConfiguredCarrier[]) => {
      seen = carriers;
    };
    await watchCarriers({ database: db.database, clock, keys, log, onChange }).refresh();
    assert.deepEqual(
      seen.map(({ name }) => name),
      ['good'],
    );
  });

  test('takes a test once, writes its steps, and the last one ends it', async () => {
    const { id: carrierId } = await add('acme');
    const test = { id: 'tst_1', carrierId, to: '+447700900123', from: 'ACME', message: 'Hello' };
    await insertTest(db.database, test, clock.nowMs());
    const taken = await Promise.all([1, 2, 3].map(() => claimTest(db.database, carrierId, clock.nowMs())));
    assert.deepEqual(
      taken.filter((each) => each !== undefined),
      [test],
    );
    const step = (name: TestStep['step'], ok: boolean): TestStep => ({ step: name, ok, detail: 'Said.', tookMs: 3 });
    await writeTestStep(db.database, test.id, step('name', true), clock.nowMs());
    const read = async () => (await findTest(db.database, carrierId, test.id)) as CarrierTest;
    assert.equal((await read()).finishedAtMs, null);
    await writeTestStep(db.database, test.id, step('connection', false), clock.nowMs());
    await writeTestStep(db.database, test.id, step('bind', true), clock.nowMs());
    assert.deepEqual((await read()).steps, [step('name', true), step('connection', false)]);
    assert.equal((await read()).finishedAtMs, clock.nowMs());
    clock.advance(dayMs + 1);
    assert.equal(await deleteOldTests(db.database, clock.nowMs()), 1);
  });

  test('an old test is not begun', async () => {
    const { id: carrierId } = await add('acme');
    const test = { id: 'tst_2', carrierId, to: '+447700900123', from: 'ACME', message: 'Hello' };
    await insertTest(db.database, test, clock.nowMs());
    clock.advance(30_000);
    assert.equal(await claimTest(db.database, carrierId, clock.nowMs()), undefined);
  });

  test('the log of a worker names the request that it answers, and has 200 entries at most', async () => {
    const { id: carrierId } = await add('acme');
    const wantedAtMs = await wantLog(db.database, carrierId, clock.nowMs());
    assert.equal(await wantLog(db.database, carrierId, clock.nowMs()), wantedAtMs + 1, 'a later request is later');
    const entry = { slot: 0, direction: 'out', command: 'submit_sm', status: 0, message_id: null } as const;
    const entries = Array.from({ length: 250 }, (_, sequence) => ({
      ...entry,
      at: toTimestamp(sequence),
      sequence,
      carrier_message_id: null,
      number_ends: '123',
      reported: null,
    }));
    await writeLog(db.database, { carrierId, node: 'nod_a', wantedAtMs, entries }, clock.nowMs());
    const [written] = await readLogs(db.database, carrierId);
    assert.deepEqual(
      [written?.wantedAtMs, written?.entries.length, written?.entries.at(-1)?.sequence],
      [wantedAtMs, 200, 249],
    );
  });

  test('two workers that write the same slots do not deadlock; the last one holds them', async () => {
    const { id: carrierId } = await add('acme');
    const slots = [0, 1, 2, 3, 4, 5, 6, 7];
    await Promise.all(
      Array.from({ length: 20 }, (_, turn) => {
        const binds = (turn % 2 === 0 ? slots : slots.toReversed()).map((slot) => bind(slot, 'bound'));
        return writeBinds(db.database, { carrierId, node: `nod_${turn % 2}`, binds }, clock.nowMs());
      }),
    );
    assert.equal((await readBinds(db.database, [carrierId], clock.nowMs())).length, slots.length);
  });
});
