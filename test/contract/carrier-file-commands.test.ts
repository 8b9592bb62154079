// `npm run carriers` with routes, senders and numbers: section 14 of the contract.
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, describe, test } from 'node:test';
import { readCarriers } from '../../src/delivery/carrier/store.ts';
import { readNewestTable } from '../../src/delivery/routing/table-store.ts';
import { listNumbers } from '../../src/inbound/own-number-store.ts';
import { listSenders } from '../../src/registry/sender-store.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { runIn } from '../support/commands.ts';
import { eventually } from '../support/eventually.ts';
import { createSender, type Sender } from '../support/texts.ts';

let app: TestApp;
let folder: string;
let owner: Sender;
before(async () => {
  app = await createTestApp({ delivery: 'held' });
  owner = await createSender(app);
  folder = await mkdtemp(join(tmpdir(), 'heliograph-file-'));
});
after(async () => {
  await app.close();
  await rm(folder, { recursive: true });
});
beforeEach(() =>
  app.db.database.query(
    'truncate carrier, carrier_bind, carrier_log, carrier_test, route_table, sender, own_number, delivery_queue',
  ),
);

async function carriers(...args: string[]): Promise<string> {
  const said: string[] = [];
  const last = await runIn({ say: (text) => void said.push(text) }, app, 'carriers', ...args);
  return [...said, last].join('\n');
}

async function apply(file: unknown, ...flags: string[]): Promise<string> {
  const path = join(folder, 'file.json');
  await writeFile(path, JSON.stringify(file));
  return carriers('apply', path, ...flags);
}

const smpp = (name: string) => ({ name, kind: 'smpp', settings: { host: '127.0.0.1', port: 2775, system_id: 'me' } });
const routes = [
  { name: 'uk', match: { countries: ['GB'] }, carriers: [{ carrier: 'acme', weight: 2 }], failover: ['beta'] },
  { name: 'rest', carriers: [{ carrier: 'beta' }] },
];
const whole = () => ({
  carriers: [smpp('acme'), smpp('beta')],
  routes,
  senders: [{ sender: 'ACME', application_id: owner.id, countries: ['GB'], carriers: ['acme'], per_second: 5 }],
  numbers: [{ number: '+44 7700 900000', application_id: owner.id, api: 'sms', keyword: 'JOIN', carrier: 'beta' }],
});

const table = async () => await readNewestTable(app.db.database);
const senders = () => listSenders(app.db.database, owner.id);
const numbers = () => listNumbers(app.db.database, {}, { limit: 100, after: undefined });
const names = async () => (await readCarriers(app.db.database)).map(({ name }) => name);

