// A caller's code is never in clear at rest: not in a row, the WAL, a log or a backup.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { createDatabase, type Database } from '../../src/platform/database/database.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { backupPath, openBackupFile, readTables } from '../support/backups.ts';
import { run } from '../support/commands.ts';
import { testServer } from '../support/database.ts';
import { inShort } from '../support/effort.ts';
import { testSecret } from '../support/key-ring.ts';
import { createTestLog } from '../support/log.ts';
import { createVerifyCaller, type VerifyCaller } from '../support/verify-caller.ts';

let app: TestApp;
let acme: VerifyCaller;
let admin: Database;
before(async () => {
  app = await createTestApp();
  acme = await createVerifyCaller(app);
  admin = createDatabase({ connection: testServer().adminConnection, log: createTestLog().log, poolSize: 1 });
});
after(async () => {
  await admin.close();
  await app.close();
});

const count = inShort(60, 200);
const codes = Array.from({ length: count }, (_, n) => String(4_823_019_571 + n * 7_919_033));

async function walPlace(): Promise<string> {
  const { rows } = await admin.query<{ file: string }>('select pg_walfile_name(pg_current_wal_lsn()) as file');
  return rows[0]?.file ?? '';
}

/** The WAL between two of its files. */
async function readWal(first: string): Promise<Buffer> {
  const { rows } = await admin.query<{ folder: string }>(`select current_setting('data_directory') as folder`);
  const folder = join(rows[0]?.folder ?? '', 'pg_wal');
  const last = await walPlace();
  const files = readdirSync(folder).filter((name) => /^[0-9A-F]{24}$/.test(name) && name >= first && name <= last);
  assert.ok(files.length > 0);
  return Buffer.concat(files.map((name) => readFileSync(join(folder, name))));
}

/** In every state that a verification has: pending, superseded, approved, failed, canceled, and sent again. */
async function useAll(): Promise<void> {
  const pieces = Array.from({ length: count / 20 }, (_, n) => codes.slice(n * 20, n * 20 + 20));
  for (const piece of pieces) await Promise.all(piece.map(use));
  app.clock.advance(60_000);
  await Promise.all(codes.filter((_, n) => n % 6 === 0).map((code, n) => acme.start({ to: numberOf(n * 6), code })));
}

const numbers: string[] = [];
const numberOf = (n: number) => (numbers[n] ??= acme.newNumber());

async function use(code: string): Promise<void> {
  const n = codes.indexOf(code);
  const to = numberOf(n);
  const { status, body } = await acme.send<{ id: string }>(
    'POST',
    '/verify/v1/verifications',
    { to, code, channel: 'sms', autofill: { domain: 'example.com' } },
    n % 2 === 0 ? { 'idempotency-key': `start-${n}` } : {},
  );
  assert.equal(status, 200);
  const path = `/verify/v1/verifications/${body.id}`;
  if (n % 6 === 1) await acme.start({ to });
  if (n % 6 === 2) await acme.send('POST', path, { code }, { 'idempotency-key': `check-${n}` });
  if (n % 6 === 3) await acme.check(body.id, codes.at(n - 1) ?? '');
  if (n % 6 === 4) await acme.send('DELETE', path);
  if (n % 6 === 5) await acme.send('POST', path, { code: `${code}0` });
}

test(`${count} codes of the caller are in no table, in no WAL file, in no log and in no backup`, async () => {
  const first = await walPlace();
  await useAll();
  for (const n of [0, 6, count - 2 - ((count - 2) % 6)]) {
    const [text] = await acme.texts(numberOf(n), 1);
    assert.equal(acme.codeIn(text?.text ?? ''), codes[n], 'the code was sent');
  }
  const tables = await readTables(app.db.database);
  assert.ok((tables.pending_verification?.length ?? 0) > count / 7);
  const path = backupPath();
  await run(app, 'backup', path);
  const backup = await openBackupFile(path, testSecret);
  assert.ok(backup.text.includes('pending_verification'));
  const wal = await readWal(first);
  const places: Record<string, string> = {
    ...Object.fromEntries(Object.entries(tables).map(([name, rows]) => [name, rows.join('\n')])),
    log: app.logLines.join(''),
    backup: backup.text,
    'sealed backup': readFileSync(path, 'latin1'),
    WAL: wal.toString('latin1'),
  };
  assert.ok(places.WAL?.includes(numberOf(0)), 'the WAL has the rows');
  for (const [place, text] of Object.entries(places))
    for (const code of codes) assert.equal(text.includes(code), false, `${place} has a code`);
});

test('only a pending verification has a sealed code', async () => {
  const { rows } = await app.db.database.query<{ sealed: number }>(
    `select count(*)::integer as sealed from pending_verification p join verification v on v.id = p.verification_id
     where p.sealed_code is not null and v.code_hash is not null and v.status = 0`,
  );
  const { rows: all } = await app.db.database.query<{ sealed: number }>(
    'select count(*)::integer as sealed from pending_verification where sealed_code is not null',
  );
  assert.ok((all[0]?.sealed ?? 0) > count / 7);
  assert.deepEqual(rows, all);
});
