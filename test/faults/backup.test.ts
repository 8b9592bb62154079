// run: with services
// F43: a backup is made under load, everything is lost, the backup is restored. The restore itself is killed too.
import assert from 'node:assert/strict';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { statusCode } from '../../src/messages/message-row.ts';
import type { Tx } from '../../src/platform/database/database.ts';
import { uuidOf } from '../../src/platform/ids.ts';
import { backupPath, openBackupFile } from '../support/backups.ts';
import { createTestDatabase } from '../support/database.ts';
import { asDeveloper, send, type TestDeveloper } from '../support/developer.ts';
import { inShort } from '../support/effort.ts';
import { eventually } from '../support/eventually.ts';
import { urlOf } from '../support/node-settings.ts';
import { makeFolder } from '../support/process.ts';
import { buildService, endServices, program, type Service, startService } from '../support/service.ts';
import { endPostgres, inDatabase } from '../support/service-database.ts';

before(buildService);
after(endServices);

const settings = { LOG_LEVEL: 'error', HELIOGRAPH_PLANS: '{"enterprise":{"per_minute":1000000,"burst":1000000}}' };
const kills = inShort(1, 20);
const textsBefore = inShort(20, 2000);

interface Demo {
  portal: { email: string; password: string };
  applications: { plan: string; application_id: string; api_key: string }[];
}

/** Where the records are: lost and empty again at `lose`. */
interface Store {
  env(): Record<string, string>;
  read<Result>(work: (tx: Tx) => Promise<Result>): Promise<Result>;
  lose(): Promise<void>;
  drop(): Promise<void>;
}

/** The one that `npm start` brings along. To create it twice takes longer than the rest of the drill. */
function embeddedStore(dataDir: string): Store {
  return {
    env: () => settings,
    read: (work) => inDatabase(dataDir, work),
    async lose() {
      await endPostgres(dataDir, 'SIGKILL');
      rmSync(join(dataDir, 'postgres'), { recursive: true });
    },
    drop: async () => {},
  };
}

async function givenStore(): Promise<Store> {
  let db = await createTestDatabase();
  return {
    env: () => ({ ...settings, DATABASE_URL: urlOf(db.connection) }),
    read: (work) => work(db.database),
    async lose() {
      await db.drop();
      db = await createTestDatabase();
    },
    drop: () => db.drop(),
  };
}

interface Ended {
  code: number | null;
  output: string;
}

async function runCommand(dataDir: string, env: Record<string, string>, ...args: string[]): Promise<Ended> {
  const command = await startService({ dataDir, env, command: ['node', program, ...args] });
  const { code } = await command.ended;
  return { code, output: command.output() };
}

const sendText = (service: Service, apikey: string) =>
  send(service, 'POST', '/sms/v1/messages', {
    body: { to: '+447700900123', from: 'ACME', message: 'Line one\nline\ttwo \\.' },
    headers: { apikey },
  });

/** Sends until it is stopped or the service is gone. */
function startLoad(service: Service, apikey: string) {
  const answered: string[] = [];
  let stopped = false;
  const keepSending = async () => {
    while (!stopped) {
      const reply = await sendText(service, apikey).catch(() => undefined);
      if (reply === undefined) return;
      if (reply.status === 201) answered.push(String(reply.body.id));
      await new Promise((done) => setTimeout(done, inShort(50, 5)));
    }
  };
  const senders = [keepSending(), keepSending()];
  const stop = async () => {
    stopped = true;
    await Promise.all(senders);
  };
  return { answered, stop };
}

async function signIn(service: Service, { email, password }: Demo['portal']): Promise<TestDeveloper> {
  const answer = await send(service, 'POST', '/portal/v1/sessions', { body: { email, password } });
  assert.equal(answer.status, 201);
  return asDeveloper(service, email, password, answer);
}

/** The rows of each table in the file, by their cells. */
async function readFileTables(path: string, secret: string): Promise<Map<string, Record<string, string>[]>> {
  const { text } = await openBackupFile(path, secret);
  const [header = '', ...lines] = Buffer.from(text, 'latin1').toString('utf8').split('\n');
  const tables = (JSON.parse(header) as { tables: { name: string; columns: string[] }[] }).tables;
  let at = 0;
  return new Map(
    tables.map(({ name, columns }) => {
      const end = lines.indexOf('\\.', at);
      const rows = lines.slice(at, end).map((line) => {
        const cells = line.split('\t');
        return Object.fromEntries(columns.map((column, place) => [column, cells[place] ?? '']));
      });
      at = end + 1;
      return [name, rows];
    }),
  );
}

const unsent = [statusCode('scheduled'), statusCode('queued')].map(String);

/** A backup is of one moment: a text that waits is in one place of delivery, and no such place is without its text. */
function assertOneMoment(tables: Map<string, Record<string, string>[]>): string[] {
  const rows = (name: string) => tables.get(name) ?? [];
  const claimed = rows('delivery_claim').flatMap(({ message_ids = '{}' }) => message_ids.slice(1, -1).split(','));
  const places = [
    ...[...rows('delivery_queue'), ...rows('delivery_schedule')].map(({ message_id }) => message_id ?? ''),
    ...claimed,
  ];
  const waiting = rows('message').flatMap(({ id, status }) => (unsent.includes(status ?? '') ? [id ?? ''] : []));
  assert.deepEqual(places.sort(), [...waiting].sort());
  return waiting;
}

interface Kept {
  id: string;
  status: number;
  arrivals: number;
}

