import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import fc from 'fast-check';
import { dayMs } from '../../src/platform/clock.ts';
import { uuidOf } from '../../src/platform/ids.ts';
import { reasonCode, statusCode } from '../../src/verify/verification-row.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { runChores } from '../support/chores.ts';
import { inShort } from '../support/effort.ts';
import { createVerifyCaller, type VerificationBody, type VerifyCaller } from '../support/verify-caller.ts';

let app: TestApp;
let acme: VerifyCaller;
before(async () => {
  // Held, so that nothing is expired in the background before a test says so.
  app = await createTestApp({
    delivery: 'held',
    env: { HELIOGRAPH_TOKEN_SECONDS: '86400', HELIOGRAPH_RETENTION_DAYS: '300' },
  });
  acme = await createVerifyCaller(app);
});
after(() => app.close());

interface List {
  data: VerificationBody[];
  next_cursor: string | null;
}

/** All pages of a list, each of `limit`, newest first. */
async function listAll(caller: VerifyCaller, query: string, limit: number): Promise<VerificationBody[]> {
  const found: VerificationBody[] = [];
  for (let cursor = ''; ; ) {
    const { status, body } = await caller.send<List>('GET', `/verify/v1/verifications?limit=${limit}${query}${cursor}`);
    assert.equal(status, 200);
    assert.ok(body.data.length === limit || body.next_cursor === null, 'only the last page is short');
    found.push(...body.data);
    if (body.next_cursor === null) return found;
    cursor = `&cursor=${body.next_cursor}`;
  }
}

const statuses = ['pending', 'approved', 'failed', 'expired', 'canceled', 'blocked'];

/** The transaction that wrote each row says whether it was written to. */
async function writers(): Promise<string[]> {
  const { rows } = await app.db.database.query<{ writer: string }>(
    'select xmin::text as writer from verification order by id',
  );
  return rows.map(({ writer }) => writer);
}

test('property: lists by status are right at every moment, expired in the background or not, and write nothing', async () => {
  const start = fc.record({
    ttl: fc.constantFrom(60, 61, 300, 600),
    waitMs: fc.constantFrom(0, 1, 999, 30_000),
    end: fc.constantFrom('none', 'cancel', 'none'),
    to: fc.constantFrom('new', 'new', 'blocked'),
    expireAfter: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.array(start, { minLength: 1, maxLength: 8 }),
      fc.integer({ min: 1, max: 3 }),
      async (starts, limit) => {
        const caller = await createVerifyCaller(app);
        for (const { ttl, waitMs, end, to, expireAfter } of starts) {
          const number = to === 'blocked' ? '+15005550112' : caller.newNumber();
          const { body } = await caller.start({ to: number, ttl_seconds: ttl });
          if (end === 'cancel') await caller.send('DELETE', `/verify/v1/verifications/${body.id}`);
          if (expireAfter) await runChores(app, 'expire-verifications');
          app.clock.advance(waitMs);
        }
        for (const advanceMs of [0, 59_999, 1, 540_000, 600_000]) {
          app.clock.advance(advanceMs);
          const written = await writers();
          const all = await listAll(caller, '', limit);
          assert.equal(all.length, starts.length);
          for (const status of statuses) {
            const listed = await listAll(caller, `&status=${status}`, limit);
            assert.deepEqual(
              listed,
              all.filter((each) => each.status === status),
              status,
            );
          }
          for (const { to, status } of all) {
            const query = `&to=${encodeURIComponent(to)}`;
            assert.deepEqual(
              await listAll(caller, query, limit),
              all.filter((each) => each.to === to),
            );
            assert.deepEqual(
              await listAll(caller, `${query}&status=${status}`, limit),
              all.filter((each) => each.to === to && each.status === status),
            );
          }
          assert.deepEqual(await writers(), written);
        }
      },
    ),
    { numRuns: inShort(2, 12) },
  );
});

describe('the background', () => {
  test('expires what is over: status, reason and time, and frees nothing that still lives', async () => {
    await app.delivery.maintenance.runAll();
    const short = await acme.start({ to: acme.newNumber(), ttl_seconds: 60 });
    const long = await acme.start({ to: acme.newNumber(), ttl_seconds: 61 });
    app.clock.advance(60_000);
    const read = async (id: string) => {
      const { rows } = await app.db.database.query(
        `select status, reason, updated_at = expires_at as "atItsEnd" from verification where id = $1`,
        [uuidOf(id)],
      );
      return rows[0];
    };
    assert.equal((await read(short.body.id))?.status, statusCode('pending'));
    await app.delivery.maintenance.runAll();
    assert.deepEqual(await read(short.body.id), {
      status: statusCode('expired'),
      reason: reasonCode('ttl_elapsed'),
      atItsEnd: true,
    });
    assert.deepEqual((await read(long.body.id))?.status, statusCode('pending'));
    const { body } = await acme.read(short.body.id);
    assert.deepEqual([body.status, body.reason, body.updated_at], ['expired', 'ttl_elapsed', body.expires_at]);
  });

  test('goes past rows that a request holds', async () => {
    const [held, free] = [await acme.start({ to: acme.newNumber() }), await acme.start({ to: acme.newNumber() })];
    app.clock.advance(600_000);
    await app.db.database.transaction(async (tx) => {
      await tx.query('select from verification where id = $1 for update', [uuidOf(held.body.id)]);
      await app.delivery.maintenance.runAll();
    });
    const { rows } = await app.db.database.query<{ status: number }>(
      'select status from verification where id = any($1) order by id',
      [[held.body.id, free.body.id].map(uuidOf)],
    );
    assert.deepEqual(
      rows.map(({ status }) => status),
      [statusCode('pending'), statusCode('expired')],
    );
  });
});

test('lists go on through the weeks: every filter, every page size, in partitions and in the default one', async () => {
  let caller = await createVerifyCaller(app);
  const to = caller.newNumber();
  const made: string[] = [];
  // The last two lie beyond the partitions that are made ahead; the chores make the partition of one of them in time.
  for (const days of [0, 0, 9, 9, 60, 60]) {
    app.clock.advance(days * dayMs + 2000);
    if (days === 60 && made.length === 4) await app.delivery.maintenance.runAll();
    caller = await createVerifyCaller(app, caller);
    const { body } = await caller.start({ to, reference: 'weeks', code_length: 4 + made.length });
    made.unshift(body.id);
  }
  const [newest = '', ...canceled] = made;
  const queries: [string, string[]][] = [
    ['', made],
    [`&to=${encodeURIComponent(to)}`, made],
    ['&reference=weeks', made],
    ['&status=pending', [newest]],
  ];
  const { data } = (await caller.send<List>('GET', '/verify/v1/verifications?limit=100')).body;
  for (const status of ['canceled', 'expired']) {
    const ids = data.filter((each) => each.status === status).map(({ id }) => id);
    queries.push([`&status=${status}`, ids], [`&status=${status}&to=${encodeURIComponent(to)}`, ids]);
    queries.push([`&status=${status}&reference=weeks`, ids]);
  }
  assert.equal(data.length, 1 + canceled.length);
  for (const limit of [1, 2, 5, 100]) {
    for (const [query, ids] of queries) {
      const listed = await listAll(caller, query, limit);
      assert.deepEqual(
        listed.map(({ id }) => id),
        ids,
        `${query} by ${limit}`,
      );
    }
  }
});
