// In the sandbox the virtual phones show texts that went through a configured carrier.
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { emptySubmit } from '../../src/smpp/pdu.ts';
import type { Behaviour } from '../../src/smsc/faults.ts';
import { type Smsc, startSmsc } from '../../src/smsc/server.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { connectCarrier, deleteCarrier } from '../support/carrier.ts';
import { createRunningClock } from '../support/clock.ts';
import { send, type TestDeveloper } from '../support/developer.ts';
import { openEvents } from '../support/events.ts';
import { eventually } from '../support/eventually.ts';
import { createOperator } from '../support/operator.ts';
import { startScriptedSmsc } from '../support/scripted-smsc.ts';
import { createSender, type Page, type Sender } from '../support/texts.ts';

const inbox = '/sandbox/v1/inbox';

let app: TestApp;
let operator: TestDeveloper;
let sender: Sender;
let smsc: Smsc;
before(async () => {
  app = await createTestApp({ clock: createRunningClock() });
  operator = await createOperator(app);
});
after(() => app.close());
beforeEach(async () => {
  sender = await createSender(app);
  smsc = await startSmsc({ behaviour: { receipt_after_ms: 0 } });
});
afterEach(async () => {
  await deleteCarrier(operator);
  await smsc.close();
});

async function connect(settings: Record<string, unknown> = {}, behaviour: Partial<Behaviour> = {}): Promise<void> {
  smsc.change(behaviour);
  await connectCarrier(operator, smsc.port, settings);
}

interface Item {
  to: string;
  from: string;
  text: string;
  message_id: string;
  verification_id: string | null;
}

async function onPhones(): Promise<Item[]> {
  return (await send<Page<Item>>(app, 'GET', inbox, { headers: sender.key })).body.data;
}

async function sendText(changes: Record<string, unknown> = {}): Promise<string> {
  const { status, body } = await sender.sms(changes);
  assert.equal(status, 201, JSON.stringify(body));
  return body.id;
}

const untilStatus = (id: string, status: string) =>
  eventually(`${id} to be ${status}`, async () => (await sender.readSms(id)).status === status);

/** A later text on the sandbox's own phones: the report of the virtual network has then passed all before it. */
async function untilReported(): Promise<void> {
  await untilStatus(await sendText({ to: '+15005550100' }), 'delivered');
}

async function countUnmatched(): Promise<number | undefined> {
  const { rows } = await app.db.database.query<{ count: number }>('select count(*) as count from unmatched_receipt');
  return rows[0]?.count;
}

describe('a text through a carrier', () => {
  test('appears when it is delivered: in the list and in the stream, once, without another receipt', async () => {
    await connect({}, { receipt_state: 'none' });
    const stream = await openEvents(app, `${inbox}/stream`, sender.key);
    const waiting = await sendText({ message: 'No receipt comes' });
    await untilStatus(waiting, 'sent');
    smsc.change({ receipt_state: 'delivered' });
    const id = await sendText({ message: 'Grüße @ €5' });
    await untilStatus(id, 'delivered');
    const [item, ...more] = await onPhones();
    assert.deepEqual(more, []);
    assert.deepEqual([item?.to, item?.from, item?.text, item?.message_id], ['+447700900123', 'ACME', 'Grüße @ €5', id]);
    await eventually('the event', () => stream.events().length > 0);
    assert.deepEqual(JSON.parse(stream.events()[0]?.data ?? ''), item);
    await untilReported();
    assert.equal(await countUnmatched(), 0, 'the virtual network has sent no receipt for it');
    assert.equal((await onPhones()).filter(({ message_id }) => message_id === id).length, 1);
    stream.close();
  });

  test('a long text appears once, whole; receipts that come twice change nothing', async () => {
    await connect({}, { receipts_twice: true });
    const message = 'This sentence is long enough to need more than one part. '.repeat(6);
    const id = await sendText({ message });
    await untilStatus(id, 'delivered');
    await eventually('all receipts are taken', () => smsc.state().counts.receipts_acknowledged === 6);
    assert.deepEqual(
      (await onPhones()).map(({ text, message_id }) => [text, message_id]),
      [[message, id]],
    );
  });

  test('a receipt before the answer to the submit shows the text on the handset', async () => {
    await connect({}, { early_receipts: true });
    const id = await sendText();
    await untilStatus(id, 'delivered');
    assert.deepEqual(
      (await onPhones()).map(({ message_id }) => message_id),
      [id],
    );
  });

  test('an undelivered text does not appear', async () => {
    await connect({}, { receipt_state: 'undelivered' });
    await untilStatus(await sendText(), 'undelivered');
    assert.deepEqual(await onPhones(), []);
  });

  test('a text of a carrier without receipts appears when it is sent, and once if a receipt comes all the same', async () => {
    const scripted = await startScriptedSmsc();
    await connect({ receipts: 'none', port: scripted.port });
    const id = await sendText();
    const shown = async () => (await onPhones()).map(({ message_id }) => message_id);
    await eventually('the text on the phone', async () => (await shown()).length > 0);
    await untilStatus(id, 'sent');
    const shortMessage = Buffer.from('id:m1 stat:DELIVRD err:000');
    const receipt = { ...emptySubmit, esmClass: 4, source: '447700900123', shortMessage };
    scripted.peers[0]?.send({ command: 'deliver_sm', status: 0, sequence: 1, ...receipt });
    await scripted.arrived('deliver_sm_resp');
    assert.deepEqual(await shown(), [id]);
    await scripted.close();
  });
});
