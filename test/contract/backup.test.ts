// `npm run backup` and `npm run restore`: every record comes back, and nothing of an old store is trusted that may have
// ended since.
import assert from 'node:assert/strict';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { after, before, describe, test } from 'node:test';
import { gunzipSync, gzipSync } from 'node:zlib';
import { createTestApp, type TestApp } from '../support/app.ts';
import { askForToken, bearer, getToken, messagingScope } from '../support/applications.ts';
import {
  backupPath,
  openBackupFile,
  readTables,
  restore,
  writeBackupFile,
  writeOldBackup,
} from '../support/backups.ts';
import { run } from '../support/commands.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { asDeveloper, send, signUp, type TestDeveloper } from '../support/developer.ts';
import { inShort } from '../support/effort.ts';
import { beginFeed, readFeed, refusedFeed } from '../support/event-feed.ts';
import { createOperator } from '../support/operator.ts';
import { createSender, type Refusal, type Sender } from '../support/texts.ts';
import type { VerificationBody } from '../support/verify-caller.ts';

/** What a restore leaves empty. */
const emptied = [
  ...['node', 'registry_change', 'session', 'one_time_link', 'invitation', 'carrier_bind', 'carrier_log'],
  ...[
    'signing_key',
    'token_revocation',
    'delivery_queue',
    'delivery_schedule',
    'delivery_claim',
    'pending_verification',
  ],
];
/** What a restore changes: each has a test of its own. */
const changed = [
  ...['message', 'message_end', 'verification', 'ended_verification', 'event', 'event_listener', 'webhook_course'],
  ...['api_key', 'client_secret', 'audit', 'schema_migration'],
];

interface World {
  app: TestApp;
  acme: Sender;
  /** Of the feed, before the backup. */
  cursor: string;
  token: string;
  /** Ids of texts. */
  delivered: string;
  queued: string;
  scheduled: string;
  verification: string;
  path: string;
  /** The rows at the time of the backup. */
  tables: Record<string, string[]>;
}

interface Detail {
  client: { secrets: { id: string; suspended_at: string | null }[] };
}

async function signIn(app: TestApp, { developer: { email, password } }: Sender): Promise<TestDeveloper> {
  const answer = await send(app, 'POST', '/portal/v1/sessions', { body: { email, password } });
  assert.equal(answer.status, 201);
  return asDeveloper(app, email, password, answer);
}

async function createWorld(): Promise<World> {
  const app = await createTestApp({ delivery: 'held', db: await createTestDatabase() });
  const acme = await createSender(app);
  const cursor = await beginFeed(app, acme.key);
  const oddities = 'A tab\t, a backslash \\ and \\. and a line\nbreak, é, 👍';
  const delivered = (await acme.sms({ message: oddities, reference: '\\.' })).body.id;
  await app.delivery.workers()[0]?.runUntilIdle();
  const queued = (await acme.sms()).body.id;
  const sendAt = new Date(app.clock.nowMs() + 3_600_000).toISOString();
  const scheduled = (await acme.messaging({ send_at: sendAt })).body.id;
  const token = await getToken(app, acme.client, 'verify:manage');
  const started = await send<VerificationBody>(app, 'POST', '/verify/v1/verifications', {
    body: { to: '+447700900456', channel: 'sms' },
    headers: bearer(token),
  });
  const hook = { url: 'http://127.0.0.1:9/hook' };
  const made = await acme.developer.send('POST', `/portal/v1/applications/${acme.id}/webhooks`, hook);
  assert.deepEqual([started.status, made.status], [200, 201]);
  // What a service writes by the way would differ from one moment to the next.
  await app.close();
  const path = backupPath();
  const tables = await readTables(app.db.database);
  await run(app, 'backup', path);
  return { app, acme, cursor, token, delivered, queued, scheduled, verification: started.body.id, path, tables };
}

const secret = () => world.app.config.secret ?? '';

let world: World;
let restored: TestDatabase;
/** A service on what was restored. */
let node: TestApp;
let printed: string;
before(async () => {
  world = await createWorld();
  restored = await createTestDatabase();
  printed = await restore(world.app, restored, world.path);
});
after(async () => {
  await restored.drop();
  await world.app.db.drop();
});