describe('apply', () => {
  test('makes carriers, routes, senders and numbers of one file; the same file again changes nothing', async () => {
    const sender = `sender ACME of ${owner.id} for GB`;
    const first = await apply(whole());
    assert.match(
      first,
      new RegExp(
        `^acme: new\nbeta: new\nroute uk: new\nroute rest: new\n${sender}: new\nnumber \\+447700900000 JOIN by beta: new\n`,
      ),
    );
    assert.deepEqual(
      (await table())?.routes.map(({ name, failover }) => [name, failover]),
      [
        ['uk', ['beta']],
        ['rest', []],
      ],
    );
    assert.deepEqual(
      (await senders()).map(({ sender: name, status, carriers: by, perSecond }) => [name, status, by, perSecond]),
      [['ACME', 'approved', ['acme'], 5]],
    );
    assert.deepEqual(
      (await numbers()).map(({ number, keyword, carrier, applicationId }) => [number, keyword, carrier, applicationId]),
      [['+447700900000', 'JOIN', 'beta', owner.id]],
    );
    const again = await apply(whole());
    assert.equal((again.match(/: unchanged/g) ?? []).length, 6, again);
    assert.equal((await table())?.version, 1);
    const { rows } = await app.db.database.query<{ act: string }>(
      `select act from audit where actor_kind = 'machine' order by id desc limit 5`,
    );
    assert.deepEqual(
      rows.map(({ act }) => act).reverse(),
      ['carrier.created', 'carrier.created', 'routes.replaced', 'sender.approved', 'number.given'],
      'the audit log has each change once',
    );
  });

  test('export writes what apply reads', async () => {
    await apply(whole());
    const exported = JSON.parse(await carriers('export')) as Record<string, unknown[]>;
    assert.deepEqual(exported.routes, [
      { name: 'uk', match: { countries: ['GB'] }, carriers: [{ carrier: 'acme', weight: 2 }], failover: ['beta'] },
      { name: 'rest', match: {}, carriers: [{ carrier: 'beta', weight: 1 }] },
    ]);
    assert.equal((await apply(exported)).match(/: unchanged/g)?.length, 6);
    await app.db.database.query(
      'truncate carrier, carrier_bind, carrier_log, carrier_test, route_table, sender, own_number',
    );
    assert.equal((await apply(exported)).match(/: new/g)?.length, 6);
  });

  test('routes of a file replace the list; what the file does not name stays unless --prune is given', async () => {
    await apply(whole());
    const said = await apply({ routes: [{ ...routes[1], from: 'INFO' }, routes[0]] });
    assert.match(said, /route rest: from: null → "INFO"\nroute uk: unchanged\nroutes: order changed to rest, uk/);
    assert.equal((await senders()).length + (await numbers()).length + (await names()).length, 4);
    const pruned = await apply({ carriers: [smpp('beta')], routes: [routes[1]], senders: [], numbers: [] }, '--prune');
    assert.match(pruned, /route uk: deleted/);
    assert.match(
      pruned,
      /number \+447700900000 JOIN by beta: deleted\nsender ACME of app_\w+ for GB: deleted\nacme: deleted/,
    );
    assert.deepEqual([await names(), await senders(), await numbers()], [['beta'], [], []]);
    // A section that is not there is left alone.
    await apply(whole());
    await apply({ carriers: [smpp('acme'), smpp('beta')] }, '--prune');
    assert.deepEqual([(await table())?.routes.length, (await senders()).length, (await numbers()).length], [2, 1, 1]);
  });

  test('apply --dry-run lists every change and makes none', async () => {
    const said = await apply(whole(), '--dry-run', '--prune');
    assert.equal(said.match(/: new/g)?.length, 6);
    assert.deepEqual([await names(), await table(), await senders(), await numbers()], [[], undefined, [], []]);
  });

  test('an operator’s file approves what a developer has asked for; what it does not say of a sender stays', async () => {
    await apply(whole());
    await app.db.database.query(`update sender set status = 'pending', registration = 'REG-1'`);
    assert.match(await apply(whole()), /for GB: pending → approved/);
    const [plain] = whole().senders.map(({ sender, application_id, countries }) => ({
      sender,
      application_id,
      countries,
    }));
    assert.match(await apply({ senders: [plain] }), /for GB: unchanged/);
    const [kept] = await senders();
    assert.deepEqual([kept?.registration, kept?.perSecond, kept?.carriers], ['REG-1', 5, ['acme']]);
  });

  test('everything that is wrong is named, and nothing is changed', async () => {
    const bad = {
      carriers: [smpp('acme')],
      routes: [{ name: 'x', carriers: [{ carrier: 'nowhere' }] }],
      senders: [
        { sender: 'ACME', application_id: 'app_x', countries: ['XX'] },
        { sender: 'ACME', application_id: 'app_01jcq000000000000000000000', countries: [] },
        { sender: 'ACME', application_id: owner.id, countries: [], carriers: ['nowhere'], per_second: 0 },
      ],
      numbers: [
        { number: '12', application_id: owner.id },
        { number: '80123', application_id: owner.id, carrier: 'nowhere', ignored_words: ['STOP'] },
      ],
    };
    await assert.rejects(apply(bad), ({ message }: Error) => {
      assert.match(message, /^Nothing has been changed:/);
      for (const part of [
        'routes.0.carriers.0.carrier must be the name of an existing carrier',
        'senders.0.countries.0 must be an ISO country code',
        'senders.1.application_id must be the id of an existing application',
        'senders.2.per_second must be',
        'senders.2.carriers.0 must be the name of an existing carrier',
        'numbers.0.number must be',
        'numbers.1.carrier must be the name of a carrier',
        'numbers.1.ignored_words must be among',
      ])
        assert.ok(message.includes(part), `${part}\n${message}`);
      return true;
    });
    assert.deepEqual([await names(), await table(), await senders(), await numbers()], [[], undefined, [], []]);
    for (const [file, said] of [
      [{ routes: {} }, /routes must be a list/],
      [{ texts: [] }, /texts is not known here/],
      [{ routes: [{ name: 'x' }] }, /routes\.0\.carriers is required/],
      [{ senders: [7] }, /senders\.0/],
      [{ numbers: ['x'] }, /numbers\.0/],
      [{ senders: [whole().senders[0], whole().senders[0]] }, /senders\.1 is in this list already/],
    ] as const)
      await assert.rejects(apply(file), ({ message }: Error) => said.test(message), JSON.stringify(file));
  });

  test('a carrier that a route still names is kept, and nothing else is done either', async () => {
    await apply(whole());
    await assert.rejects(apply({ carriers: [smpp('beta')], senders: [] }, '--prune'), /acme/);
    assert.deepEqual([await names(), (await senders()).length], [['acme', 'beta'], 1]);
  });
});

