// Programs of others judge our SMSC, our session and our codec: Net::SMPP on either side, Kannel's drive_smpp as an SMSC,
// tshark as a reader of captures.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { receiptKeyOf, receiptKeysOf } from '../../src/delivery/carrier/receipt-keys.ts';
import type { SmppSettings } from '../../src/delivery/smpp/settings.ts';
import { toSubmits } from '../../src/delivery/smpp/submit-parts.ts';
import { type BindCommand, commandIds } from '../../src/smpp/pdu.ts';
import { readDelivered } from '../../src/smpp/receipt.ts';
import { type Smsc, startSmsc } from '../../src/smsc/server.ts';
import { eventually } from '../support/eventually.ts';
import { settingsWith } from '../support/smpp-settings.ts';
import { startDriveSmpp } from './kannel.ts';
import { runPerlEsme, startPerlSmsc } from './net-smpp.ts';
import { connectRaw } from './raw-client.ts';
import { openSession } from './test-session.ts';
import { judge, type Recorder, record } from './tshark.ts';

const hex = (commandId: number) => `0x${commandId.toString(16).padStart(8, '0')}`;

describe('with a capture of everything', () => {
  let smsc: Smsc;
  let recorder: Recorder;
  before(async () => {
    smsc = await startSmsc({ behaviour: { receipt_after_ms: 0 } });
    recorder = await record(smsc.port);
  });
  after(async () => {
    await recorder.close();
    await smsc.close();
  });

  test('a Net::SMPP client binds, submits, gets its receipt and unbinds; tshark finds every PDU well-formed', async () => {
    recorder.recordings.length = 0;
    const [bind, submit, receipt, tlvs, ...rest] = await runPerlEsme(recorder.port, 'hello from Perl');
    assert.equal(bind, 'bind 0 heliograph-smsc');
    const id = /^submit 0 (\d+)$/.exec(submit ?? '')?.[1] ?? '';
    assert.notEqual(id, '');
    assert.match(
      receipt ?? '',
      new RegExp(`^receipt 5 4 447700900123 id:${id} sub:001 dlvrd:001 .* stat:DELIVRD err:000`),
    );
    assert.equal(tlvs, `tlvs ${id} 2`);
    assert.deepEqual(rest, ['enquire_link 0', 'unbind 0']);
    assert.equal(smsc.texts()[0]?.text, 'hello from Perl');
    const { commands, complaints } = judge(recorder.recordings);
    assert.deepEqual(complaints, []);
    const { bind_transceiver, submit_sm, deliver_sm, enquire_link, unbind } = commandIds;
    const requests = [bind_transceiver, submit_sm, deliver_sm, enquire_link, unbind];
    const both = requests.flatMap((request) => [hex(request), hex(request + 0x80000000)]);
    assert.deepEqual(new Set(commands), new Set(both));
    assert.equal(commands.length, both.length);
  });

  test('texts in every charset and long form, receipts in every style: tshark finds no malformed PDU', async () => {
    recorder.recordings.length = 0;
    const client = await connectRaw(recorder.port);
    await client.bind();
    const charsets: SmppSettings['charsets'] = ['gsm7/0', 'gsm7packed/0', 'latin1/3', 'ascii/1', 'ucs2/8'];
    let submitted = 0;
    for (const long_messages of ['udh16', 'udh8', 'sar', 'payload'] as const) {
      for (const charset of charsets) {
        smsc.change({ receipt_style: (['both', 'text', 'tlv'] as const)[submitted % 3] ?? 'both' });
        const settings = settingsWith({ charsets: [charset], long_messages, tlvs: [{ tag: 0x1400, value: '1001' }] });
        const text = { messageId: `${submitted}`, to: '+447700900123', from: '+447700900999', text: 'a'.repeat(400) };
        const outgoing = { ...text, form: null, templateId: null, expiresAtMs: Date.now() + 60_000 };
        for (const fields of toSubmits(outgoing, settings, Date.now()).submits) {
          assert.equal((await client.submit(fields)).status, 0);
          await client.takeReceipt();
          submitted++;
        }
      }
    }
    client.send({ command: 'unknown', status: 0, sequence: 900, commandId: 0x00010203, body: Buffer.alloc(0) });
    await client.take('generic_nack');
    client.send({ command: 'unbind', status: 0, sequence: 901 });
    await client.closed();
    const { commands, complaints } = judge(recorder.recordings);
    assert.deepEqual(complaints, []);
    for (const command of ['submit_sm', 'submit_sm_resp', 'deliver_sm', 'deliver_sm_resp'] as const) {
      assert.equal(commands.filter((found) => found === hex(commandIds[command])).length, submitted, command);
    }
  });

  test('the judge does complain of a broken PDU', () => {
    const frame = Buffer.from('00000020000000040000000000000001ffffffffffffffffffffffffffffffff', 'hex');
    assert.notDeepEqual(judge([[{ from: 'client', octets: frame }]]).complaints, []);
  });
});

