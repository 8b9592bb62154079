// The whole carrier, from the API to the receipt, with SMSCs of others and with ours. tshark judges everything that passes.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { SmppSettings } from '../../src/delivery/smpp/settings.ts';
import { commandIds } from '../../src/smpp/pdu.ts';
import { startSmsc } from '../../src/smsc/server.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { connectCarrier, deleteCarrier } from '../support/carrier.ts';
import { createRunningClock } from '../support/clock.ts';
import type { TestDeveloper } from '../support/developer.ts';
import { eventually } from '../support/eventually.ts';
import { createOperator } from '../support/operator.ts';
import { createSender, type Sender } from '../support/texts.ts';
import { startDriveSmpp } from './kannel.ts';
import { startPerlSmsc } from './net-smpp.ts';
import { startNpmSmsc } from './npm-smpp.ts';
import { judge, type Recorder, record } from './tshark.ts';

type CommandName = keyof typeof commandIds;

let app: TestApp;
let operator: TestDeveloper;
let sender: Sender;
before(async () => {
  app = await createTestApp({ clock: createRunningClock() });
  operator = await createOperator(app);
  sender = await createSender(app);
});
after(() => app.close());

const short = 'Grüße @ €5';
const long = 'This sentence is long enough to need more than one part. '.repeat(6);
const unicode = 'Žluťoučký kůň 😀 '.repeat(12);

async function sendUntil(status: string, message: string): Promise<void> {
  const sent = await sender.sms({ message });
  assert.equal(sent.status, 201, JSON.stringify(sent.body));
  await eventually(`the text to be ${status}`, async () => (await sender.readSms(sent.body.id)).status === status);
}

/** Connects a carrier by a recorder, works with it, and deletes it. */
async function recorded(
  port: number,
  settings: Record<string, unknown>,
  work: (recorder: Recorder) => Promise<void>,
): Promise<Recorder> {
  const recorder = await record(port);
  await connectCarrier(operator, recorder.port, settings);
  // The rows are newer than what the node routes by.
  await eventually('the node routes by it', () => app.app.carriers().some(({ up }) => up));
  await work(recorder);
  await deleteCarrier(operator);
  await eventually('the node forgets it', () => app.app.carriers().length === 0);
  await eventually('it is unbound', () => passed(recorder).has(hex('unbind_resp')));
  await recorder.close();
  return recorder;
}

/** Lets tshark judge, and returns the commands that it saw. */
function judged(...recorders: Recorder[]): Set<string> {
  const { commands, complaints } = judge(recorders.flatMap(({ recordings }) => recordings));
  assert.deepEqual(complaints, []);
  return new Set(commands);
}

const hex = (command: CommandName) => `0x${commandIds[command].toString(16).padStart(8, '0')}`;

/** The commands that have passed so far. */
function passed({ recordings }: Recorder): Set<string> {
  const found = new Set<string>();
  for (const recording of recordings) {
    for (const side of ['client', 'server']) {
      const octets = Buffer.concat(recording.filter(({ from }) => from === side).map((piece) => piece.octets));
      for (let at = 0; at + 16 <= octets.length; at += Math.max(16, octets.readUInt32BE(at))) {
        found.add(`0x${octets.toString('hex', at + 4, at + 8)}`);
      }
    }
  }
  return found;
}

function assertPassed(commands: Set<string>, expected: CommandName[]): void {
  assert.deepEqual(commands, new Set(expected.map(hex)));
}

const requests = ['bind_transceiver', 'submit_sm', 'deliver_sm', 'enquire_link', 'unbind'] as const;
const whole = requests.flatMap((request): CommandName[] => [request, `${request}_resp`]);

describe('our carrier', () => {
  test('with our SMSC: every charset and long form, receipts, probes of a quiet link, unbind', async () => {
    const smsc = await startSmsc({ behaviour: { receipt_after_ms: 0 } });
    const cases: [Partial<SmppSettings>, string][] = [
      [{ charsets: ['gsm7/0', 'ucs2/8'], long_messages: 'udh16' }, short],
      [{ charsets: ['gsm7packed/0', 'ucs2/8'], long_messages: 'udh8' }, short],
      [{ charsets: ['latin1/3', 'ucs2/8'], long_messages: 'sar' }, 'Grüße'],
      [{ charsets: ['latin1/0', 'ucs2/8'], long_messages: 'payload' }, 'Grüße'],
      [{ charsets: ['ascii/1', 'ucs2/8'], long_messages: 'udh16' }, 'Hello'],
    ];
    const recorders: Recorder[] = [];
    for (const [settings, text] of cases) {
      const [first = 'gsm7/0'] = settings.charsets ?? [];
      smsc.change({ charset: charsetOfZero(first) });
      const recorder = await recorded(smsc.port, { ...settings, enquire_link_seconds: 1 }, async (recorder) => {
        for (const message of [text, long, unicode]) {
          await sendUntil('delivered', message);
          assert.equal(smsc.texts()[0]?.text, message, first);
        }
        await eventually('a probe', () => passed(recorder).has(hex('enquire_link_resp')));
      });
      assertPassed(passed(recorder), whole);
      recorders.push(recorder);
    }
    await smsc.close();
    assertPassed(judged(...recorders), whole);
  });

  test('with npm smpp as the SMSC', async () => {
    const smsc = await startNpmSmsc();
    const message_id = { response: 'hex', receipt: 'dec' };
    const recorder = await recorded(smsc.port, { message_id }, async () => {
      for (const message of [short, long, unicode]) await sendUntil('delivered', message);
    });
    assertPassed(judged(recorder), whole);
    assert.deepEqual(
      new Set(smsc.submitted.map(({ source_addr, destination_addr }) => `${source_addr} ${destination_addr}`)),
      new Set(['ACME 447700900123']),
    );
    assert.equal(smsc.submitted.length, 1 + 3 + 4);
    assert.deepEqual(new Set(smsc.answered), new Set([0]));
    await smsc.close();
  });

  test('with a Net::SMPP SMSC', async () => {
    const smsc = await startPerlSmsc();
    const settings = { message_id: { response: 'hex', receipt: 'dec' }, enquire_link_seconds: 1 };
    const recorder = await recorded(smsc.port, settings, async (recorder) => {
      for (const message of [short, long, unicode]) await sendUntil('delivered', message);
      await eventually('a probe', () => passed(recorder).has(hex('enquire_link_resp')));
    });
    assertPassed(judged(recorder), whole);
    assert.equal(smsc.texts().length, 1 + 3 + 4);
    await smsc.stop();
  });

  test("with Kannel's drive_smpp: a pair; it gives no receipts, so a text ends as sent", async () => {
    const smsc = await startDriveSmpp(3);
    const account = { system_id: 'foo', password: 'bar', system_type: 'VMA' };
    const settings = { ...account, bind: 'pair', receipts: 'none', enquire_link_seconds: 1 };
    const recorder = await recorded(smsc.port, settings, async () => {
      for (const message of [short, long, unicode]) await sendUntil('sent', message);
    });
    const commands = judged(recorder);
    for (const command of ['bind_transmitter_resp', 'bind_receiver_resp', 'submit_sm_resp'] as const) {
      assert.ok(commands.has(hex(command)), command);
    }
    await smsc.stop();
  });
});

function charsetOfZero(charset: SmppSettings['charsets'][number]): 'gsm7' | 'gsm7packed' | 'latin1' {
  if (charset === 'gsm7packed/0') return 'gsm7packed';
  return charset === 'latin1/0' ? 'latin1' : 'gsm7';
}