describe('routes explain', () => {
  test('the route, and every carrier with its share', async () => {
    await apply(whole());
    const said = await carriers('routes', 'explain', '+447700900123', '--api=verify');
    assert.match(said, /Version 1 of the routes\.\nThe route uk matches\.\n {2}1\. acme/);
    assert.match(said, / {2}2\. beta/);
    assert.match(await carriers('routes', 'explain', '+4915112345678'), /The route rest matches/);
  });

  test('a text that was sent, by its id', async () => {
    await apply(whole());
    await eventually('the app to know the routes', () => app.app.carriers().some(({ name }) => name === 'acme'));
    const { body } = await owner.sms();
    const said = await carriers('routes', 'explain', body.id);
    assert.match(said, /Version 1 of the routes\.\nThe route uk matches\.\n {2}1\. acme/);
    assert.match(said, /The text is with acme\./);
  });

  test('says what to give', async () => {
    for (const args of [[], ['x'], ['+447700900123', 'y'], ['+447700900123', '--api=fax'], ['+447700900123', '--to=1']])
      await assert.rejects(carriers('routes', 'explain', ...args), /Run: npm run carriers|with its country code/);
    await assert.rejects(carriers('routes', 'explain', 'msg_01jcq000000000000000000000'), /Not found/);
    await assert.rejects(carriers('routes', 'list'), /Run one of/);
  });
});

test('status lists routes, senders and numbers', async () => {
  assert.match(
    await carriers('status'),
    /Routes: none, so every carrier takes every text\.\nSenders: 0 approved, 0 waiting/,
  );
  await apply(whole());
  const said = await carriers('status');
  assert.match(said, /Routes: 2, version 1 of 20/);
  assert.match(said, /Senders: 1 approved, 0 waiting for an operator\.\nNumbers: 1 given to applications\./);
});

test('alert-secret shows a secret in the form of Standard Webhooks', async () => {
  const said = await runIn({}, app, 'alert-secret');
  assert.match(said, /whsec_[A-Za-z0-9+/]{43}=/);
  assert.match(said, /HELIOGRAPH_ALERT_URL is not set/);
  await assert.rejects(runIn({}, app, 'alert-secret', 'x'), /Run it without arguments: npm run alert-secret/);
});
