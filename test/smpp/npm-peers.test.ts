// Two other implementations on either side: as ESMEs of the virtual SMSC, and as SMSCs of our session.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { afterEach, describe, test } from 'node:test';
import { readDelivered } from '../../src/smpp/receipt.ts';
import { type Smsc, startSmsc } from '../../src/smsc/server.ts';
import { eventually } from '../support/eventually.ts';
import { connectNpm, type PeerPdu, startNpmSmsc } from './npm-smpp.ts';
import { openSession } from './test-session.ts';

const require = createRequire(import.meta.url);
let smsc: Smsc | undefined;
afterEach(() => smsc?.close());

describe('npm smpp', () => {
  test('binds, submits long and short texts, and gets their receipts', async () => {
    smsc = await startSmsc({ behaviour: { receipt_after_ms: 0, ids: 'hex' } });
    const session = connectNpm({ host: '127.0.0.1', port: smsc.port });
    await once(session, 'connect');
    const ask = (command: 'bind_transceiver' | 'submit_sm' | 'enquire_link' | 'unbind', fields: object) =>
      new Promise<PeerPdu>((resolve) => session[command](fields, resolve));
    const receipts: PeerPdu[] = [];
    session.on('deliver_sm', (pdu: PeerPdu) => {
      receipts.push(pdu);
      session.send(pdu.response());
    });
    const bind = await ask('bind_transceiver', { system_id: 'npm', password: 'x' });
    assert.equal(bind.command_status, 0);
    assert.equal(bind.sc_interface_version, 0x34);
    const ids: (string | undefined)[] = [];
    for (const short_message of ['hello @ €', 'Žluťoučký kůň 😀']) {
      const submit = {
        source_addr: 'ACME',
        source_addr_ton: 5,
        destination_addr: '447700900123',
        registered_delivery: 1,
      };
      const answer = await ask('submit_sm', { ...submit, short_message });
      assert.equal(answer.command_status, 0);
      ids.push(answer.message_id);
    }
    await eventually('both receipts come', () => receipts.length === 2);
    assert.deepEqual(
      receipts.map(({ receipted_message_id }) => receipted_message_id),
      ids,
    );
    assert.deepEqual(
      receipts.map(({ message_state }) => message_state),
      [2, 2],
    );
    assert.match(
      receipts[0]?.short_message?.message ?? '',
      new RegExp(`^id:${ids[0]} sub:001 dlvrd:001 .*stat:DELIVRD err:000`),
    );
    // This peer marks its GSM-7 octets as data_coding 1, so only the second text is shown as it was.
    assert.equal(smsc.texts()[0]?.text, 'Žluťoučký kůň 😀');
    assert.equal((await ask('enquire_link', {})).command_status, 0);
    await ask('unbind', {});
    session.close();
    await eventually('both are acknowledged', () => smsc?.state().counts.receipts_acknowledged === 2);
  });
});

describe('our session with npm smpp as the SMSC', () => {
  test('binds, submits, gets the receipt, answers enquire_link, and unbinds', async () => {
    const peer = await startNpmSmsc();
    const esme = openSession(peer.port);
    await esme.bound();
    const answers = esme.submit({ text: 'to another' });
    await eventually('the text is answered', () => answers.length > 0);
    assert.ok(answers[0]?.kind === 'answered' && answers[0].messageId === '77d9aa31', 'with its id');
    await eventually('the receipt and the probe are answered', () => peer.answered.length === 2);
    assert.deepEqual(peer.answered, [0, 0]);
    const [delivery] = esme.delivered;
    assert.ok(delivery, 'the receipt came');
    const receipt = readDelivered({ shortMessage: Buffer.alloc(0), ...delivery }, { sniff: false });
    assert.ok(receipt.kind === 'receipt' && receipt.carrierMessageIds[0] === '2010753585', 'and was read');
    assert.equal(peer.submitted[0]?.short_message?.message, 'to another');
    await esme.session.unbind();
    assert.equal((await esme.closed()).kind, 'stopped');
    await peer.close();
  });
});

interface LarvitSession extends NodeJS.EventEmitter {
  sendSms(sms: object, sent: (error: Error | null, ids: string | string[]) => void): void;
  unbind(): void;
}

describe('larvitsmpp', () => {
  const { client } = require('larvitsmpp') as {
    client(options: object, bound: (error: Error | null, session: LarvitSession) => void): void;
  };
  const quiet = Object.fromEntries(
    ['error', 'warn', 'info', 'verbose', 'debug', 'silly'].map((name) => [name, () => {}]),
  );

  test('binds, submits a long text in parts, and gets a receipt for each', async () => {
    smsc = await startSmsc({ behaviour: { receipt_after_ms: 50 } });
    const options = { host: '127.0.0.1', port: smsc.port, username: 'larvit', password: 'x', log: quiet };
    const session = await new Promise<LarvitSession>((resolve, reject) =>
      client(options, (error, bound) => (error ? reject(error) : resolve(bound))),
    );
    const receipts: unknown[] = [];
    session.on('dlr', (receipt: unknown) => receipts.push(receipt));
    const message = 'A text that is longer than one part. '.repeat(6);
    const sms = { from: '46701113311', to: '46709771337', message, dlr: true };
    await new Promise<void>((resolve, reject) => session.sendSms(sms, (error) => (error ? reject(error) : resolve())));
    await eventually('a receipt comes', () => receipts.length > 0);
    const [text] = smsc.texts();
    assert.equal(text?.text, message);
    assert.equal(text?.complete, true);
    session.unbind();
    await eventually('it is gone', () => smsc?.state().binds.length === 0);
  });
});