describe('a backup', () => {
  test('is encrypted: who has the file reads when and by what it was made, and nothing else', async () => {
    const bytes = await readFile(world.path);
    const line = bytes.subarray(0, bytes.indexOf('\n')).toString();
    assert.deepEqual(Object.keys(JSON.parse(line)), [
      ...['heliograph_backup', 'made_at', 'version', 'environment'],
      ...['cipher', 'chunk_bytes', 'kdf', 'secret_check'],
    ]);
    assert.throws(() => gunzipSync(bytes), 'it is no gzip file');
    assert.throws(() => gunzipSync(bytes.subarray(line.length + 1)), 'nor is what is behind the label');
    const { text } = await openBackupFile(world.path, secret());
    for (const shown of ['backslash', '+447700900456', world.acme.developer.email, '$argon2', '"migrations"']) {
      assert.equal(bytes.includes(shown), false, shown);
      assert.ok(shown.startsWith('$') || text.includes(shown), `${shown} is in the backup`);
    }
  });

  test('is a file that only its owner can read, and overwrites none', async () => {
    assert.equal((await stat(world.path)).mode & 0o777, 0o600);
    await assert.rejects(run(world.app, 'backup', world.path), /exists already\. Give the backup another name/);
    await assert.rejects(run(world.app, 'backup'), /Give one file name: npm run backup/);
    await assert.rejects(run(world.app, 'backup', '/nowhere/at/all'), /ENOENT/);
  });
});

describe('a restore', () => {
  test('brings back every row, but for what it must not trust', async () => {
    const rows = await readTables(restored.database);
    assert.deepEqual(Object.keys(rows), Object.keys(world.tables));
    for (const [name, expected] of Object.entries(world.tables)) {
      if (emptied.includes(name)) assert.deepEqual(rows[name], [], name);
      else if (!changed.includes(name)) assert.deepEqual(rows[name], expected, name);
    }
    for (const name of ['account', 'application', 'event', 'webhook_secret', 'handset_text', 'key_ring'])
      assert.ok((world.tables[name]?.length ?? 0) > 0, `${name} has no row to compare`);
    const { message = [] } = rows;
    const old = world.tables.message?.find((row) => row.includes('backslash'));
    assert.ok(old !== undefined && message.includes(old), 'a text that had ended is as it was');
  });

  test('says what it has done', () => {
    assert.match(printed, /The backup is restored\. Records are as they were at 20/);
    assert.match(printed, /3 texts that waited to be sent: now `unknown`/);
    assert.match(printed, /1 pending verification: canceled/);
    assert.match(printed, /2 credentials \(API keys, client secrets\): suspended/);
  });

  test('suspends credentials until their owner enables them, and ends all tokens and sessions', async () => {
    const { app, acme, token } = world;
    node = await createTestApp({ db: restored, clock: app.clock });
    const list = (headers: Record<string, string>) => send<Refusal>(node, 'GET', '/sms/v1/messages', { headers });
    for (const _ of ['looked up', 'remembered']) {
      const { status, body } = await list(acme.key);
      assert.deepEqual([status, body.code], [401, 'UNAUTHENTICATED']);
      assert.match(
        body.message,
        /The API key is suspended, because the service was restored from a backup\. Enable it/,
      );
    }
    const refused = await askForToken(node, acme.client, messagingScope);
    assert.deepEqual([refused.status, refused.body.error], [401, 'invalid_client']);
    assert.match(String(refused.body.error_description), /The client secret is suspended/);
    const wrong = await askForToken(node, { ...acme.client, client_secret: 'hgs_wrong' }, messagingScope);
    assert.equal(wrong.body.error_description, 'Client authentication failed.', 'a stranger learns nothing');
    assert.equal((await send(node, 'GET', '/verify/v1/verifications', { headers: bearer(token) })).status, 401);
    assert.equal(
      (await send(node, 'GET', '/portal/v1/me', { headers: { cookie: acme.developer.cookie } })).status,
      401,
    );

    const owner = await signIn(node, acme);
    const path = `/portal/v1/applications/${acme.id}`;
    const { client } = (await owner.send<Detail>('GET', path)).body;
    const keyPath = `${path}/keys/${acme.keyId}/enable`;
    const secretPath = `${path}/client-secrets/${client.secrets[0]?.id}/enable`;
    const stranger = await signUp(node);
    for (const one of [keyPath, secretPath]) assert.equal((await stranger.send('POST', one)).status, 404);
    const enabled = await owner.send('POST', keyPath);
    assert.deepEqual([enabled.status, enabled.body.id, enabled.body.suspended_at], [200, acme.keyId, null]);
    assert.equal((await list(acme.key)).status, 200, 'at once');
    assert.equal((await owner.send('POST', keyPath)).status, 409, 'it is enabled');
    assert.equal((await owner.send('POST', `${path}/keys/key_nothing/enable`)).status, 404);
    assert.equal((await owner.send('POST', secretPath)).body.suspended_at, null);
    assert.equal((await askForToken(node, acme.client, messagingScope)).status, 200);
  });

  test('a restored application stays suspended until an operator enables all of its account', async () => {
    const { acme } = world;
    const owner = await signIn(node, acme);
    const account = String((await owner.send('GET', '/portal/v1/me')).body.id);
    const operator = await createOperator(node);
    const path = `/portal/v1/operator/accounts/${account}`;
    for (const table of ['api_key', 'client_secret'])
      await restored.database.query(`update ${table} set suspended_at = now()`);
    assert.equal((await operator.send('GET', path)).body.suspended_credentials, 2);
    assert.equal((await owner.send('POST', `${path}/enable-credentials`)).status, 404, 'for operators only');
    assert.deepEqual((await operator.send('POST', `${path}/enable-credentials`)).body, { enabled: 2 });
    assert.equal((await operator.send('GET', path)).body.suspended_credentials, 0);
    assert.equal((await send(node, 'GET', '/sms/v1/messages', { headers: acme.key })).status, 200);
  });

  test('goes on: a service starts, texts that waited are unknown, events of before are behind a gap', async () => {
    const { acme, cursor } = world;
    const read = async (id: string) => {
      const { body } = await send(node, 'GET', `/sms/v1/messages/${id}`, { headers: acme.key });
      return body.status;
    };
    assert.deepEqual([await read(world.delivered), await read(world.queued)], ['sent', 'unknown']);
    const verify = bearer(await getToken(node, acme.client, 'verify:manage'));
    const path = `/verify/v1/verifications/${world.verification}`;
    const { body } = await send(node, 'GET', path, { headers: verify });
    assert.deepEqual([body.status, body.reason], ['canceled', 'restored']);
    const messaging = bearer(await getToken(node, acme.client, 'messaging:send'));
    const later = await send(node, 'GET', `/messaging/v1/messages/${world.scheduled}`, { headers: messaging });
    assert.equal(later.body.status, 'unknown');
    const { status, body: refusal } = await refusedFeed(node, acme.key, { cursor });
    assert.deepEqual([status, refusal.code], [410, 'CURSOR_EXPIRED']);
    const page = await readFeed(node, acme.key);
    assert.equal(page.status, 200, 'a new reader begins');
    assert.equal(
      (
        await send(node, 'POST', '/sms/v1/messages', {
          body: { to: '+447700900123', from: 'ACME', message: 'After the restore' },
          headers: acme.key,
        })
      ).status,
      201,
    );
  });
});

