// The proof names the channel that can have carried the code: section 21 of the contract.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createTestApp, type TestApp } from '../support/app.ts';
import { eventually } from '../support/eventually.ts';
import { createVerifyCaller, type VerificationBody, type VerifyCaller } from '../support/verify-caller.ts';

let app: TestApp;
let acme: VerifyCaller;
before(async () => {
  app = await createTestApp();
  acme = await createVerifyCaller(app);
});
after(() => app.close());

const testNumber = (end: string) => `+150055501${end}`;
const byVoice = [{ channel: 'voice', after_seconds: 5 }];
const amrIn = ({ proof = '' }: VerificationBody) =>
  JSON.parse(Buffer.from(proof.split('.')[1] ?? '', 'base64url').toString()).amr as unknown;

/** Turns the clock until the sends are in these states. */
async function until(id: string, wanted: string[]): Promise<void> {
  await eventually(wanted.join(', '), async () => {
    app.clock.advance(200);
    const { deliveries } = (await acme.read(id)).body;
    return deliveries.map(({ channel, status }) => `${channel} ${status}`).join() === wanted.join();
  });
}

describe('the channel in amr', () => {
  test('is not that of a call that the person did not answer', async () => {
    const { body } = await acme.start({ to: testNumber('15'), fallback: byVoice });
    await until(body.id, ['sms delivered', 'voice undelivered']);
    const checked = await acme.check(body.id, '123456');
    assert.deepEqual([checked.body.channel, amrIn(checked.body)], ['voice', ['otp', 'sms']]);
    assert.deepEqual(amrIn((await acme.read(body.id)).body), ['otp', 'sms']);
  });

  test('is that of the newest send that arrived', async () => {
    const { id, code } = await acme.pending({ fallback: byVoice });
    await until(id, ['sms delivered', 'voice delivered']);
    assert.deepEqual(amrIn((await acme.check(id, code)).body), ['otp', 'voice']);
  });

  test('is that of the newest send if all have failed', async () => {
    const { body } = await acme.start({ to: testNumber('14'), fallback: [{ channel: 'whatsapp' }] });
    await until(body.id, ['sms failed', 'whatsapp failed']);
    assert.deepEqual(amrIn((await acme.check(body.id, '123456')).body), ['otp', 'whatsapp']);
  });

  test('stays in the answer to a repeat', async () => {
    const { body } = await acme.start({ to: testNumber('15'), fallback: byVoice });
    await until(body.id, ['sms delivered', 'voice sent']);
    const check = () =>
      acme.send<VerificationBody>(
        'POST',
        `/verify/v1/verifications/${body.id}`,
        { code: '123456' },
        {
          'idempotency-key': 'while it rings',
        },
      );
    const { proof } = (await check()).body;
    await until(body.id, ['sms delivered', 'voice undelivered']);
    assert.equal((await check()).body.proof, proof);
  });
});

test('a call that is made only after the approval has carried no code', async (t) => {
  const held = await createTestApp({ delivery: 'held' });
  t.after(() => held.close());
  const caller = await createVerifyCaller(held);
  const run = () => held.delivery.workers()[0]?.runUntilIdle();
  const to = caller.newNumber();
  const { id } = (await caller.start({ to })).body;
  await run();
  const code = caller.codeIn((await caller.texts(to, 1))[0]?.text ?? '');
  assert.equal((await caller.start({ to, channel: 'voice' })).body.sends, 2);
  assert.deepEqual(amrIn((await caller.check(id, code)).body), ['otp', 'sms']);
  held.clock.advance(1000);
  await run();
  const read = (await caller.read(id)).body;
  assert.notEqual(read.deliveries[1]?.status, 'queued');
  assert.deepEqual(amrIn(read), ['otp', 'sms']);
});
