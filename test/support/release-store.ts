// The store of a release, small and in a file: rows as its version wrote them, and its answers about them.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { readStore } from '../../src/backup/stored-tables.ts';
import type { Database } from '../../src/platform/database/database.ts';
import { readOwnMigrations } from '../../src/platform/database/migrate.ts';
import { createTestApp, type TestApp } from './app.ts';
import { bearer, getToken } from './applications.ts';
import { createTestClock } from './clock.ts';
import { send } from './developer.ts';
import { createSender, type Sender } from './texts.ts';

export interface ReleaseStore {
  release: string;
  madeAtMs: number;
  /** Names and checksums of its migrations. */
  migrations: Record<string, string>;
  credentials: Credentials;
  /** A code that its owner has not entered yet, and a text that has not left. */
  pending: { verification: string; code: string; text: string };
  /** By path. */
  answers: Record<string, unknown>;
  sequences: Record<string, number>;
  tables: Record<string, object[]>;
}

interface Credentials {
  email: string;
  password: string;
  apiKey: string;
  client: { client_id: string; client_secret: string };
}

export function readReleaseStore(file: URL): ReleaseStore {
  return JSON.parse(readFileSync(file, 'utf8')) as ReleaseStore;
}

/** At each release, once: `HELIOGRAPH_RELEASE_STORE=0.3.0 npm test -- test/parts/upgrade` writes the file. */
export async function makeReleaseStore(release: string, file: URL): Promise<void> {
  const clock = createTestClock();
  const app = await createTestApp({ clock, delivery: 'held' });
  const sender = await createSender(app);
  const approved = await endTexts(app, sender);
  const last = await leaveWaiting(app, sender);
  const { developer, apiKey, client } = sender;
  const credentials = { email: developer.email, password: developer.password, apiKey, client };
  const verifications = [approved, last.pending.verification].map((id) => `/verify/v1/verifications/${id}`);
  const paths = [
    ...['/sms/v1/messages', `/sms/v1/messages/${last.pending.text}`, '/sms/v1/opt-outs', '/events/v1/events'],
    ...[...verifications, '/portal/v1/applications', `/portal/v1/applications/${sender.id}/webhooks`],
  ];
  const answers = await readAnswers(app, credentials, paths);
  const store = await readRows(app.db.database);
  const made = { release, madeAtMs: clock.nowMs(), credentials, pending: last.pending, answers, ...store };
  writeFileSync(file, `${JSON.stringify(made, undefined, 2)}\n`);
  await app.close();
}

/** Texts and codes that have come to an end. */
async function endTexts(app: TestApp, sender: Sender): Promise<string> {
  const hook = { url: 'http://127.0.0.1:9/hook', types: ['message.delivered'] };
  assert.equal(
    (await sender.developer.send('POST', `/portal/v1/applications/${sender.id}/webhooks`, hook)).status,
    201,
  );
  for (const to of ['+15005550100', '+15005550102', '+447700900123']) {
    assert.equal((await sender.sms({ to, reference: 'an order' })).status, 201);
  }
  await app.delivery.workers()[0]?.runUntilIdle();
  const token = bearer(await getToken(app, sender.client, 'verify:manage'));
  const path = '/verify/v1/verifications';
  const { body } = await send(app, 'POST', path, { body: { to: '+15005550100', channel: 'sms' }, headers: token });
  const checked = await send(app, 'POST', `${path}/${body.id}`, { body: { code: '123456' }, headers: token });
  assert.equal(checked.body.status, 'approved');
  return String(body.id);
}

/** What an upgrade finds in the middle. */
async function leaveWaiting(app: TestApp, sender: Sender): Promise<Pick<ReleaseStore, 'pending'>> {
  const headers = { apikey: sender.apiKey };
  const post = (path: string, body: object, given = headers as Record<string, string>) =>
    send(app, 'POST', path, { body, headers: given });
  const queued = await post('/sms/v1/messages', { to: '+447700900124', from: 'ACME', message: 'Queued' });
  const sendAt = new Date(app.clock.nowMs() + 3_600_000).toISOString();
  await post('/sms/v1/messages', { to: '+447700900125', from: 'ACME', message: 'Later', send_at: sendAt });
  await send(app, 'PUT', `/sms/v1/opt-outs/${encodeURIComponent('+447700900126')}`, { headers, body: {} });
  const token = bearer(await getToken(app, sender.client, 'verify:manage'));
  const started = await post('/verify/v1/verifications', { to: '+15005550100', channel: 'sms' }, token);
  return { pending: { verification: String(started.body.id), code: '123456', text: String(queued.body.id) } };
}

/** Each path with the credential that it needs. */
export async function readAnswers(
  app: TestApp,
  { email, password, apiKey, client }: Credentials,
  paths: string[],
): Promise<Record<string, unknown>> {
  const signedIn = await send(app, 'POST', '/portal/v1/sessions', { body: { email, password } });
  const cookie = signedIn.headers.getSetCookie()[0]?.split(';')[0] ?? '';
  const verify = bearer(await getToken(app, client, 'verify:manage'));
  const answers: Record<string, unknown> = {};
  for (const path of paths) {
    const headers = path.startsWith('/portal/')
      ? { cookie }
      : path.startsWith('/verify/')
        ? verify
        : { apikey: apiKey };
    const { status, body } = await send(app, 'GET', path, { headers: headers as Record<string, string> });
    assert.equal(status, 200, path);
    answers[path] = withoutChance(body);
  }
  return answers;
}

/** Cursors and signatures hold random bits. */
function withoutChance(body: unknown): unknown {
  const text = JSON.stringify(body, (key, value) => (['next_cursor', 'proof'].includes(key) ? undefined : value));
  return JSON.parse(text);
}

async function readRows(database: Database): Promise<Pick<ReleaseStore, 'migrations' | 'sequences' | 'tables'>> {
  const own = await readOwnMigrations();
  const { tables, sequences } = await readStore(database, own);
  const rows: Record<string, object[]> = {};
  for (const { name } of tables) {
    const found = await database.query<{ row: object }>(`select row_to_json(t) as row from ${name} t`);
    if (found.rows.length > 0) rows[name] = found.rows.map(({ row }) => row);
  }
  const migrations = Object.fromEntries(own.map(({ name, checksum }) => [name, checksum]));
  return { migrations, sequences, tables: rows };
}

/** Into a database with the release's own migrations and nothing else. */
export async function loadRows(database: Database, { tables, sequences }: ReleaseStore): Promise<void> {
  for (const [name, rows] of Object.entries(tables)) {
    const columns = Object.keys(rows[0] ?? {}).map((column) => `"${column}"`);
    await database.query(
      `insert into ${name} (${columns}) overriding system value
       select ${columns} from json_populate_recordset(null::${name}, $1) on conflict do nothing`,
      [JSON.stringify(rows)],
    );
  }
  for (const [name, last] of Object.entries(sequences)) await database.query(`select setval('${name}', $1)`, [last]);
}
