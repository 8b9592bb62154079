import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { statusCode } from '../../src/verify/verification-row.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { createVerifyCaller, type VerifyCaller } from '../support/verify-caller.ts';

const env = { HELIOGRAPH_GUARD: JSON.stringify({ per_prefix: 5, per_number: 3 }), HELIOGRAPH_RESEND_SECONDS: '300' };

let app: TestApp;
let second: TestApp;
let acme: VerifyCaller;
/** The same application on another node: its own app, pool and memory, on the same database. */
let acmeElsewhere: VerifyCaller;
before(async () => {
  app = await createTestApp({ manyConnections: true, env, delivery: 'held' });
  second = await createTestApp({ env, db: app.db, clock: app.clock, delivery: 'held' });
  acme = await createVerifyCaller(app);
  acmeElsewhere = await createVerifyCaller(second, acme);
});
after(async () => {
  await second.close();
  await app.close();
});

let prefixes = 100;

/** `count` neighbours that differ in their last four digits only. */
function neighbours(count: number): string[] {
  const prefix = `+44770${prefixes++}`;
  return Array.from({ length: count }, (_, index) => `${prefix}${String(index).padStart(4, '0')}`);
}

const callers: [string, () => VerifyCaller[]][] = [
  ['one node', () => [acme]],
  ['two nodes on one database', () => [acme, acmeElsewhere]],
];

for (const [where, nodes] of callers) {
  describe(where, () => {
    const callerOf = (index: number) => nodes()[index % nodes().length] as VerifyCaller;

    test('200 parallel starts for one prefix leave exactly 5, and 195 blocked for prefix_velocity', async () => {
      const answers = await Promise.all(neighbours(200).map((to, index) => callerOf(index).start({ to })));
      assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
      const started = answers.filter(({ body }) => body.status === 'pending');
      const blocked = answers.filter(({ body }) => body.status === 'blocked');
      assert.deepEqual([started.length, blocked.length], [5, 195]);
      assert.ok(blocked.every(({ body }) => body.reason === 'prefix_velocity' && body.sent === false));
      assert.ok(started.every(({ body }) => body.sent === true));
    });

    test('starts with an Idempotency-Key each keep to the limit', async () => {
      const answers = await Promise.all(
        neighbours(40).map((to, index) =>
          callerOf(index).send<{ status: string }>(
            'POST',
            '/verify/v1/verifications',
            { to, channel: 'sms' },
            { 'idempotency-key': `guard-${to}` },
          ),
        ),
      );
      assert.equal(answers.filter(({ body }) => body.status === 'pending').length, 5);
    });

    test('starts of several prefixes at once: 5 of each', async () => {
      const all = [neighbours(30), neighbours(30), neighbours(30)];
      // Interleaved, and on the second node in the opposite order.
      const mixed = all.flatMap((_, turn) => all.map((each) => each.slice(turn * 10, turn * 10 + 10))).flat();
      const ordered = mixed.map((to, index) => ({ to, index }));
      const answers = await Promise.all(
        [
          ...ordered.filter(({ index }) => index % 2 === 0),
          ...ordered.filter(({ index }) => index % 2 === 1).reverse(),
        ].map(({ to, index }) => callerOf(index).start({ to })),
      );
      for (const numbers of all) {
        const ofPrefix = answers.filter(({ body }) => numbers.includes(body.to) && body.status === 'pending');
        assert.equal(ofPrefix.length, 5);
      }
    });

    test('a start that continues one does not count again', async () => {
      const [to = '', other = ''] = neighbours(2);
      const answers = await Promise.all(Array.from({ length: 40 }, (_, index) => callerOf(index).start({ to })));
      assert.equal(new Set(answers.map(({ body }) => body.id)).size, 1);
      assert.equal(answers.filter(({ body }) => body.sent === true).length, 1);
      assert.equal((await acme.start({ to: other })).body.status, 'pending');
    });

    test('rounds of parallel starts for one number, each of another length: never more than 3 in all', async () => {
      const [to = ''] = neighbours(1);
      const answers = await Promise.all(
        Array.from({ length: 28 }, (_, index) => callerOf(index).start({ to, code_length: 4 + (index % 7) })),
      );
      const ids = new Set(answers.filter(({ body }) => body.status !== 'blocked').map(({ body }) => body.id));
      assert.ok(ids.size <= 3, `${ids.size} verifications`);
      const { rows } = await app.db.database.query<{ count: number }>(
        `select count(*) as count from verification where recipient = $1 and status <> ${statusCode('blocked')}`,
        [to],
      );
      assert.equal(rows[0]?.count, 3);
    });
  });
}
