import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { systemClock } from '../../src/platform/clock.ts';
import type { Database } from '../../src/platform/database/database.ts';
import { createRegistry } from '../../src/registry/registry.ts';
import { readConfig } from '../../src/settings/settings.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { openTestKeyRing } from '../support/key-ring.ts';
import { createTestLog } from '../support/log.ts';

let db: TestDatabase;
before(async () => {
  db = await createTestDatabase();
  await db.database.query("insert into account (id, name, created_at) values ('acc_test', 'a@example.com', now())");
});
after(() => db.drop());

/** Ends the connection's server process for real before the n-th statement of a transaction. */
function cutBefore(n: number, database: Database): Database {
  return {
    ...database,
    transaction: (work) =>
      database.transaction(async (tx) => {
        const { rows } = await tx.query<{ pid: number }>('select pg_backend_pid() as pid');
        let count = 0;
        return work({
          query: async (statement, values) => {
            if (++count === n) await db.database.query('select pg_terminate_backend($1)', [rows[0]?.pid]);
            return tx.query(statement, values);
          },
        });
      }),
  };
}

test('a crash between any two statements leaves no half-registered application', async () => {
  const { log } = createTestLog();
  const keys = await openTestKeyRing(db.database, systemClock);
  let cuts = 0;
  for (const api of ['sms', 'verify'] as const) {
    for (let n = 1; ; n++) {
      const cutting = cutBefore(n, db.another({ poolSize: 2 }));
      const registry = createRegistry({ database: cutting, clock: systemClock, keys, log, config: readConfig({}) });
      const { id } = await registry.service.createApplication(db.database, 'acc_test', 'ACME');
      const outcome = await registry.service
        .registerOwn('acc_test', id, { api: api, plan: 'free' })
        .catch((error: unknown) => error);
      const { rows } = await db.database.query<{ registrations: number; credentials: number; changes: number }>(
        `select (select count(*) from registration where application_id = $1) as registrations,
           (select count(*) from api_key where application_id = $1)
             + (select count(*) from client_secret s join oauth_client c on c.id = s.client_id where c.application_id = $1) as credentials,
           (select count(*) from registry_change where application_id = $1) as changes`,
        [id],
      );
      if (!(outcome instanceof Error)) {
        assert.deepEqual(rows, [{ registrations: 1, credentials: 1, changes: 1 }]);
        break;
      }
      assert.match(outcome.message, /cannot reach its database/);
      assert.deepEqual(rows, [{ registrations: 0, credentials: 0, changes: 0 }], `${api}, cut before statement ${n}`);
      cuts++;
    }
  }
  assert.ok(cuts >= 8, `${cuts} places were tried`);
});