describe('a restore refuses', () => {
  before(() => node.close());

  /** Restores into a database with records, which must stay as they are. */
  async function refused(path: string, expected: RegExp, ...options: string[]): Promise<void> {
    await assert.rejects(restore(world.app, restored, path, ...options), (error: Error) => {
      assert.match(error.message, expected);
      return true;
    });
  }

  test('to delete records without --replace', async () => {
    const before = await readTables(restored.database);
    await refused(world.path, /The database holds records already.*To replace them by the backup, add --replace/s);
    assert.deepEqual(await readTables(restored.database), before);
  });

  test('what is no backup, is cut off or was altered, wherever that is', async () => {
    const before = await readTables(restored.database);
    const bytes = await readFile(world.path);
    const path = backupPath();
    const tryOut = async (content: Buffer, expected = /is damaged|is not a backup of Heliograph/) => {
      await writeFile(path, content);
      await refused(path, expected, '--replace');
    };
    // Each try stretches the secret, which is meant to take its time.
    const step = inShort(1000, 50);
    for (let at = 0; at < bytes.length; at += step) {
      const altered = Buffer.from(bytes);
      altered[at] = (altered[at] ?? 0) ^ 0xff;
      await tryOut(altered);
    }
    for (let at = 0; at < bytes.length; at += 3 * step) await tryOut(bytes.subarray(0, at));
    await tryOut(bytes.subarray(0, -1));
    await tryOut(Buffer.concat([bytes, Buffer.from('more')]));
    await tryOut(Buffer.concat([bytes, gzipSync('more\n')]));
    await tryOut(Buffer.from('select 1'), /is not a backup of Heliograph/);
    await refused('/nowhere/at/all', /There is no file \/nowhere\/at\/all/);
    await refused('/tmp', /is not a file/);
    assert.deepEqual(await readTables(restored.database), before);
  });

  test('a file whose label was altered, is of another version, or of another secret', async () => {
    const bytes = await readFile(world.path);
    const path = backupPath();
    const line = bytes.subarray(0, bytes.indexOf('\n') + 1).toString();
    const relabel = (label: string) =>
      writeFile(path, Buffer.concat([Buffer.from(label), bytes.subarray(line.length)]));
    await relabel(line.replace('"version":"', '"version":"7.'));
    await refused(path, /is damaged/, '--replace');
    await relabel(line.replace('"heliograph_backup":2', '"heliograph_backup":3'));
    await refused(path, /was made by Heliograph 0.*in a way that this version .* does not know/s, '--replace');
    await relabel(line.replace('"N":16384', '"N":1073741824'));
    await refused(path, /in a way that this version/, '--replace');
    await relabel(line.replace('"version":"', '"version":"\\u001b[2J'));
    await refused(path, /is not a backup of Heliograph/, '--replace');
    await relabel(line.replace(/"salt":"../, '"salt":"00'));
    await refused(path, /HELIOGRAPH_SECRET is not the secret/, '--replace');
    const other = { ...world.app, config: { ...world.app.config, secret: 'another secret of a restore' } };
    const asksForIt =
      /is encrypted with the secret of the service that it was made from \(sandbox, 20.*HELIOGRAPH_SECRET is not the/s;
    await assert.rejects(restore(other, restored, world.path), asksForIt);
    const none = { ...world.app, config: { ...world.app.config, secret: undefined, dataDir: '/nowhere' } };
    await assert.rejects(restore(none, restored, world.path), /There is no secret here\.\nSet HELIOGRAPH_SECRET to/);
    const opened = await openBackupFile(world.path, secret());
    const text = opened.text.replace(/"checksum":"../, '"checksum":"zz');
    await writeBackupFile(path, { ...opened, text }, secret());
    await refused(path, /was made by Heliograph 0.*whose tables differ.*Restore it with Heliograph 0/s, '--replace');
  });

  test('chunks of another backup of the same service', async () => {
    const path = backupPath();
    await run(world.app, 'backup', path);
    const [one, other] = [await readFile(world.path), await readFile(path)];
    const [here, there] = [one, other].map((bytes) => bytes.indexOf('\n') + 1) as [number, number];
    await writeFile(path, Buffer.concat([one.subarray(0, here), other.subarray(there)]));
    await refused(path, /is damaged/, '--replace');
  });

  test('arguments that it does not know', async () => {
    for (const args of [[], ['a', 'b'], ['a', '--force'], ['']])
      await assert.rejects(restore(world.app, restored, ...args), /Give one file: npm run restore/);
  });
});

test('a backup of the time when they were not encrypted: restored, and refused if it was altered', async () => {
  const path = backupPath();
  const opened = await openBackupFile(world.path, secret());
  await writeOldBackup(path, opened, secret());
  assert.match(await restore(world.app, restored, path, '--replace'), /The backup is restored/);
  const rows = await readTables(restored.database);
  for (const name of ['application', 'handset_text', 'person']) assert.deepEqual(rows[name], world.tables[name], name);
  const bytes = await readFile(path);
  const [header = '', ...more] = gunzipSync(bytes).toString('latin1').split('\n');
  for (const altered of [
    gzipSync(Buffer.from([header, 'a stranger', ...more].join('\n'), 'latin1')),
    Buffer.concat([bytes, gzipSync('more\n')]),
    bytes.subarray(0, -1),
  ]) {
    await writeFile(path, altered);
    await assert.rejects(restore(world.app, restored, path, '--replace'), /is damaged/);
  }
  const other = { ...world.app, config: { ...world.app.config, secret: 'another secret of a restore' } };
  await writeFile(path, bytes);
  await assert.rejects(restore(other, restored, path, '--replace'), /HELIOGRAPH_SECRET is not the secret/);
});

test('restore --trust-credentials suspends nothing and warns; --replace deletes the existing rows', async () => {
  const { app, acme } = world;
  const printed = await restore(app, restored, '--replace', world.path, '--trust-credentials');
  assert.match(printed, /WARNING: all API keys, client secrets and tokens of that time work/);
  const rows = await readTables(restored.database);
  for (const name of ['api_key', 'client_secret', 'signing_key', 'person'])
    assert.deepEqual(rows[name], world.tables[name], name);
  const [entry] = rows.audit?.filter((row) => row.includes('backup.restored')) ?? [];
  assert.ok(entry?.includes('trusts_credentials'), 'the audit log has it');
  assert.equal(rows.audit?.length, (world.tables.audit?.length ?? 0) + 1);
  await assert.rejects(restored.database.query('truncate audit'), /append-only/, 'the log is guarded again');
  const again = await createTestApp({ db: restored, clock: app.clock });
  assert.equal((await send(again, 'GET', '/sms/v1/messages', { headers: acme.key })).status, 200);
  await again.close();
});
