// The virtual SMSC of `npm run smsc`, by a client that shares only the codec with it.
import assert from 'node:assert/strict';
import { after, afterEach, describe, test } from 'node:test';
import fc from 'fast-check';
import { toSubmits } from '../../src/delivery/smpp/submit-parts.ts';
import { emptySubmit, tlvTags } from '../../src/smpp/pdu.ts';
import { readDelivered } from '../../src/smpp/receipt.ts';
import { type Smsc, type SmscOptions, startSmsc } from '../../src/smsc/server.ts';
import { inShort } from '../support/effort.ts';
import { eventually } from '../support/eventually.ts';
import { settingsWith } from '../support/smpp-settings.ts';
import { connectRaw, type RawClient, textTo } from './raw-client.ts';

const opened: { close(): unknown }[] = [];
afterEach(async () => {
  for (const one of opened.splice(0).reverse()) await one.close();
});

async function start(behaviour: SmscOptions['behaviour'] = {}, more: SmscOptions = {}): Promise<Smsc> {
  const smsc = await startSmsc({ behaviour: { receipt_after_ms: 0, ...behaviour }, ...more });
  opened.push(smsc);
  return smsc;
}

async function connected(smsc: Smsc): Promise<RawClient> {
  const client = await connectRaw(smsc.port);
  opened.push(client);
  return client;
}

async function bound(smsc: Smsc, ...bind: Parameters<RawClient['bind']>): Promise<RawClient> {
  const client = await connected(smsc);
  const { status } = await client.bind(...bind);
  assert.equal(status, 0);
  return client;
}

describe('binds', () => {
  test('any of the three kinds, with any credentials', async () => {
    const smsc = await start();
    for (const command of ['bind_transceiver', 'bind_transmitter', 'bind_receiver'] as const) {
      const client = await connected(smsc);
      const answer = await client.bind(command, { systemId: command.slice(5), password: 'x' });
      assert.equal(answer.status, 0);
      assert.equal(answer.tlvs[0]?.tag, tlvTags.interfaceVersion);
    }
    assert.deepEqual(
      smsc.state().binds.map(({ mode }) => mode),
      ['transceiver', 'transmitter', 'receiver'],
    );
  });

  test('a password, if one was set: 0x0e for another', async () => {
    const smsc = await start({}, { password: 'right' });
    const client = await connected(smsc);
    assert.equal((await client.bind('bind_transceiver', { password: 'wrong' })).status, 0x0e);
    assert.equal((await client.bind('bind_transceiver', { password: 'right' })).status, 0);
    assert.equal((await client.bind()).status, 0x05, 'a second bind on the same connection');
  });

  test('refused with a status; unanswered', async () => {
    const smsc = await start({ bind_status: 0x0d });
    const client = await connected(smsc);
    assert.equal((await client.bind()).status, 0x0d);
    smsc.change({ bind_status: 0, ignore_binds: 'transceiver' });
    const bind = { systemId: 'a', password: 'b', systemType: '', interfaceVersion: 0x34, addressTon: 0, addressNpi: 0 };
    client.send({ command: 'bind_transceiver', status: 0, sequence: 7, ...bind, addressRange: '' });
    assert.equal((await client.bind('bind_transmitter')).status, 0);
    assert.deepEqual(client.received, [], 'the transceiver got no answer');
  });

  test('enquire_link before the bind; unbind; an unknown command; a submit where none may be', async () => {
    const smsc = await start();
    const client = await connected(smsc);
    client.send({ command: 'enquire_link', status: 0, sequence: 5 });
    assert.equal((await client.take('enquire_link_resp')).sequence, 5);
    assert.equal((await client.submit()).status, 0x04, 'not bound');
    await client.bind('bind_receiver');
    assert.equal((await client.submit()).status, 0x04, 'bound as a receiver');
    client.send({ command: 'unknown', status: 0, sequence: 9, commandId: 0x0777, body: Buffer.alloc(3) });
    assert.deepEqual(await client.take('generic_nack'), { command: 'generic_nack', status: 0x03, sequence: 9 });
    client.send({ command: 'unbind', status: 0, sequence: 10 });
    await client.take('unbind_resp');
    await client.closed();
  });
});

