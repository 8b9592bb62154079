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
import { createSender, type Sender, type TextRecord } from '../support/texts.ts';

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
  return eventually(`${id} to be ${status}`, async () => {
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

/** Texts that the SMSC got, oldest first. */
const arrived = () => smsc.texts().toReversed();
const partsOf = (index = 0) => arrived()[index]?.parts.map(({ part }) => part);

describe('long texts', () => {
  const long = 'This sentence is long enough to need more than one part. '.repeat(6);

  test('arrive joined, each part once, and are delivered when every part is', async () => {
    await connect();
    const { id } = await sendText({ message: long });
    await untilStatus(id, 'delivered');
    assert.equal(arrived()[0]?.text, long);
    assert.deepEqual(partsOf(), [1, 2, 3]);
  });

  for (const long_messages of ['udh8', 'sar', 'payload']) {
    test(`by ${long_messages}`, async () => {
      await connect({ long_messages });
      const { id } = await sendText({ message: long });
      await untilStatus(id, 'delivered');
      assert.equal(arrived()[0]?.text, long);
    });
  }

  test('a throttled part of a long text is sent again, alone', async () => {
    // The second submit is throttled: part 2.
    await connect({}, { throttle_every: 2 });
    const sent = sendText({ message: long });
    await eventually('the second part to be throttled', () => smsc.state().counts.submits >= 2);
    smsc.change({ throttle_every: 0 });
    await untilStatus((await sent).id, 'delivered');
    assert.equal(arrived()[0]?.text, long);
    const accepted = arrived().flatMap(({ parts }) => parts.filter(({ status }) => status === 0));
    assert.equal(accepted.length, 3);
  });

  test('a part that is refused for good fails the text, and no part is sent twice', async () => {
    await connect({ window: 1 }, { refuse_every: 3, refuse_status: 0x0b });
    const { id } = await sendText({ message: long });
    const failed = await untilStatus(id, 'failed');
    assert.equal(failed.error?.code, 'invalid_destination');
    assert.equal(smsc.state().counts.submits, 3);
  });

  test('receipts for some of the parts leave the text sent', async () => {
    await connect({ receipts: 'all' }, { receipt_state: 'none' });
    const { id } = await sendText({ message: long });
    await untilStatus(id, 'sent');
  });

  for (const receipts of ['first', 'last', 'one']) {
    test(`one receipt settles it where the carrier reports ${receipts}`, async () => {
      await connect({ receipts });
      await untilStatus((await sendText({ message: long })).id, 'delivered');
    });
  }
});

describe('receipts', () => {
  for (const state of ['undelivered', 'expired'] as const) {
    test(`a receipt with ${state} is applied`, async () => {
      await connect({}, { receipt_state: state });
      await untilStatus((await sendText()).id, state);
    });
  }

  test('a receipt before the answer to the submit settles its text', async () => {
    await connect({}, { early_receipts: true });
    await untilStatus((await sendText()).id, 'delivered');
  });

  for (const ids of ['hex', 'padded', 'uuid', 'same', 'empty'] as const) {
    test(`ids of the form ${ids}`, async () => {
      const message_id = ids === 'padded' ? { response: 'dec', receipt: 'dec' } : {};
      await connect({ message_id }, { ids });
      await untilStatus((await sendText()).id, 'delivered');
    });
  }

  test('hexadecimal in the answer, decimal in the receipt: shown to the operator, and matched once the setting says so', async () => {
    await connect({}, { ids: 'hex-dec' });
    const { id } = await sendText();
    await untilStatus(id, 'sent');
    const hint = await eventually('a hint', async () => {
      const { body } = await operator.send<{ hint: string | null }>('GET', `${path}/practice`);
      return body.hint ?? undefined;
    });
    assert.match(hint, /they would with message_id: response hex, receipt dec/);
    const change = { settings: { message_id: { response: 'hex', receipt: 'dec' } } };
    assert.equal((await operator.send('PATCH', `${path}/practice`, change)).status, 200);
    // The receipt that matched nothing is tried again with the new settings.
    await untilStatus(id, 'delivered');
    await untilStatus((await sendText()).id, 'delivered');
  });

  test('a receipt for a number that was not texted is not believed', async () => {
    await connect({}, { wrong_ids: true });
    const { id } = await sendText();
    await untilStatus(id, 'sent');
    await eventually('its receipt to arrive', async () => smsc.texts()[0]?.parts[0]?.receipt === 'acknowledged');
    assert.equal((await sender.readSms(id)).status, 'sent');
  });
});

describe('a carrier in trouble', () => {
  test('throttling slows a carrier down, and every text arrives once', async () => {
    await connect({}, { throttle_every: 3 });
    const sent = await Promise.all(Array.from({ length: 6 }, () => sendText()));
    app.clock.advance(0);
    for (const { id } of sent) await untilStatus(id, 'delivered');
    const accepted = arrived().flatMap(({ parts }) => parts.filter(({ status }) => status === 0));
    assert.equal(accepted.length, 6);
  });

  test('a text without an answer keeps no other waiting, and is sent again after the time of doubt', async () => {
    await connect({ response_seconds: 1, on_doubt: 'resend', on_doubt_seconds: 0 }, { silent_every: 5 });
    const sent = await Promise.all(Array.from({ length: 5 }, () => sendText()));
    for (const { id } of sent) await untilStatus(id, 'delivered');
    assert.equal(smsc.state().counts.submits, 6);
  });

  test('hold: a plain text in doubt ends unknown, and is not sent again', async () => {
    await connect({ response_seconds: 1, on_doubt: 'hold', on_doubt_seconds: 0 }, { silent_every: 1 });
    const { id } = await sendText();
    await untilStatus(id, 'unknown');
    assert.equal(smsc.state().counts.submits, 1);
  });

  test('the SMSC goes away and comes back: texts wait, and arrive', async () => {
    await connect();
    const news = () => app.logLines.filter((line) => /a carrier is (not )?connected/.test(line));
    app.logLines.length = 0;
    await smsc.goDown();
    const { id } = await sendText();
    assert.equal((await sender.readSms(id)).status, 'queued');
    await eventually('the log to have it', () => news().length === 1);
    assert.match(news()[0] ?? '', /refuses connections|closed/);
    await smsc.comeBack();
    await untilStatus(id, 'delivered');
    await eventually('the log to have the end', () => news().length === 2);
  });

  test('a paused carrier sends nothing, and goes on when it is resumed', async () => {
    await connect();
    assert.equal((await operator.send('POST', `${path}/practice/pause`)).status, 200);
    const { id } = await sendText();
    await new Promise((done) => setTimeout(done, 300));
    assert.equal(smsc.state().counts.submits, 0);
    await operator.send('POST', `${path}/practice/resume`);
    await untilStatus(id, 'delivered');
  });

  test('texts of a carrier that is deleted go to another one', async () => {
    await connect();
    await smsc.goDown();
    const { id } = await sendText();
    await operator.send('DELETE', `${path}/practice?force=true`);
    await smsc.comeBack();
    const body = { name: 'second', kind: 'smpp', settings: { host: '127.0.0.1', port: smsc.port, system_id: 'me' } };
    assert.equal((await operator.send('POST', path, body)).status, 201);
    await untilStatus(id, 'delivered');
    await operator.send('DELETE', `${path}/second?force=true`);
  });
});

describe('a test of a carrier', () => {
  interface Report {
    id: string;
    status: string;
    steps: { step: string; ok: boolean; detail: string }[];
  }
  async function runTest(): Promise<Report> {
    const body = { to: '+447700900123', from: 'ACME', message: 'A test' };
    const begun = await operator.send<Report>('POST', `${path}/practice/test`, body);
    assert.equal(begun.status, 202);
    return eventually('the test to end', async () => {
      const { body: report } = await operator.send<Report>('GET', `${path}/practice/test/${begun.body.id}`);
      return ['passed', 'failed'].includes(report.status) && report;
    });
  }

  test('passes step by step, down to the receipt', async () => {
    await connect();
    const { status, steps } = await runTest();
    assert.deepEqual(
      steps.map(({ step, ok }) => [step, ok]),
      ['name', 'connection', 'tls', 'bind', 'text', 'receipt'].map((step) => [step, true]),
      JSON.stringify(steps),
    );
    assert.equal(status, 'passed');
    const { rows } = await app.db.database.query('select from unmatched_receipt where account = $1', [await account()]);
    assert.equal(rows.length, 0, 'its receipt is not taken for one that matches no message');
  });

  async function account(): Promise<string | undefined> {
    const { rows } = await app.db.database.query<{ account: string }>(
      `select id || '.' || generation as account from carrier where name = 'practice' and deleted_at is null`,
    );
    return rows[0]?.account;
  }

  test('says what the carrier refused', async () => {
    await connect({}, { refuse_every: 1, refuse_status: 0x0b });
    const { status, steps } = await runTest();
    assert.equal(status, 'failed');
    assert.match(steps.at(-1)?.detail ?? '', /refused the text: invalid_destination/);
  });
});
