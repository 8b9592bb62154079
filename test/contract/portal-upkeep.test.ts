// What has outlived its use is deleted in small pieces in the background, never by a request.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createPortalUpkeep } from '../../src/accounts/upkeep.ts';
import { dayMs } from '../../src/platform/clock.ts';
import { pieceRows } from '../../src/platform/work/maintenance.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { runChores } from '../support/chores.ts';
import { send, signUp } from '../support/developer.ts';

let app: TestApp;
before(async () => {
  // The maintenance of the app itself stands still.
  app = await createTestApp({ delivery: 'held' });
});
after(() => app.close());

async function rowsOf(table: string): Promise<number> {
  const { rows } = await app.db.database.query<{ count: number }>(`select count(*)::int as count from ${table}`);
  return rows[0]?.count ?? 0;
}

const upkeep = () => runChores(app, 'dead-sessions', 'dead-links', 'old-known-addresses', 'old-sign-in-tries');

/** Rows of failed sign-ins, one each millisecond, the newest at this time. */
async function insertTries(count: number, newestMs: number): Promise<void> {
  await app.db.database.query(
    `insert into sign_in_throttle
     select ('\\x' || md5($2::text || n))::bytea, 1, $2::timestamptz - make_interval(secs => n / 1000.0), $2::timestamptz
     from generate_series(0, $1::int - 1) n`,
    [count, new Date(newestMs).toISOString()],
  );
}

test('sessions, links, known addresses and failed sign-ins go after their time; those that live stay', async () => {
  const developer = await signUp(app);
  const signIn = { email: developer.email, password: developer.password };
  assert.equal((await send(app, 'POST', '/portal/v1/sessions', { body: signIn })).status, 201);
  const wrong = { ...signIn, password: 'wrong' };
  assert.equal((await send(app, 'POST', '/portal/v1/sessions', { body: wrong })).status, 401);
  await app.app.people.createLink(developer.email);
  const counts = async () => [
    await rowsOf('session'),
    await rowsOf('one_time_link'),
    await rowsOf('sign_in_throttle'),
    await rowsOf('known_address'),
  ];
  await upkeep();
  assert.deepEqual(await counts(), [2, 1, 2, 1]);
  app.clock.advance(12 * 3_600_000);
  await upkeep();
  assert.deepEqual(await counts(), [0, 1, 2, 1]);
  app.clock.advance(12 * 3_600_000 + 1);
  await upkeep();
  assert.deepEqual(await counts(), [0, 0, 0, 1]);
  app.clock.advance(29 * dayMs);
  await upkeep();
  assert.deepEqual(await counts(), [0, 0, 0, 0]);
});

test('a piece is small, however much there is', async () => {
  await insertTries(2500, app.clock.nowMs() - 2 * dayMs);
  const { deleteOldTries } = createPortalUpkeep(app.db.database, app.clock);
  assert.deepEqual(
    [await deleteOldTries(), await deleteOldTries(), await deleteOldTries(), await deleteOldTries()],
    [pieceRows, pieceRows, 500, 0],
  );
});

test('failed sign-ins of a day are bounded: beyond that the oldest go first', async () => {
  const newestMs = app.clock.nowMs();
  await insertTries(2500, newestMs);
  const { deleteOldTries } = createPortalUpkeep(app.db.database, app.clock, 300);
  while ((await deleteOldTries()) > 0);
  assert.equal(await rowsOf('sign_in_throttle'), 300);
  const { rows } = await app.db.database.query<{ oldestMs: number }>(
    'select min(last_failed_at) as "oldestMs" from sign_in_throttle',
  );
  assert.equal(rows[0]?.oldestMs, newestMs - 299);
});
