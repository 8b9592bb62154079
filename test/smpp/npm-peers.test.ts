// Two other implementations as ESMEs of the virtual SMSC: what they read is what our codec means.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { afterEach, describe, test } from 'node:test';
import { type Smsc, startSmsc } from '../../src/smsc/server.ts';
import { eventually } from '../support/eventually.ts';

const require = createRequire(import.meta.url);
let smsc: Smsc | undefined;
afterEach(() => smsc?.close());

interface PeerPdu {
  command_status: number;
  message_id?: string;
  short_message?: { message: string };
  receipted_message_id?: string;
  message_state?: number;
  sc_interface_version?: number;
  response(fields?: object): unknown;
}

interface PeerSession extends NodeJS.EventEmitter {
  bind_transceiver(fields: object, answered: (pdu: PeerPdu) => void): void;
  submit_sm(fields: object, answered: (pdu: PeerPdu) => void): void;
  enquire_link(fields: object, answered: (pdu: PeerPdu) => void): void;
  unbind(fields: object, answered: (pdu: PeerPdu) => void): void;
  send(pdu: unknown): void;
  close(): void;
}

describe('npm smpp', () => {
  const { connect } = require('smpp') as { connect(options: object): PeerSession };

  test('binds, submits long and short texts, and gets their receipts', async () => {
    smsc = await startSmsc({ behaviour: { receipt_after_ms: 0, ids: 'hex' } });
    const session = connect({ host: '127.0.0.1', port: smsc.port });
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
