import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createTestApp, type TestApp } from '../support/app.ts';
import { checkEvents, listen, watchStates } from '../support/event-witness.ts';
import { createVerifyCaller, type VerifyCaller } from '../support/verify-caller.ts';

let app: TestApp;
let second: TestApp;
let acme: VerifyCaller;
/** The same application on another node: its own app, pool and memory, on the same database. */
let acmeElsewhere: VerifyCaller;
before(async () => {
  app = await createTestApp({ manyConnections: true });
  second = await createTestApp({ db: app.db, clock: app.clock, delivery: 'held' });
  acme = await createVerifyCaller(app);
  acmeElsewhere = await createVerifyCaller(second, acme);
  await watchStates(app.db.database);
  await listen(app.db.database);
});
after(async () => {
  const told = await checkEvents(app.db.database);
  assert.ok(told > 0, 'no event was emitted');
  await second.close();
  await app.close();
});

const callers: [string, () => VerifyCaller[]][] = [
  ['one node', () => [acme]],
  ['two nodes on one database', () => [acme, acmeElsewhere]],
];

function times<Result>(
  count: number,
  nodes: VerifyCaller[],
  work: (caller: VerifyCaller) => Promise<Result>,
): Promise<Result[]> {
  return Promise.all(Array.from({ length: count }, (_, index) => work(nodes[index % nodes.length] as VerifyCaller)));
}

for (const [where, nodes] of callers) {
  describe(where, () => {
    test('100 parallel right codes: exactly one approved, 99 times 409', async () => {
      const { id, code } = await acme.pending();
      const answers = await times(100, nodes(), (caller) => caller.check(id, code));
      assert.equal(answers.filter(({ status, body }) => status === 200 && body.valid === true).length, 1);
      assert.equal(answers.filter(({ status }) => status === 409).length, 99);
    });

    test('100 parallel wrong codes: exactly 5 spent, attempts_remaining 4, 3, 2, 1 seen once each', async () => {
      const { id, wrong } = await acme.pending();
      const answers = await times(100, nodes(), (caller) => caller.check(id, wrong));
      const pending = answers
        .filter(({ body }) => body.status === 'pending')
        .map(({ body }) => body.attempts_remaining);
      assert.deepEqual(
        pending.sort((a, b) => b - a),
        [4, 3, 2, 1],
      );
      assert.equal(answers.filter(({ body }) => body.status === 'failed').length, 96);
      assert.equal((await acme.read(id)).body.attempts, 5);
    });

    test('right and wrong codes at once: never more than 5 tries, never approved twice', async () => {
      for (let round = 0; round < 5; round++) {
        const { id, code, wrong } = await acme.pending();
        let count = 0;
        const answers = await times(40, nodes(), (caller) => caller.check(id, ++count % 7 === 0 ? code : wrong));
        const approved = answers.filter(({ body }) => body.valid === true).length;
        const { body } = await acme.read(id);
        assert.ok(approved <= 1);
        assert.equal(body.status, approved === 1 ? 'approved' : 'failed');
        assert.ok(body.attempts <= 5);
      }
    });

    test('50 parallel starts for one number: one verification, one text', async () => {
      const to = acme.newNumber();
      const answers = await times(50, nodes(), (caller) => caller.start({ to }));
      assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
      assert.equal(new Set(answers.map(({ body }) => body.id)).size, 1);
      assert.ok(answers.every(({ body }) => body.sends === 1));
      await acme.texts(to, 1);
      await app.delivery.workers()[0]?.runUntilIdle();
      assert.equal((await acme.texts(to, 1)).length, 1);
    });

    test('20 parallel starts with different code lengths leave one pending', async () => {
      const to = acme.newNumber();
      let length = 0;
      await times(20, nodes(), (caller) => caller.start({ to, code_length: 4 + (length++ % 7) }));
      const list = await acme.send<{ data: unknown[] }>(
        'GET',
        `/verify/v1/verifications?status=pending&to=${encodeURIComponent(to)}`,
      );
      assert.equal(list.body.data.length, 1);
    });
  });
}
