// Every send by another channel counts for the guard, exactly, on one node and two.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createTestApp, type TestApp } from '../support/app.ts';
import { createVerifyCaller, type VerifyCaller } from '../support/verify-caller.ts';

const env = { HELIOGRAPH_GUARD: JSON.stringify({ per_prefix: 6, per_number: 3 }), HELIOGRAPH_RESEND_SECONDS: '1' };

let app: TestApp;
let second: TestApp;
let acme: VerifyCaller;
let elsewhere: VerifyCaller;
before(async () => {
  app = await createTestApp({ manyConnections: true, env, delivery: 'held' });
  second = await createTestApp({ env, db: app.db, clock: app.clock, delivery: 'held' });
  acme = await createVerifyCaller(app);
  elsewhere = await createVerifyCaller(second, acme);
});
after(async () => {
  await second.close();
  await app.close();
});

let prefixes = 100;
const newPrefix = () => `+44771${prefixes++}`;

describe('sends by other channels', () => {
  test('count for the number: the third is the last', async () => {
    const to = `${newPrefix()}0001`;
    const answers: string[] = [];
    for (const channel of ['sms', 'voice', 'whatsapp', 'voice']) {
      const { body } = await acme.start({ to, channel });
      answers.push(`${channel} ${body.status} ${body.reason}`);
      app.clock.advance(1000);
    }
    assert.deepEqual(answers, [
      'sms pending null',
      'voice pending null',
      'whatsapp pending null',
      'voice blocked destination_limit',
    ]);
    const { body } = await acme.send<{ data: { status: string; sends: number }[] }>(
      'GET',
      `/verify/v1/verifications?status=pending&to=${encodeURIComponent(to)}`,
    );
    assert.deepEqual(
      body.data.map(({ sends }) => sends),
      [3],
      'the pending verification goes on',
    );
  });

  test('a text that is sent again counts as before: not at all', async () => {
    const to = `${newPrefix()}0001`;
    for (let sends = 1; sends <= 4; sends++) {
      const { body } = await acme.start({ to });
      assert.deepEqual([body.status, body.sends], ['pending', sends]);
      app.clock.advance(1000);
    }
  });

  test('count for the prefix, exactly, when they arrive together on two nodes', async () => {
    const prefix = newPrefix();
    const numbers = Array.from({ length: 12 }, (_, index) => `${prefix}${String(index).padStart(4, '0')}`);
    for (const to of numbers.slice(0, 4)) await acme.start({ to });
    const answers = await Promise.all(
      numbers
        .slice(0, 4)
        .flatMap((to, index) =>
          ['voice', 'whatsapp'].map((channel) => (index % 2 === 0 ? acme : elsewhere).start({ to, channel })),
        ),
    );
    const sent = answers.filter(({ body }) => body.status === 'pending');
    assert.equal(sent.length, 2, 'four starts and two more sends make six');
    assert.ok(answers.every(({ body }) => body.status === 'pending' || body.reason === 'prefix_velocity'));
  });
});
