// An operator's session in wrong hands: it may change carriers, and must not learn their secrets by that.
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, describe, test } from 'node:test';
import { findCarrier } from '../../src/delivery/carrier/store.ts';
import { sealSecrets } from '../../src/delivery/setup/secrets.ts';
import { type ConfiguredCarrier, watchCarriers } from '../../src/delivery/setup/watch.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { createCertificate } from '../support/certificates.ts';
import { runIn } from '../support/commands.ts';
import type { Answer, TestDeveloper } from '../support/developer.ts';
import { createTestLog } from '../support/log.ts';
import { createOperator } from '../support/operator.ts';
import { dumpAll, type Refusal } from '../support/texts.ts';

let app: TestApp;
let operator: TestDeveloper;
let folder: string;
before(async () => {
  app = await createTestApp({ delivery: 'held' });
  operator = await createOperator(app);
  folder = await mkdtemp(join(tmpdir(), 'heliograph-secrets-'));
});
after(async () => {
  await app.close();
  await rm(folder, { recursive: true });
});
beforeEach(() => app.db.database.query('truncate carrier, carrier_bind, carrier_log, carrier_test'));

const path = '/portal/v1/operator/carriers';
const base = 'http://127.0.0.1:9';
const secret = 'hidden-8f3K';
const smpp = { host: '127.0.0.1', port: 2775, system_id: 'me', password: secret };
const infobip = { preset: 'infobip', base, api_key: secret };
const description = { url: '{{base}}/x', json: { to: '{{to}}', key: '{{secret:key}}' }, accepted: [{ status: [200] }] };
const described = { base, describe: description, secrets: { key: secret } };

interface Carrier {
  settings: Record<string, unknown>;
}
type Answered = Answer<Carrier & Refusal>;

const create = async (settings: object, kind = 'preset' in settings || 'describe' in settings ? 'http' : 'smpp') => {
  const made = await operator.send<Carrier & Refusal>('POST', path, { name: 'acme', kind, settings });
  assert.equal(made.status, 201, JSON.stringify(made.body));
};
const change = (settings: object): Promise<Answered> => operator.send('PATCH', `${path}/acme`, { settings });
const told = ({ status, body }: Answered) => [status, body.details?.map(({ field }) => field)];

/** What a worker connects with. */
async function seenByWorker(): Promise<Record<string, unknown>> {
  let seen: ConfiguredCarrier[] = [];
  const { log } = createTestLog();
  const onChange = (carriers: ConfiguredCarrier[]) => {
    seen = carriers;
  };
  await watchCarriers({ database: app.db.database, clock: app.clock, keys: app.keys, log, onChange }).refresh();
  return seen[0]?.settings ?? assert.fail('a worker sees the carrier');
}

describe('a change of preset', () => {
  for (const [preset, settings] of Object.entries({
    infobip,
    telnyx: { preset: 'telnyx', base, api_key: secret, public_key: Buffer.alloc(32).toString('base64') },
    'africas-talking': { preset: 'africas-talking', base, username: 'acme', api_key: secret },
  })) {
    test(`of ${preset} to another: its key does not become a readable one`, async () => {
      await create(settings);
      const removed = Object.fromEntries(['public_key', 'username'].map((field) => [field, null]));
      const answer = await change({ ...removed, preset: 'vonage-sms', api_secret: 'mine' });
      assert.deepEqual(told(answer), [400, ['settings.api_key']]);
      assert.match(answer.body.message, /must be given again/);
      assert.equal(JSON.stringify(await operator.send('GET', path)).includes(secret), false);
    });
  }

  test('with the new key: it is a secret under every preset', async () => {
    await create(infobip);
    const { status, body } = await change({ preset: 'vonage-sms', api_key: 'abcd-Zq7', api_secret: 'mine' });
    assert.deepEqual([status, body.settings.api_key, body.settings.api_key_set], [200, undefined, true]);
    const everywhere = `${JSON.stringify(body)} ${await dumpAll(app)}`;
    for (const each of [secret, 'abcd-Zq7']) assert.equal(everywhere.includes(each), false, each);
  });
});

