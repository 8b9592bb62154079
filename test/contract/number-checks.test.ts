// POST /verify/v1/checks: the act of a check by id, found by number (section 17 of the contract).
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createTestApp, type TestApp } from '../support/app.ts';
import { createVerifyCaller, type VerificationBody, type VerifyCaller } from '../support/verify-caller.ts';

let app: TestApp;
let second: TestApp;
let acme: VerifyCaller;
let elsewhere: VerifyCaller;
before(async () => {
  app = await createTestApp({ env: { HELIOGRAPH_TOKEN_SECONDS: '86400' } });
  second = await createTestApp({
    ...{ db: app.db, clock: app.clock, delivery: 'held', env: { HELIOGRAPH_TOKEN_SECONDS: '86400' } },
  });
  acme = await createVerifyCaller(app);
  elsewhere = await createVerifyCaller(second, acme);
});
after(async () => {
  await second.close();
  await app.close();
});

const checkNumber = (to: string, code: string, { caller = acme, key = '' } = {}) =>
  caller.send<VerificationBody>(
    'POST',
    '/verify/v1/checks',
    { to, code },
    key === '' ? {} : { 'idempotency-key': key },
  );
const times = <Result>(count: number, work: (index: number) => Promise<Result>) =>
  Promise.all(Array.from({ length: count }, (_, index) => work(index)));

describe('200', () => {
  test('the pending verification of the number: a wrong code spends a try, the right one approves it', async () => {
    const { id, to, code, wrong } = await acme.pending();
    const first = await checkNumber(to, wrong);
    assert.deepEqual(
      [first.status, first.body.id, first.body.valid, first.body.reason, first.body.attempts_remaining],
      [200, id, false, 'incorrect_code', 4],
    );
    const spaced = `${to.slice(0, 3)} ${to.slice(3, 7)}-${to.slice(7)}`;
    const right = await checkNumber(spaced, code);
    assert.deepEqual([right.status, right.body.id, right.body.valid, right.body.status], [200, id, true, 'approved']);
    assert.equal(typeof right.body.proof, 'string');
    assert.equal((await checkNumber(to, code)).status, 409);
  });

  test('a code of the caller', async () => {
    const to = acme.newNumber();
    await acme.start({ to, code: '515253' });
    assert.equal((await checkNumber(to, '515254')).body.valid, false);
    assert.equal((await checkNumber(to, '515253')).body.valid, true);
  });

  test('the newest that started within 24 hours, if none is pending', async () => {
    const to = acme.newNumber();
    const { body } = await acme.start({ to, code: '515253' });
    app.clock.advance(600_000);
    const lapsed = await checkNumber(to, '515253');
    assert.deepEqual(
      [lapsed.body.id, lapsed.body.status, lapsed.body.valid, lapsed.body.reason],
      [body.id, 'expired', false, 'ttl_elapsed'],
    );
    const next = (await acme.start({ to })).body;
    await acme.send('DELETE', `/verify/v1/verifications/${next.id}`);
    const canceled = await checkNumber(to, '515253');
    assert.deepEqual([canceled.body.id, canceled.body.status], [next.id, 'canceled']);
  });

  test('a replay by its key spends no try', async () => {
    const { id, to, wrong } = await acme.pending();
    const first = await checkNumber(to, wrong, { key: `number-${to}` });
    const replay = await checkNumber(to, wrong, { key: `number-${to}` });
    assert.deepEqual(replay.body, first.body);
    assert.equal(replay.headers.get('idempotency-replayed'), 'true');
    assert.equal((await acme.read(id)).body.attempts, 1);
  });
});

test('404: no verification of this application and number, or none within 24 hours', async () => {
  const { to, code } = await acme.pending();
  const other = await createVerifyCaller(app);
  assert.equal((await checkNumber(to, code, { caller: other })).status, 404);
  assert.equal((await checkNumber(acme.newNumber(), code)).status, 404);
  app.clock.advance(24 * 3_600_000 - 1000);
  acme = await createVerifyCaller(app, acme);
  elsewhere = await createVerifyCaller(second, acme);
  assert.equal((await checkNumber(to, code)).body.status, 'expired');
  app.clock.advance(2000);
  assert.equal((await checkNumber(to, code)).status, 404);
});

