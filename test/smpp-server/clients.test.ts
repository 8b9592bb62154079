// Programs of others bind to us: npm smpp, larvitsmpp, Net::SMPP. tshark judges everything that passes.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { after, before, describe, test } from 'node:test';
import { commandIds, tlvTags } from '../../src/smpp/pdu.ts';
import { runPerlEsme } from '../smpp/net-smpp.ts';
import { connectNpm, type PeerPdu } from '../smpp/npm-smpp.ts';
import { judge, type Recorder, record } from '../smpp/tshark.ts';
import { createRunningClock } from '../support/clock.ts';
import { send } from '../support/developer.ts';
import { eventually } from '../support/eventually.ts';
import { bound, createSmppCaller, createSmppWorld, credentialsOf, type SmppCaller, type SmppWorld } from './world.ts';

const require = createRequire(import.meta.url);
const hex = (commandId: number) => `0x${commandId.toString(16).padStart(8, '0')}`;
const delivered = '15005550100';

interface LarvitSession extends NodeJS.EventEmitter {
  sendSms(sms: object, sent: (error: Error | null, ids: string | string[]) => void): void;
  unbind(): void;
}

describe('programs of others', () => {
  let world: SmppWorld;
  let recorder: Recorder;
  before(async () => {
    world = await createSmppWorld({ clock: createRunningClock() });
    recorder = await record(world.port);
  });
  after(async () => {
    await recorder.close();
    await world.close();
  });

  async function textsOf(caller: SmppCaller): Promise<string[]> {
    const answer = await send<{ data: { message: string }[] }>(world.app, 'GET', '/sms/v1/messages', {
      headers: { apikey: caller.apiKey },
    });
    return answer.body.data.map(({ message }) => message);
  }

  test('npm smpp binds, submits, gets its receipts and unbinds', async () => {
    const caller = await createSmppCaller(world.app);
    const session = connectNpm({ host: '127.0.0.1', port: recorder.port });
    await once(session, 'connect');
    const ask = (command: 'bind_transceiver' | 'submit_sm' | 'enquire_link' | 'unbind', fields: object) =>
      new Promise<PeerPdu>((resolve) => session[command](fields, resolve));
    const receipts: PeerPdu[] = [];
    session.on('deliver_sm', (pdu: PeerPdu) => {
      receipts.push(pdu);
      session.send(pdu.response());
    });
    const { systemId: system_id, password } = credentialsOf(caller);
    const bind = await ask('bind_transceiver', { system_id, password });
    assert.deepEqual([bind.command_status, bind.sc_interface_version], [0, 0x34]);
    const texts = ['hello @ €', 'Žluťoučký kůň 😀'];
    const ids: (string | undefined)[] = [];
    for (const short_message of texts) {
      const submit = { source_addr: 'ACME', source_addr_ton: 5, destination_addr: delivered, registered_delivery: 1 };
      const answer = await ask('submit_sm', { ...submit, dest_addr_ton: 1, short_message });
      assert.equal(answer.command_status, 0);
      ids.push(answer.message_id);
    }
    await eventually('both receipts come', () => receipts.length === 2);
    assert.deepEqual(
      receipts.map(({ receipted_message_id, message_state }) => [receipted_message_id, message_state]),
      ids.map((id) => [id, 2]),
    );
    assert.deepEqual(await textsOf(caller), texts.toReversed());
    assert.equal((await ask('enquire_link', {})).command_status, 0);
    await ask('unbind', {});
    session.close();
  });

  test('larvitsmpp submits a long text in parts, and gets a receipt for each', async () => {
    const caller = await createSmppCaller(world.app);
    const { client } = require('larvitsmpp') as {
      client(options: object, bound: (error: Error | null, session: LarvitSession) => void): void;
    };
    const quiet = Object.fromEntries(
      ['error', 'warn', 'info', 'verbose', 'debug', 'silly'].map((name) => [name, () => {}]),
    );
    const { systemId: username, password } = credentialsOf(caller);
    const options = { host: '127.0.0.1', port: recorder.port, username, password, log: quiet };
    const session = await new Promise<LarvitSession>((resolve, reject) =>
      client(options, (error, made) => (error ? reject(error) : resolve(made))),
    );
    const receipts: unknown[] = [];
    session.on('dlr', (receipt: unknown) => receipts.push(receipt));
    const message = 'A text that is longer than one part. '.repeat(6);
    const sms = { from: '46701113311', to: delivered, message, dlr: true };
    await new Promise<void>((resolve, reject) => session.sendSms(sms, (error) => (error ? reject(error) : resolve())));
    await eventually('a receipt comes', () => receipts.length > 0);
    assert.deepEqual(await textsOf(caller), [message]);
    session.unbind();
  });

  test('Net::SMPP binds, submits, gets its receipt and unbinds', async () => {
    const caller = await createSmppCaller(world.app);
    const lines = await runPerlEsme(recorder.port, 'hello from Perl', credentialsOf(caller));
    const id = /^submit 0 (\S+)$/.exec(lines[1] ?? '')?.[1] ?? '';
    assert.equal(lines[0], 'bind 0 heliograph');
    assert.match(
      lines[2] ?? '',
      new RegExp(`^receipt 5 4 447700900123 id:${id} .*stat:DELIVRD err:000 text:hello from Perl$`),
    );
    assert.deepEqual(lines.slice(3), [`tlvs ${id} 2`, 'enquire_link 0', 'unbind 0']);
    assert.deepEqual(await textsOf(caller), ['hello from Perl']);
  });

  test('a session that uses everything has nothing malformed', async () => {
    const caller = await createSmppCaller(world.app);
    const client = await bound({ port: recorder.port }, caller);
    const { messageId } = await client.submit({ destination: delivered });
    await client.takeReceipt();
    const source = { sourceTon: 0, sourceNpi: 0, source: '' };
    const destination = { destinationTon: 0, destinationNpi: 0, destination: '' };
    for (const asked of [messageId, 'unknown']) {
      client.send({ command: 'query_sm', status: 0, sequence: 700, messageId: asked, ...source });
      await client.take('query_sm_resp');
      client.send({
        command: 'cancel_sm',
        status: 0,
        sequence: 701,
        serviceType: '',
        messageId: asked,
        ...source,
        ...destination,
      });
      await client.take('cancel_sm_resp');
    }
    await client.submit({ destination: 'wrong' });
    const payload = { tag: tlvTags.messagePayload, value: Buffer.from('long '.repeat(80)) };
    await client.submit({ destination: delivered, shortMessage: Buffer.alloc(0), tlvs: [payload] });
    await client.takeReceipt();
    client.send({ command: 'enquire_link', status: 0, sequence: 702 });
    await client.take('enquire_link_resp');
    client.send({ command: 'unknown', status: 0, sequence: 703, commandId: 0x00010203, body: Buffer.alloc(0) });
    await client.take('generic_nack');
    client.send({ command: 'unbind', status: 0, sequence: 704 });
    await client.take('unbind_resp');
    await client.closed();
    const { commands, complaints } = judge(recorder.recordings.slice(-1));
    assert.deepEqual(complaints, []);
    // One of the libraries ends its own submits with stray octets.
    const ours = recorder.recordings.map((recording) => recording.filter(({ from }) => from === 'server'));
    assert.deepEqual(judge(ours).complaints, []);
    const { bind_transceiver, submit_sm, deliver_sm, query_sm, cancel_sm, enquire_link, unbind } = commandIds;
    for (const command of [bind_transceiver, submit_sm, deliver_sm, query_sm, cancel_sm, enquire_link, unbind])
      for (const each of [hex(command), hex(command + 0x80000000)]) assert.ok(commands.includes(each), each);
  });
});