describe('our session', () => {
  test('with a Net::SMPP SMSC: a long text, receipts that write its ids in another way; well-formed by tshark', async () => {
    const smsc = await startPerlSmsc();
    const recorder = await record(smsc.port);
    const esme = openSession(recorder.port);
    await esme.bound();
    assert.equal(esme.session.state, 'bound');
    const text = { messageId: 'm1', to: '+447700900123', from: 'ACME', text: 'Žluťoučký kůň '.repeat(12) };
    const outgoing = { ...text, form: null, templateId: null, expiresAtMs: Date.now() + 60_000 };
    const { submits: parts } = toSubmits(outgoing, settingsWith(), Date.now());
    const answers = parts.map((fields) => esme.submit({ fields }));
    await eventually('all are answered', () => answers.every(([answer]) => answer?.kind === 'answered'));
    await eventually('all receipts come', () => esme.delivered.length === parts.length);
    const forms = { response: 'hex', receipt: 'dec' } as const;
    const stored = answers.map(([answer]) =>
      answer?.kind === 'answered' ? receiptKeyOf(answer.messageId, forms) : '',
    );
    for (const delivery of esme.delivered) {
      const receipt = readDelivered({ shortMessage: Buffer.alloc(0), ...delivery }, { sniff: false });
      assert.ok(receipt.kind === 'receipt' && receipt.outcome === 'delivered', 'a receipt of a delivered text');
      const [key = ''] = receiptKeysOf(receipt.carrierMessageIds[0] ?? '', forms);
      assert.ok(stored.includes(key), 'of one of the parts');
    }
    assert.deepEqual(
      smsc.texts().map(({ octets }) => octets),
      parts.map(({ shortMessage }) => shortMessage),
    );
    await esme.session.unbind();
    assert.equal((await esme.closed()).kind, 'stopped');
    assert.deepEqual(judge(recorder.recordings).complaints, []);
    await recorder.close();
    await smsc.stop();
  });

  const bindToKannel = (port: number, command: BindCommand) =>
    openSession(port, { bind: { command, systemId: 'foo', password: 'bar', systemType: 'VMA', addressRange: '' } });

  test("with Kannel's drive_smpp, which ignores a transceiver: it is given up after 10 s", async () => {
    const smsc = await startDriveSmpp(0);
    const esme = bindToKannel(smsc.port, 'bind_transceiver');
    await eventually('it waits for the answer', () => esme.session.state === 'binding');
    esme.pass(10_000);
    assert.equal((await esme.closed()).kind, 'bind_unanswered');
    await smsc.stop();
  });

  test("with Kannel's drive_smpp: a pair sends and receives; well-formed by tshark", async () => {
    const phones = 5;
    const smsc = await startDriveSmpp(phones);
    const recorder = await record(smsc.port);
    const sender = bindToKannel(recorder.port, 'bind_transmitter');
    await sender.bound();
    const receiver = bindToKannel(recorder.port, 'bind_receiver');
    await receiver.bound();
    assert.deepEqual([sender.session.state, receiver.session.state], ['bound', 'bound']);
    const answers = sender.submit();
    await eventually('the text is answered', () => answers.length > 0);
    assert.ok(answers[0]?.kind === 'answered' && answers[0].status === 0, 'it is accepted');
    await eventually('the texts of the phones come', () => receiver.delivered.length === phones);
    await Promise.all([sender.session.unbind(), receiver.session.unbind()]);
    assert.deepEqual(judge(recorder.recordings).complaints, []);
    await recorder.close();
    await smsc.stop();
  });
});