const readKept = (store: Store): Promise<Kept[]> =>
  store.read(async (tx) => {
    const { rows } = await tx.query<Kept>(
      `select m.id, m.status, count(h.id)::integer as arrivals from message m
       left join handset_text h on h.message_id = m.id group by m.id order by m.id`,
    );
    return rows;
  });

test('drill: backup under load, kill -9 of everything, wipe, restore, start', async (t) => {
  const dataDir = makeFolder('drill');
  const path = backupPath();
  const store = await inShort(givenStore, async () => embeddedStore(dataDir))();
  let service = await startService({ dataDir, env: store.env() });
  await service.ready;
  const demo = JSON.parse(readFileSync(join(dataDir, 'sandbox-credentials.json'), 'utf8')) as Demo;
  const { application_id: id = '', api_key: apiKey = '' } =
    demo.applications.find((one) => one.plan === 'enterprise') ?? {};
  const keys = `/portal/v1/applications/${id}/keys`;
  let owner = await signIn(service, demo.portal);
  const made = await owner.send('POST', keys, { name: 'Revoked later', overlap_seconds: null });
  assert.equal(made.status, 201);
  const revoked = { id: String(made.body.id), key: String(made.body.api_key) };

  const load = startLoad(service, apiKey);
  await eventually('there are texts', () => load.answered.length >= textsBefore);
  const before = [...load.answered];
  const backup = await runCommand(dataDir, store.env(), 'backup', path);
  assert.equal(backup.code, 0, backup.output);
  const during = load.answered.length - before.length;
  await load.stop();
  assert.equal((await owner.send('DELETE', `${keys}/${revoked.id}`)).status, 204);
  assert.equal((await sendText(service, revoked.key)).status, 401);
  const more = startLoad(service, apiKey);
  await eventually('there are more texts', () => more.answered.length >= 10);
  service.kill('SIGKILL');
  await store.lose();
  await more.stop();

  // Killed at some moment, a restore has done all or nothing: the next one finds an empty database, or the whole backup.
  let finished = false;
  for (let kill = 0; kill < kills && !finished; kill++) {
    const restore = await startService({ dataDir, env: store.env(), command: ['node', program, 'restore', path] });
    await restore.printed(kill === 0 ? 'Restoring' : 'Checking').catch(() => {});
    await new Promise((done) => setTimeout(done, Math.random() * inShort(50, 1500)));
    restore.kill('SIGKILL');
    await restore.ended;
    finished = restore.output().includes('holds records already');
  }
  const last = await runCommand(dataDir, store.env(), 'restore', path);
  if (last.code !== 0) assert.match(last.output, /holds records already/, 'the killed one had committed');

  const tables = await readFileTables(path, readFileSync(join(dataDir, 'secret'), 'utf8').trim());
  const waiting = new Set(assertOneMoment(tables));
  service = await startService({ dataDir, env: store.env() });
  await service.ready;
  const kept = await readKept(store);
  const stored = tables.get('message') ?? [];
  const arrivals = new Map<string, number>();
  for (const { message_id = '' } of tables.get('handset_text') ?? [])
    arrivals.set(message_id, (arrivals.get(message_id) ?? 0) + 1);
  const expected = stored.map(({ id = '', status }) => ({
    id,
    status: waiting.has(id) ? statusCode('unknown') : Number(status),
    arrivals: arrivals.get(id) ?? 0,
  }));
  // The network's receipts go on to come, also for a text that had arrived before its result was written.
  const settled = (rows: Kept[]) =>
    rows
      .map((row) => (row.status === statusCode('delivered') ? { ...row, status: awaits(row.id) } : row))
      .sort((one, other) => (one.id < other.id ? -1 : 1));
  const awaits = (one: string) => statusCode(waiting.has(one) ? 'unknown' : 'sent');
  assert.deepEqual(settled(kept), settled(expected), 'all of the backup, and nothing else');
  const ids = new Set(kept.map((row) => row.id));
  assert.deepEqual(
    before.map(uuidOf).filter((one) => !ids.has(one)),
    [],
    'answered before the backup began',
  );

  for (const key of [apiKey, revoked.key]) {
    const refused = await sendText(service, key);
    assert.deepEqual([refused.status, /suspended/.test(String(refused.body.message))], [401, true]);
  }
  owner = await signIn(service, demo.portal);
  const { body } = await owner.send<{ data: { id: string; suspended_at: string | null }[] }>('GET', keys);
  assert.equal(body.data.filter(({ suspended_at }) => suspended_at !== null).length, 2);
  for (const one of body.data) assert.equal((await owner.send('POST', `${keys}/${one.id}/enable`)).status, 200);
  assert.equal((await sendText(service, revoked.key)).status, 201, 'until it is enabled');
  const fresh = String((await sendText(service, apiKey)).body.id);
  await eventually('a new text arrives', async () => {
    const { body } = await send(service, 'GET', `/sms/v1/messages/${fresh}`, { headers: { apikey: apiKey } });
    return body.status === 'delivered';
  });
  const old = (await readKept(store)).filter((row) => ids.has(row.id));
  assert.deepEqual(
    old.map((row) => row.arrivals),
    kept.map((row) => row.arrivals),
    'no text of before is sent again',
  );
  t.diagnostic(`${kept.length} texts kept, ${waiting.size} unknown, ${during} answered while the backup was made`);
  service.kill('SIGKILL');
  await service.ended;
  await store.drop();
});