test('400: the number or the code is not one, and no try is spent', async () => {
  const { id, to, code } = await acme.pending();
  for (const body of [
    { to, code: '123' },
    { to, code: 123456 },
    { to },
    { code },
    { to: '12', code },
    { to: 5, code },
    {},
  ]) {
    const { status } = await acme.send('POST', '/verify/v1/checks', body);
    assert.equal(status, 400, JSON.stringify(body));
  }
  assert.equal((await acme.read(id)).body.attempts, 0);
});

describe('at once, by id and by number, on two nodes', () => {
  const any = (index: number, { id, to }: { id: string; to: string }, code: string) => {
    const caller = index % 4 < 2 ? acme : elsewhere;
    return index % 2 === 0 ? caller.check(id, code) : checkNumber(to, code, { caller });
  };

  test('40 wrong codes spend 5 tries, and 4, 3, 2 and 1 are seen once each', async () => {
    for (const given of [{}, { code: '717273' }]) {
      const pending = await acme.pending(given);
      const answers = await times(40, (index) => any(index, pending, pending.wrong));
      const left = answers.filter(({ body }) => body.status === 'pending').map(({ body }) => body.attempts_remaining);
      assert.deepEqual(
        left.sort((a, b) => b - a),
        [4, 3, 2, 1],
      );
      assert.equal(answers.filter(({ body }) => body.status === 'failed').length, 36);
    }
  });

  test('20 wrong codes and 20 right ones: at most 5 tries are spent, and at most one approves', async () => {
    for (let round = 0; round < 5; round++) {
      const pending = await acme.pending({ code: '818283' });
      const answers = await times(40, (index) => any(index, pending, index % 8 < 4 ? pending.wrong : pending.code));
      const { attempts, status } = (await acme.read(pending.id)).body;
      const approvals = answers.filter(({ body }) => body.valid === true).length;
      const spent = answers.filter(({ body }) => /^(incorrect_code|max_attempts_reached)$/.test(body.reason ?? ''));
      assert.equal(approvals, status === 'approved' ? 1 : 0);
      assert.ok(attempts <= (status === 'approved' ? 4 : 5), `${attempts} tries`);
      assert.equal(spent.filter(({ body }) => body.reason === 'incorrect_code').length, Math.min(attempts, 4));
    }
  });

  test('40 right codes approve once', async () => {
    for (const given of [{}, { code: '717273' }]) {
      const pending = await acme.pending(given);
      const answers = await times(40, (index) => any(index, pending, pending.code));
      assert.equal(answers.filter(({ status, body }) => status === 200 && body.valid === true).length, 1);
      assert.equal(answers.filter(({ status }) => status === 409).length, 39);
    }
  });

  test('checks by number while another code supersedes: each spends a try of one of both, or comes late', async () => {
    for (let round = 0; round < 5; round++) {
      const to = acme.newNumber();
      const first = (await acme.start({ to, code: '111111' })).body;
      const answers = await times(9, async (index) =>
        index === 4 ? elsewhere.start({ to, code: '222222' }) : checkNumber(to, '333333'),
      );
      assert.ok(answers.every(({ status }) => status === 200));
      const { data } = (
        await acme.send<{ data: VerificationBody[] }>('GET', `/verify/v1/verifications?to=${encodeURIComponent(to)}`)
      ).body;
      const tries = data.reduce((sum, { attempts }) => sum + attempts, 0);
      assert.equal(tries, Math.min(5, tries));
      assert.ok(data.some(({ id }) => id === first.id));
      assert.equal(answers.filter(({ body }) => body.reason === 'superseded').length, 0, 'a check finds the newer one');
    }
  });
});