describe('a change of where a secret goes', () => {
  const { cert } = createCertificate({ name: 'carrier.test' });
  for (const given of [
    { port: 2776 },
    { host: 'localhost' },
    { hosts: [{ host: 'localhost', port: 2775 }] },
    { tls: { ca: cert } },
    { tls: {}, port: 2775 },
  ]) {
    test(`smpp, ${Object.keys(given)}: 400 that names the password`, async () => {
      await create(smpp);
      assert.deepEqual(told(await change(given)), [400, ['settings.password']]);
      assert.equal((await change({ ...given, password: 'mine' })).status, 200, 'with a password');
      assert.equal((await seenByWorker()).password, 'mine');
    });
  }

  test('tls: the private key, too, and away from TLS the password', async () => {
    const { cert: own, key } = createCertificate({ name: 'carrier.test' });
    await create({ ...smpp, tls: { cert: own, key } });
    const both = ['settings.password', 'settings.tls.key'];
    assert.deepEqual(told(await change({ port: 2776 })), [400, both]);
    assert.deepEqual(told(await change({ tls: { servername: 'mine.example' } })), [400, both]);
    assert.deepEqual(told(await change({ tls: false })), [400, ['settings.password']]);
    assert.equal((await change({ tls: { servername: 'mine.example', key }, password: secret })).status, 200);
  });

  for (const given of [{ base: 'http://127.0.0.1:10' }, { ca: cert }, { base: 'http://localhost:9' }]) {
    test(`http, ${JSON.stringify(given).slice(0, 30)}: 400 that names each secret`, async () => {
      await create({ preset: 'twilio', base, account_sid: 'AC1', auth_token: secret });
      assert.deepEqual(told(await change(given)), [400, ['settings.auth_token']]);
      assert.equal((await change({ ...given, auth_token: 'mine' })).status, 200);
    });
  }

  test('a description, or its base: 400 that names its secrets', async () => {
    await create(described);
    const mine = { ...description, url: 'http://127.0.0.1:10/x' };
    assert.deepEqual(told(await change({ describe: mine })), [400, ['settings.secrets.key']]);
    assert.deepEqual(told(await change({ base: 'http://127.0.0.1:10' })), [400, ['settings.secrets.key']]);
    assert.equal((await change({ describe: mine, secrets: { key: 'mine' } })).status, 200);
    assert.deepEqual((await seenByWorker()).secrets, { key: 'mine' });
  });

  test('what is written as it is changes nothing, and null removes the secret', async () => {
    await create(smpp);
    assert.equal((await change({ host: '127.0.0.1', hosts: [], tls: false, port: null, window: 5 })).status, 200);
    assert.equal((await seenByWorker()).password, secret);
    assert.equal((await change({ port: 2776, password: null })).status, 200);
    assert.equal((await seenByWorker()).password, undefined);
    assert.equal((await change({ port: 2777 })).status, 200, 'there is no secret to send there');
  });

  test('two at once: no order of both lets the old password go to the new port', async () => {
    await create(smpp);
    const answers = await Promise.all([
      change({ port: 2776, password: 'mine' }),
      change({ port: 2777 }),
      change({ window: 3 }),
    ]);
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 400, 200],
    );
  });

  test('by a file: neither applied nor planned without the secret, which may come from the environment', async () => {
    await create(smpp);
    const file = join(folder, 'file.json');
    const apply = async (settings: object, ...flags: string[]) => {
      await writeFile(file, JSON.stringify({ carriers: [{ name: 'acme', kind: 'smpp', settings }] }));
      return runIn({ env: { PASS: 'mine' } }, app, 'carriers', 'apply', file, ...flags);
    };
    const other = { host: '127.0.0.1', port: 2776, system_id: 'me' };
    const refused = /carriers\.0\.settings\.password must be given again/;
    await assert.rejects(apply(other), refused);
    await assert.rejects(apply(other, '--dry-run'), refused);
    await apply({ ...other, port: 2775, window: 7 });
    assert.equal((await seenByWorker()).password, secret, 'the same address keeps it');
    await apply({ ...other, password: { env: 'PASS' } });
    assert.equal((await seenByWorker()).password, 'mine');
  });
});

describe('rows of before', () => {
  const settingsOf = async () =>
    (await app.db.database.query<{ settings: object; secrets: Buffer | null }>('select settings, secrets from carrier'))
      .rows[0] ?? assert.fail('there is a row');

  test('DELETE empties settings and secrets; that it gave no receipts stays known', async () => {
    for (const settings of [smpp, infobip, described, { ...smpp, receipts: 'none' }]) {
      await create(settings);
      assert.equal((await operator.send('DELETE', `${path}/acme?force=true`)).status, 204);
    }
    const { rows } = await app.db.database.query('select settings, secrets, callback from carrier order by id');
    const empty = { settings: {}, secrets: null, callback: null };
    assert.deepEqual(rows, [empty, empty, empty, { ...empty, settings: { receipts: 'none' } }]);
  });

  test('a key that was left readable is not shown, and is sealed by the next upkeep', async () => {
    await create({ preset: 'vonage-sms', base, api_key: 'abcd-Zq7', api_secret: 'mine' });
    // As older versions kept it.
    const { id } = (await findCarrier(app.db.database, 'acme')) ?? assert.fail('there is a row');
    await app.db.database.query(`update carrier set settings = settings - 'api_key_set' || $1, secrets = $2`, [
      JSON.stringify({ api_key: secret }),
      sealSecrets(app.keys, id, { fields: { api_secret: 'mine' } }),
    ]);
    const { body } = await operator.send<Carrier>('GET', `${path}/acme`);
    assert.deepEqual([body.settings.api_key, body.settings.api_key_set], [undefined, true]);
    assert.equal((await runIn({}, app, 'carriers', 'export')).includes(secret), false);
    await app.delivery.maintenance.runAll();
    assert.equal(JSON.stringify((await settingsOf()).settings).includes(secret), false);
    assert.equal((await seenByWorker()).api_key, secret, 'the worker has it still');
  });

  test('what an older version left of a deleted carrier is emptied by the next upkeep', async () => {
    await create(infobip);
    await app.db.database.query('update carrier set deleted_at = now()');
    await app.delivery.maintenance.runAll();
    assert.deepEqual(await settingsOf(), { settings: {}, secrets: null });
  });
});
