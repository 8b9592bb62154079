// A carrier from the operator's API to the receipt: the real app, a real database, and a virtual SMSC on loopback.
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import type { Behaviour } from '../../src/smsc/faults.ts';
import { type Smsc, startSmsc } from '../../src/smsc/server.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { createRunningClock } from '../support/clock.ts';
import type { TestDeveloper } from '../support/developer.ts';
import { eventually } from '../support/eventually.ts';
import { createOperator } from '../support/operator.ts';
import { createSender, type Sender, type TextRecord, until } from '../support/texts.ts';

const path = '/portal/v1/operator/carriers';
let app: TestApp;
let operator: TestDeveloper;
let sender: Sender;
let smsc: Smsc;
before(async () => {
  app = await createTestApp({ clock: createRunningClock() });
  operator = await createOperator(app);
  sender = await createSender(app);
});
after(() => app.close());
beforeEach(async () => {
  smsc = await startSmsc({ behaviour: { receipt_after_ms: 0 } });
});
afterEach(async () => {
  await operator.send('DELETE', `${path}/practice?force=true`);
  await smsc.close();
});

async function connect(settings: Record<string, unknown> = {}, behaviour: Partial<Behaviour> = {}): Promise<void> {
  smsc.change(behaviour);
  const body = {
    name: 'practice',
    kind: 'smpp',
    settings: { host: '127.0.0.1', port: smsc.port, system_id: 'me', password: 'secret', ...settings },
  };
  const answer = await operator.send('POST', path, body);
  assert.equal(answer.status, 201, JSON.stringify(answer.body));
  await untilUp();
}

async function untilUp(): Promise<void> {
  await eventually('the carrier to be up', async () => {
    const { body } = await operator.send<{ state: string }>('GET', `${path}/practice`);
    return body.state === 'up';
  });
}

async function sendText(changes: Record<string, unknown> = {}): Promise<TextRecord> {
  const { status, body } = await sender.sms(changes);
  assert.equal(status, 201, JSON.stringify(body));
  return body;
}

async function untilStatus(id: string, status: string): Promise<TextRecord> {
  let last = '';
  return until(`${id} to be ${status}`, async () => {
    const found = await sender.readSms(id);
    last = found.status;
    return found.status === status && found;
  }).catch((error: Error) => assert.fail(`${error.message}; it is ${last}`));
}

describe('a text through a carrier', () => {
  test('arrives, and its receipt makes it delivered', async () => {
    await connect();
    const { id } = await sendText({ message: 'Grüße @ €5' });
    await untilStatus(id, 'delivered');
    assert.deepEqual(
      smsc.texts().map(({ to, from, text: arrived }) => [to, from, arrived]),
      [['447700900123', 'ACME', 'Grüße @ €5']],
    );
  });
});
