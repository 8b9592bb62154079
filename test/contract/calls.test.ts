// Calls on the sandbox's virtual handsets: section 11 of the contract.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createTestApp, type TestApp } from '../support/app.ts';
import { eventually } from '../support/eventually.ts';
import { createVerifyCaller, type InboxText, type VerifyCaller } from '../support/verify-caller.ts';

let app: TestApp;
let acme: VerifyCaller;
before(async () => {
  app = await createTestApp();
  acme = await createVerifyCaller(app);
});
after(() => app.close());

type CallOnPhone = InboxText & { ringing?: boolean };

async function ringing(): Promise<{ id: string; to: string; call: CallOnPhone }> {
  const to = acme.newNumber();
  const { body } = await acme.start({ to, channel: 'voice' });
  const [call] = (await acme.texts(to, 1)) as CallOnPhone[];
  assert.equal(call?.ringing, true);
  return { id: body.id, to, call };
}

const act = (messageId: string, action: string, caller = acme) =>
  caller.send<{ state?: string; code?: string }>('POST', `/sandbox/v1/inbox/calls/${messageId}`, { action });

/** What the receipt said, once it has come. */
async function reported(id: string): Promise<string> {
  // The network needs 100 ms for a receipt.
  app.clock.advance(100);
  const send = await eventually('the receipt of the call', async () => {
    const [each] = (await acme.read(id)).body.deliveries;
    return each !== undefined && !['queued', 'sent'].includes(each.status) && each;
  });
  return [send.status, send.error?.code].join(' ').trim();
}

const isSent = async (id: string) => (await acme.read(id)).body.delivery?.status === 'sent';
const isReported = async () => {
  const { rows } = await app.db.database.query('select from handset_late_receipt where rings');
  return rows.length === 0;
};

describe('a call', () => {
  test('is answered by itself after three seconds', async () => {
    const { id, to } = await ringing();
    app.clock.advance(2500);
    assert.equal(await isSent(id), true);
    app.clock.advance(500);
    assert.equal(await reported(id), 'delivered');
    assert.equal(((await acme.texts(to, 1))[0] as CallOnPhone).ringing, false);
  });

  test('that a person lets ring is not answered after twenty seconds, and nothing was heard', async () => {
    const { id, to, call } = await ringing();
    assert.deepEqual((await act(call.message_id, 'ring')).body, { message_id: call.message_id, state: 'ringing' });
    app.clock.advance(10_000);
    assert.equal(await isSent(id), true);
    app.clock.advance(10_000);
    assert.equal(await reported(id), 'undelivered no_answer');
    // The phone commits after the message has its receipt.
    await eventually('the phone without a call', async () => (await acme.texts(to, 0)).length === 0);
  });

  test('that a person answers is delivered at once; later it is a 409', async () => {
    const { id, to, call } = await ringing();
    await act(call.message_id, 'ring');
    app.clock.advance(10_000);
    assert.equal((await act(call.message_id, 'answer')).body.state, 'answered');
    assert.equal(await reported(id), 'delivered');
    assert.equal((await acme.texts(to, 1)).length, 1);
    const late = await act(call.message_id, 'decline');
    assert.deepEqual([late.status, late.body.code], [409, 'INCOMPATIBLE_STATE']);
  });

  test('that a person declines is busy, and nothing was heard', async () => {
    const { id, to, call } = await ringing();
    assert.equal((await act(call.message_id, 'decline')).body.state, 'declined');
    assert.deepEqual(await acme.texts(to, 0), []);
    assert.equal(await reported(id), 'undelivered busy');
  });

  test('that two take at once has one end', async () => {
    const { id, call } = await ringing();
    const actions = ['answer', 'decline', 'answer', 'decline'];
    const answers = await Promise.all(actions.map((action) => act(call.message_id, action)));
    const [won, ...others] = answers.flatMap(({ status }, index) => (status === 200 ? [actions[index]] : []));
    assert.deepEqual(others, []);
    assert.equal(await reported(id), won === 'answer' ? 'delivered' : 'undelivered busy');
  });

  test('to a number that does not answer, or is busy, does not ring here', async () => {
    for (const to of ['+15005550115', '+15005550116']) {
      const { body } = await acme.start({ to, channel: 'voice' });
      const id = body.delivery?.message_id ?? '';
      assert.equal((await act(id, 'answer')).status, 409);
      await eventually('the call to fail', async () => {
        app.clock.advance(1000);
        return (await acme.read(body.id)).body.delivery?.status === 'undelivered';
      });
    }
  });
});

describe('refused', () => {
  test('400 another action; 404 a text, an unknown one, and the call of another application', async () => {
    const { call } = await ringing();
    const other = await createVerifyCaller(app);
    const { body: text } = await acme.start({ to: acme.newNumber() });
    for (const [id, action, caller, status] of [
      [call.message_id, 'hang up', acme, 400],
      [text.delivery?.message_id ?? '', 'answer', acme, 404],
      ['msg_none', 'answer', acme, 404],
      [call.message_id, 'answer', other, 404],
    ] as const) {
      assert.equal((await act(id, action, caller)).status, status, `${id} ${action}`);
    }
    app.clock.advance(3000);
    await eventually('the call to end', isReported);
  });
});
