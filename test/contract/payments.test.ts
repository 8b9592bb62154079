// Payments that a code confirms: section 21 of the contract.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createTestApp, type TestApp } from '../support/app.ts';
import { createVerifyCaller, type VerificationBody, type VerifyCaller } from '../support/verify-caller.ts';

let app: TestApp;
let acme: VerifyCaller;
before(async () => {
  app = await createTestApp();
  acme = await createVerifyCaller(app);
});
after(() => app.close());

const ten = { amount: '10.00', currency: 'EUR', payee: 'Acme Shop' };
const hundred = { ...ten, amount: '100.00' };
type Paid = VerificationBody & { payment?: typeof ten };

async function started(body: object = {}) {
  const to = acme.newNumber();
  const answer = await acme.start({ to, payment: ten, ...body });
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
  const [text] = await acme.texts(to, 1);
  return { ...(answer.body as Paid), to, text: text?.text ?? '', code: acme.codeIn(text?.text ?? '') };
}

const check = (id: string, code: string, payment?: object | null) =>
  acme.send<Paid>('POST', `/verify/v1/verifications/${id}`, { code, ...(payment !== undefined && { payment }) });
const checkNumber = (to: string, code: string, payment?: object) =>
  acme.send<Paid>('POST', '/verify/v1/checks', { to, code, ...(payment !== undefined && { payment }) });
const claimsIn = ({ proof = '' }: { proof?: string }) =>
  JSON.parse(Buffer.from(proof.split('.')[1] ?? '', 'base64url').toString()) as Record<string, unknown>;

describe('a start with a payment', () => {
  test('200: the record shows it, and the text has amount and payee; other records have no such field', async () => {
    const { payment, text, id } = await started();
    assert.deepEqual(payment, ten);
    assert.match(text, /EUR 10\.00 to Acme Shop/);
    assert.deepEqual((await acme.read(id)).body as unknown as { payment: unknown }, {
      ...(await acme.read(id)).body,
      payment: ten,
    });
    const plain = await acme.start({ to: acme.newNumber(), payment: null });
    assert.equal('payment' in plain.body, false);
  });

  test('the amount is written as the language writes it, in two segments at most', async () => {
    const { text } = await started({ locale: 'de', payment: { ...ten, amount: '1234567.50' } });
    assert.match(text, /1\.234\.567,50 EUR an Acme Shop/);
    const long = await started({
      locale: 'ru',
      payment: { ...ten, amount: '999999999999.999', payee: 'я'.repeat(40) },
    });
    assert.ok(long.text.includes('я'.repeat(40)), long.text);
    assert.ok(long.text.length <= 134, `${long.text.length}`);
  });

  test('the same payment continues the verification, however its amount is written; another, or none, supersedes', async () => {
    const first = await started();
    const same = await acme.start({ to: first.to, payment: { ...ten, amount: '010.0' } });
    assert.deepEqual([same.body.id, (same.body as Paid).payment], [first.id, ten]);
    await check(first.id, first.code === '000000' ? '111111' : '000000');
    const other = await acme.start({ to: first.to, payment: hundred });
    assert.notEqual(other.body.id, first.id);
    assert.deepEqual([other.body.sent, other.body.attempts_remaining], [true, 4]);
    assert.deepEqual((await acme.read(first.id)).body.reason, 'superseded');
    const none = await acme.start({ to: first.to });
    assert.deepEqual([none.body.id === other.body.id, none.body.sent], [false, true]);
    const again = await acme.start({ to: first.to, payment: ten });
    assert.notEqual(again.body.id, none.body.id);
  });

  test('a start that writes the amount in another way sends the same code again', async () => {
    const first = await started();
    app.clock.advance(3000);
    const again = await acme.start({ to: first.to, payment: { ...ten, amount: '10.0' } });
    assert.deepEqual([again.body.id, again.body.sent, (again.body as Paid).payment], [first.id, true, ten]);
    const [newest] = await acme.texts(first.to, 2);
    assert.equal(newest?.text, first.text);
  });

  test('400: every bad field, and a payment with a code of the caller', async () => {
    const bad: [object, string[]][] = [
      [{ amount: '10,00' }, ['payment.amount']],
      [{ amount: 10 }, ['payment.amount']],
      [{ amount: '1234567890123' }, ['payment.amount']],
      [{ amount: '1.0001', currency: 'eur', payee: '' }, ['payment.amount', 'payment.currency', 'payment.payee']],
      [{ currency: 'DEM' }, ['payment.currency']],
      [{ payee: 'shop.example' }, ['payment.payee']],
      [{ payee: 'www shop' }, ['payment.payee']],
      [{ payee: 'a/b' }, ['payment.payee']],
      [{ payee: 'a\nb' }, ['payment.payee']],
      [{ payee: ' a' }, ['payment.payee']],
      [{ payee: 'x'.repeat(41) }, ['payment.payee']],
      [{ payee: undefined }, ['payment.payee']],
    ];
    for (const [wrong, fields] of bad) {
      const { status, body } = await acme.send<{ details: { field: string }[] }>('POST', '/verify/v1/verifications', {
        ...{ to: acme.newNumber(), channel: 'sms', payment: { ...ten, ...wrong } },
      });
      assert.deepEqual([status, body.details?.map(({ field }) => field)], [400, fields], JSON.stringify(wrong));
    }
    const given = await acme.send<{ details: { field: string }[] }>('POST', '/verify/v1/verifications', {
      ...{ to: acme.newNumber(), channel: 'sms', payment: ten, code: '123456' },
    });
    assert.deepEqual([given.status, given.body.details[0]?.field], [400, 'payment']);
    assert.equal((await acme.start({ to: acme.newNumber(), payment: 'ten' })).status, 400);
    const noRoom = {
      ...{ autofill: { domain: `${'a'.repeat(60)}.${'b'.repeat(60)}.example` }, locale: 'ru' },
      payment: ten,
    };
    assert.equal(
      (await acme.start({ to: acme.newNumber(), ...noRoom, payment: { ...ten, payee: 'я'.repeat(40) } })).status,
      400,
    );
  });
});

