// PUT /verify/v1/verifications/{id}/outcome: the caller reports what became of its own code.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createTestApp, type TestApp } from '../support/app.ts';
import { createVerifyCaller, type VerificationBody, type VerifyCaller } from '../support/verify-caller.ts';

let app: TestApp;
let acme: VerifyCaller;
before(async () => {
  // A worker would change the delivery between two answers.
  app = await createTestApp({ delivery: 'held' });
  acme = await createVerifyCaller(app);
});
after(() => app.close());

const report = (id: string, outcome: unknown) =>
  acme.send<VerificationBody>('PUT', `/verify/v1/verifications/${id}/outcome`, { outcome });
const started = async (more: object = { code: '818283' }) =>
  (await acme.start({ to: acme.newNumber(), ...more })).body.id;

describe('200', () => {
  test('approved ends it without a proof; the same again changes nothing', async () => {
    const id = await started();
    const first = await report(id, 'approved');
    assert.deepEqual([first.status, first.body.status, first.body.reason], [200, 'approved', null]);
    assert.equal(first.body.approved_at, first.body.updated_at);
    assert.equal('proof' in first.body, false);
    app.clock.advance(1000);
    assert.deepEqual((await report(id, 'approved')).body, first.body);
    const read = await acme.read(id);
    assert.deepEqual([read.body.status, 'proof' in read.body], ['approved', false]);
    assert.equal((await acme.check(id, '818283')).status, 409);
  });

  test('failed ends it, and the right code no longer helps', async () => {
    const id = await started();
    const { status, body } = await report(id, 'failed');
    assert.deepEqual([status, body.status, body.reason], [200, 'failed', 'reported_by_client']);
    assert.equal((await acme.check(id, '818283')).body.valid, false);
  });

  test('what a check has decided may be reported again', async () => {
    const id = await started();
    await acme.check(id, '818283');
    assert.equal((await report(id, 'approved')).status, 200);
    assert.equal((await report(id, 'failed')).status, 409);
  });

  test('after the expiry it stays expired, whether the expiry is written down or not', async () => {
    for (const isWritten of [false, true]) {
      const id = await started({ code: '818283', ttl_seconds: 60 });
      app.clock.advance(61_000);
      if (isWritten) await app.delivery.maintenance.runAll();
      const first = await report(id, 'approved');
      assert.deepEqual([first.status, first.body.status, first.body.reason], [200, 'expired', 'ttl_elapsed']);
      assert.equal(first.body.approved_at, null);
      assert.deepEqual((await report(id, 'approved')).body, first.body);
      assert.equal((await report(id, 'failed')).status, 409);
    }
  });

  test('of two outcomes at once one is written, and the other gets 409', async () => {
    for (let round = 0; round < 5; round++) {
      const id = await started();
      const all = await Promise.all(['approved', 'failed', 'approved', 'failed'].map((each) => report(id, each)));
      assert.deepEqual(
        all.map(({ status }) => status).sort((a, b) => a - b),
        [200, 200, 409, 409],
      );
    }
  });
});

test('409: a code of ours, another outcome, or a canceled verification', async () => {
  const ours = await started({});
  assert.equal((await report(ours, 'approved')).status, 409);
  const id = await started();
  await report(id, 'failed');
  assert.equal((await report(id, 'approved')).status, 409);
  const canceled = await started();
  await acme.send('DELETE', `/verify/v1/verifications/${canceled}`);
  assert.equal((await report(canceled, 'approved')).status, 409);
  assert.equal((await acme.read(ours)).body.status, 'pending');
});

test('404: unknown, or of another application', async () => {
  const other = await createVerifyCaller(app);
  const id = await started();
  const { status } = await other.send('PUT', `/verify/v1/verifications/${id}/outcome`, { outcome: 'approved' });
  assert.equal(status, 404);
  assert.equal((await report('ver_unknown', 'approved')).status, 404);
});

test('400: an outcome that there is not', async () => {
  const id = await started();
  for (const outcome of ['pending', '', null, 1, ['approved']]) assert.equal((await report(id, outcome)).status, 400);
});