describe('texts and receipts', () => {
  test('an id, then a receipt that our own parser reads', async () => {
    const smsc = await start();
    const client = await bound(smsc);
    const { status, messageId } = await client.submit();
    assert.equal(status, 0);
    const receipt = readDelivered(await client.takeReceipt(), { sniff: false });
    assert.ok(receipt.kind === 'receipt', 'it is a receipt');
    assert.deepEqual(receipt.carrierMessageIds, [messageId]);
    assert.equal(receipt.outcome, 'delivered');
    assert.deepEqual(receipt.numbers, ['447700900123']);
    await eventually('the receipt is acknowledged', () => smsc.texts()[0]?.parts[0]?.receipt === 'acknowledged');
  });

  test('ids in every form: the receipt writes them as configured', async () => {
    const smsc = await start();
    const client = await bound(smsc);
    const idsOf = async (ids: Smsc['behaviour']['ids']) => {
      smsc.change({ ids });
      const { messageId } = await client.submit();
      const receipt = readDelivered(await client.takeReceipt(), { sniff: false });
      assert.ok(receipt.kind === 'receipt', 'it is a receipt');
      return [messageId, ...receipt.carrierMessageIds];
    };
    const [hex = '', decimal = ''] = await idsOf('hex-dec');
    assert.equal(BigInt(`0x${hex}`), BigInt(decimal));
    const [plain = '', padded] = await idsOf('padded');
    assert.equal(padded, plain.padStart(20, '0'));
    assert.deepEqual(await idsOf('same'), ['123456789', '123456789']);
    assert.deepEqual(await idsOf('empty'), ['']);
    assert.match((await idsOf('uuid'))[0] ?? '', /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  });

  test('wait for a receiver of the same system_id, and for no other', async () => {
    const smsc = await start();
    const sender = await bound(smsc, 'bind_transmitter', { systemId: 'one' });
    const other = await bound(smsc, 'bind_receiver', { systemId: 'two' });
    await sender.submit();
    await sender.submit();
    assert.equal(smsc.state().counts.receipts_waiting, 2);
    const receiver = await bound(smsc, 'bind_receiver', { systemId: 'one' });
    await receiver.takeReceipt();
    await receiver.takeReceipt();
    assert.deepEqual(other.received, []);
  });

  test('come again if the connection closes before the answer, even while the SMSC is down', async () => {
    const smsc = await start();
    const client = await bound(smsc);
    await client.submit();
    const first = await client.take('deliver_sm');
    await smsc.goDown();
    await client.closed();
    await smsc.comeBack();
    const again = await (await bound(smsc)).takeReceipt();
    assert.deepEqual(again.shortMessage, first.shortMessage);
  });

  test('more than a window of them: the rest follows as they are answered', async () => {
    const smsc = await start();
    const sender = await bound(smsc, 'bind_transmitter');
    for (let i = 0; i < 150; i++) await sender.submit();
    const receiver = await bound(smsc, 'bind_receiver');
    for (let i = 0; i < 150; i++) await receiver.takeReceipt();
    await eventually('all are acknowledged', () => smsc.state().counts.receipts_acknowledged === 150);
    assert.equal(smsc.state().counts.receipts_waiting, 0);
  });

  test('only where one was asked for, and only of what was asked', async () => {
    const smsc = await start();
    const client = await bound(smsc);
    await client.submit({ registeredDelivery: 0 });
    await client.submit({ registeredDelivery: 2 });
    smsc.change({ receipt_state: 'undelivered' });
    await client.submit({ registeredDelivery: 2 });
    assert.match((await client.takeReceipt()).shortMessage.toString(), /stat:UNDELIV err:001/);
    smsc.change({ receipt_state: 'none' });
    await client.submit();
    assert.equal(smsc.state().counts.receipts_sent, 1);
  });

  test('early, twice, with wrong ids, by TLVs alone', async () => {
    const smsc = await start({ early_receipts: true, receipts_twice: true, wrong_ids: true, receipt_style: 'tlv' });
    const client = await bound(smsc);
    client.send({ ...textTo('447700900123'), command: 'submit_sm', status: 0, sequence: 2 });
    const answer = await client.take('submit_sm_resp');
    assert.equal(client.received.filter(({ command }) => command === 'deliver_sm').length, 2, 'both were there first');
    const receipt = await client.takeReceipt();
    assert.equal(receipt.shortMessage.length, 0);
    const read = readDelivered(receipt, { sniff: false });
    assert.ok(read.kind === 'receipt' && read.carrierMessageIds[0] !== answer.messageId, 'the id is another one');
  });
});

describe('faults', () => {
  test('throttled every third; refused with a status; both on demand', async () => {
    const smsc = await start({ throttle_every: 3 });
    const client = await bound(smsc);
    const statuses = async (count: number) => {
      const found: number[] = [];
      for (let i = 0; i < count; i++) found.push((await client.submit()).status);
      return found;
    };
    assert.deepEqual(await statuses(6), [0, 0, 0x58, 0, 0, 0x58]);
    smsc.change({ throttle_every: 0, refuse_every: 1, refuse_status: 0x0b });
    assert.deepEqual(await statuses(2), [0x0b, 0x0b]);
    assert.equal(smsc.state().counts.refused, 4);
  });

  test('silent: the others are answered; slow: they come late, but come', async () => {
    const smsc = await start({ silent_every: 2, slow_ms: 1, receipt_state: 'none' });
    const client = await bound(smsc);
    for (const sequence of [1, 2, 3]) {
      client.send({ ...textTo('447700900123'), command: 'submit_sm', status: 0, sequence });
    }
    assert.equal((await client.take('submit_sm_resp')).sequence, 1);
    assert.equal((await client.take('submit_sm_resp')).sequence, 3);
    assert.equal(smsc.state().counts.unanswered, 1);
  });

  test('garbage loses the frames; unbind after n; cut at the nth', async () => {
    const smsc = await start({ garbage_every: 1 });
    const first = await bound(smsc);
    first.send({ ...textTo('1'), command: 'submit_sm', status: 0, sequence: 2 });
    await eventually('the frames are lost', () => first.lost !== undefined);
    smsc.change({ garbage_every: 0, unbind_after: 2 });
    const second = await bound(smsc);
    await second.submit();
    await second.submit();
    const { sequence } = await second.take('unbind');
    second.send({ command: 'unbind_resp', status: 0, sequence });
    await second.closed();
    smsc.change({ unbind_after: 0, drop_after: 2 });
    const third = await bound(smsc);
    assert.equal((await third.submit()).status, 0);
    third.send({ ...textTo('1'), command: 'submit_sm', status: 0, sequence: 9 });
    await third.closed();
  });
});

describe('what arrived', () => {
  test('long texts are joined, in each form; a missing part is reported', async () => {
    const smsc = await start({ receipt_state: 'none' });
    const client = await bound(smsc);
    const long = `Zażółć ${'😀 long '.repeat(40)}`;
    for (const form of ['udh16', 'udh8', 'sar', 'payload'] as const) {
      const whole = { messageId: form, to: '+447700900123', from: 'ACME', text: long, form: null, templateId: null };
      const text = { ...whole, expiresAtMs: Date.now() + 60_000 };
      const { submits: parts } = toSubmits(text, settingsWith({ long_messages: form }), Date.now());
      smsc.clearTexts();
      for (const part of [...parts].reverse()) await client.submit(part);
      const [shown, ...more] = smsc.texts();
      assert.deepEqual(more, []);
      assert.equal(shown?.text, long, form);
      assert.equal(shown?.complete, true, form);
      assert.deepEqual(
        shown?.parts.map(({ part }) => part),
        parts.map((_, index) => index + 1),
      );
      if (parts.length === 1) continue;
      smsc.clearTexts();
      for (const part of parts.slice(1)) await client.submit(part);
      assert.equal(smsc.texts()[0]?.complete, false, form);
    }
  });

  test('newest first, and the newest 10,000', async () => {
    const seen: string[] = [];
    const smsc = await start({ receipt_state: 'none' }, { onSubmit: ({ destination }) => void seen.push(destination) });
    const client = await bound(smsc);
    const total = 10_050;
    for (let sequence = 1; sequence <= total; sequence++) {
      client.send({ ...textTo(String(sequence)), command: 'submit_sm', status: 0, sequence });
    }
    await eventually('all are answered', () => client.received.length === total);
    assert.equal(seen.length, total);
    const texts = smsc.texts(20_000);
    assert.equal(texts.length, 10_000);
    assert.deepEqual([texts[0]?.to, texts.at(-1)?.to], [String(total), String(total - 9999)]);
  });
});

describe('hostile peers', () => {
  let smsc: Smsc | undefined;
  after(() => smsc?.close());

  test('whatever octets come, the next bind and submit work', async () => {
    smsc = await startSmsc({ behaviour: { receipt_after_ms: 0 } });
    const { port } = smsc;
    const octets = fc.oneof(
      fc.uint8Array({ minLength: 1, maxLength: 200 }),
      fc.uint8Array({ maxLength: 100 }).map((body) => {
        const frame = Buffer.concat([Buffer.alloc(16), body]);
        frame.writeUInt32BE(frame.length);
        frame.writeUInt32BE([1, 2, 4, 5, 9, 0x80000005][body.length % 6] ?? 4, 4);
        return frame;
      }),
    );
    await fc.assert(
      fc.asyncProperty(octets, async (noise) => {
        const noisy = await connectRaw(port);
        noisy.sendOctets(Buffer.from(noise));
        const client = await connectRaw(port);
        assert.equal((await client.bind()).status, 0);
        assert.equal((await client.submit({ ...emptySubmit, destination: '1' })).status, 0);
        client.close();
        noisy.close();
      }),
      { numRuns: inShort(50, 2000) },
    );
  });
});
