// What the carrier said in its own words reaches the operator: in the attempt, the story, the test and the log.
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { uuidOf } from '../../src/platform/ids.ts';
import type { Behaviour } from '../../src/smsc/faults.ts';
import { type Smsc, startSmsc } from '../../src/smsc/server.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { createRunningClock } from '../support/clock.ts';
import type { TestDeveloper } from '../support/developer.ts';
import { eventually } from '../support/eventually.ts';
import { createOperator } from '../support/operator.ts';
import { createSender, type Sender } from '../support/texts.ts';

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

async function connect(behaviour: Partial<Behaviour>, changes: Record<string, unknown> = {}): Promise<void> {
  smsc.change(behaviour);
  const settings = { host: '127.0.0.1', port: smsc.port, system_id: 'me', password: 'secret', ...changes };
  const { status, body } = await operator.send('POST', path, { name: 'practice', kind: 'smpp', settings });
  assert.equal(status, 201, JSON.stringify(body));
  await eventually('the carrier to be up', async () => {
    const { body: carrier } = await operator.send<{ state: string }>('GET', `${path}/practice`);
    return carrier.state === 'up';
  });
}

interface Shown {
  status: string;
  correlation_id: string;
  submits: { outcome: string; reported: string | null; receipt_reported: string | null }[];
  timeline: { event: string; detail: string }[];
}

/** Sends a text, waits for its end, and returns how the portal shows it and the story of its request. */
async function tell(status: string): Promise<Shown & { id: string; story: string }> {
  const { body: made } = await sender.sms();
  const shown = await eventually(`${made.id} to be ${status}`, async () => {
    const { body } = await sender.developer.send<Shown>(
      'GET',
      `/portal/v1/applications/${sender.id}/messages/${made.id}`,
    );
    return body.status === status && body;
  });
  const { body } = await sender.developer.send<Shown>('GET', `/portal/v1/requests/${shown.correlation_id}`);
  return { ...shown, id: made.id, story: body.timeline.map(({ detail }) => detail).join('\n') };
}

interface LogEntry {
  command: string;
  direction: string;
  carrier_message_id: string | null;
  reported: string | null;
}
async function log(): Promise<LogEntry[]> {
  const { body } = await operator.send<{ data: LogEntry[] }>('GET', `${path}/practice/log`);
  return body.data;
}

async function attempts(id: string): Promise<number> {
  const { count } = await app.db.database.query('select from text_attempt where message_id = $1', [uuidOf(id)]);
  return count;
}

describe('an answer', () => {
  test('the command_status of an answer is in the attempt, the trace and the log', async () => {
    await connect({ refuse_every: 1, refuse_status: 0x45 });
    const { submits, story } = await tell('failed');
    assert.deepEqual([submits.length, submits[0]?.reported], [1, '0x45: submit failed']);
    assert.match(story, /carrier practice: it refused the text \(0x45: submit failed\)\./);
    const answer = (await log()).find(({ command }) => command === 'submit_sm_resp');
    assert.equal(answer?.reported, '0x45: submit failed');
  });

  test('one of the carrier’s own is in hexadecimal, so that submit_errors can be written from it', async () => {
    await connect({ refuse_every: 1, refuse_status: 0x483 });
    assert.equal((await tell('failed')).submits[0]?.reported, "0x483: the carrier's own error");
    await operator.send('PATCH', `${path}/practice`, {
      settings: { submit_errors: { '0x483': 'never:sender_rejected' } },
    });
    await eventually('the meaning to hold', async () => {
      const { body } = await sender.sms();
      const ended = await eventually('the end', async () => {
        const record = await sender.readSms(body.id);
        return record.status === 'failed' && record;
      });
      return ended.error?.code === 'sender_rejected';
    });
  });
});

describe('a receipt', () => {
  for (const [state, status, words] of [
    ['undelivered', 'undelivered', 'stat:UNDELIV err:001 message_state:5'],
    ['rejected', 'failed', 'stat:REJECTD err:009 message_state:8'],
    ['expired', 'expired', 'stat:EXPIRED err:027 message_state:3'],
  ] as const) {
    test(`${state}: the words of a receipt are in the trace of a text with one attempt, and in the log`, async () => {
      await connect({ receipt_state: state });
      const { submits, story, timeline } = await tell(status);
      assert.deepEqual(
        submits.map(({ outcome, reported, receipt_reported }) => [outcome, reported, receipt_reported]),
        [['accepted', null, words]],
      );
      assert.ok(story.includes(`Receipt: ${words}.`), story);
      assert.ok(timeline.some(({ detail }) => detail.includes(words)));
      assert.equal((await log()).find(({ command }) => command === 'deliver_sm')?.reported, words);
    });
  }

  test('before the answer to the submit: its words wait with it', async () => {
    await connect({ receipt_state: 'undelivered', early_receipts: true, receipt_style: 'text' });
    assert.equal((await tell('undelivered')).submits[0]?.receipt_reported, 'stat:UNDELIV err:001');
  });

  test('a receipt with its id only in the text: the log shows that id, and no text', async () => {
    await connect({ receipt_state: 'undelivered', receipt_style: 'text' });
    await tell('undelivered');
    const entries = await log();
    const given = entries.find(({ command }) => command === 'submit_sm_resp')?.carrier_message_id;
    const receipt = entries.find(({ command }) => command === 'deliver_sm');
    assert.equal(receipt?.carrier_message_id, given);
    assert.ok(given);
    assert.equal(JSON.stringify(entries).includes('Hello'), false);
  });

  test('delivered: costs no row, and its words are in the log', async () => {
    await connect({});
    const { id, submits } = await tell('delivered');
    assert.equal(await attempts(id), 0);
    assert.equal(submits[0]?.receipt_reported, null);
    const receipt = (await log()).find(({ command }) => command === 'deliver_sm');
    assert.equal(receipt?.reported, 'stat:DELIVRD err:000 message_state:2');
  });

  test('of a long text: the words of the part that did not arrive', async () => {
    await connect({ receipt_state: 'undelivered', receipt_style: 'text' });
    const { body } = await sender.sms({ message: 'long '.repeat(60) });
    await eventually('its end', async () => (await sender.readSms(body.id)).status === 'undelivered');
    const { body: shown } = await sender.developer.send<Shown>(
      'GET',
      `/portal/v1/applications/${sender.id}/messages/${body.id}`,
    );
    assert.deepEqual(
      shown.submits.map(({ receipt_reported }) => receipt_reported),
      ['stat:UNDELIV err:001'],
    );
  });
});

describe('a test of a carrier', () => {
  async function lastStep(): Promise<string> {
    const body = { to: '+447700900123', from: 'ACME', message: 'A test' };
    const begun = await operator.send<{ id: string }>('POST', `${path}/practice/test`, body);
    const report = await eventually('the test to end', async () => {
      const { body: test } = await operator.send<{ status: string; steps: { detail: string }[] }>(
        'GET',
        `${path}/practice/test/${begun.body.id}`,
      );
      return ['passed', 'failed'].includes(test.status) && test;
    });
    return report.steps.at(-1)?.detail ?? '';
  }

  test('shows the command_status', async () => {
    await connect({ refuse_every: 1, refuse_status: 0x0b });
    assert.equal(await lastStep(), 'The carrier refused the text: invalid_destination (0x0b: invalid destination).');
  });

  test('shows what the receipt said', async () => {
    await connect({ receipt_state: 'undelivered', receipt_style: 'text' });
    assert.match(await lastStep(), /^Receipt of .+: undelivered \(stat:UNDELIV err:001\)\.$/);
  });
});