describe('a check', () => {
  test('by id need not name the payment; the proof has it, and how the code came', async () => {
    const { id, code } = await started();
    const { status, body } = await check(id, code);
    assert.deepEqual([status, body.valid, body.payment], [200, true, ten]);
    const claims = claimsIn(body);
    assert.deepEqual([claims.payment, claims.amr], [ten, ['otp', 'sms']]);
    assert.deepEqual(claimsIn((await acme.read(id)).body).payment, ten);
    assert.equal((await check(id, code)).status, 409);
    const plain = await acme.pending();
    const proof = claimsIn((await acme.check(plain.id, plain.code)).body);
    assert.deepEqual([proof.amr, 'payment' in proof], [['otp', 'sms'], false]);
  });

  test('by id, another payment is a 400 and spends no try; the same one, however written, is not', async () => {
    const { id, code, to } = await started();
    for (const other of [hundred, { ...ten, currency: 'USD' }, { ...ten, payee: 'Other Shop' }]) {
      const { status, body } = await acme.send<{ details: { field: string }[] }>(
        ...(['POST', `/verify/v1/verifications/${id}`, { code, payment: other }] as const),
      );
      assert.deepEqual([status, body.details[0]?.field], [400, 'payment']);
      assert.equal((await checkNumber(to, code, other)).status, 400);
    }
    const { body } = await acme.read(id);
    assert.deepEqual([body.status, body.attempts], ['pending', 0]);
    assert.equal((await check(id, code, { ...ten, amount: '10' })).body.valid, true);
  });

  test('by number it must name the payment, and only then', async () => {
    const { to, code } = await started();
    assert.equal((await checkNumber(to, code)).status, 400);
    assert.equal((await checkNumber(to, code, ten)).body.valid, true);
    const plain = await acme.pending();
    assert.equal((await checkNumber(plain.to, plain.code, ten)).status, 400);
    assert.equal((await check(plain.id, plain.code, ten)).status, 400);
    const { body } = await checkNumber(plain.to, plain.code);
    assert.deepEqual([body.valid, body.attempts], [true, 0]);
  });

  test('wrong codes spend tries, and with an idempotency key the answer is the same', async () => {
    const { id, code } = await started();
    const wrong = String((Number(code[0]) + 1) % 10) + code.slice(1);
    const first = await check(id, wrong);
    assert.deepEqual([first.body.valid, first.body.attempts], [false, 1]);
    const keyed = { 'idempotency-key': 'a-wrong-one' };
    const path = `/verify/v1/verifications/${id}`;
    const second = await acme.send<Paid>('POST', path, { code: wrong }, keyed);
    assert.deepEqual([second.status, second.body.attempts], [200, 2]);
    assert.deepEqual((await acme.send<Paid>('POST', path, { code: wrong }, keyed)).body, second.body);
    const other = await acme.send('POST', path, { code, payment: hundred }, { 'idempotency-key': 'another' });
    assert.equal(other.status, 400);
    const right = await acme.send<Paid>('POST', path, { code }, { 'idempotency-key': 'right' });
    assert.deepEqual([right.body.valid, right.body.attempts], [true, 2]);
  });

  test('N parallel wrong codes spend exactly five tries, N parallel right ones approve once', async () => {
    const one = await started();
    const wrong = String((Number(one.code[0]) + 1) % 10) + one.code.slice(1);
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, i) => check(one.id, wrong, i % 3 === 0 ? ten : undefined)),
    );
    assert.equal(answers.filter(({ body }) => body.reason === 'incorrect_code').length, 4);
    assert.equal((await acme.read(one.id)).body.status, 'failed');
    const two = await started();
    const right = await Promise.all(
      Array.from({ length: 6 }, (_, i) => check(two.id, two.code, i % 2 ? ten : undefined)),
    );
    assert.deepEqual(right.map(({ status }) => status).sort(), [200, 409, 409, 409, 409, 409]);
  });

  test('a test number takes its fixed code', async () => {
    const to = '+15005550107';
    const { body } = await acme.start({ to, payment: ten });
    assert.equal((await check(body.id, '123456')).body.valid, true);
  });
});

test('after the retention time the payee is masked with the number', async () => {
  const { id } = await started();
  app.clock.advance(32 * 86_400_000);
  await app.delivery.maintenance.runAll();
  const later = await createVerifyCaller(app, acme);
  const { body } = await later.read(id);
  assert.deepEqual((body as Paid).payment, { ...ten, payee: '•••' });
  const { rows } = await app.db.database.query<{ payee: string }>(
    `select distinct template #>> '{payment,payee}' as payee from message where template ? 'payment'`,
  );
  assert.deepEqual(rows, [{ payee: '•••' }], 'nor does a text have it');
});
