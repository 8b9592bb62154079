// Texts from phones by SMPP: the real app and database, a scripted SMSC, and a clock that stands still until it is turned.
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { encodeText } from '../../src/smpp/charset.ts';
import { type DataPdu, type DeliverPdu, emptySubmit, type Pdu, tlvTags } from '../../src/smpp/pdu.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { type CarrierWorld, createCarrierWorld, receiptOf } from '../support/carrier-world.ts';
import { send } from '../support/developer.ts';
import { eventually } from '../support/eventually.ts';
import { type Script, type ScriptedSmsc, startScriptedSmsc } from '../support/scripted-smsc.ts';
import type { Page, TextRecord } from '../support/texts.ts';

interface InboundRecord {
  id: string;
  to: string;
  from: string;
  message: string;
  segments: { count: number };
  partial: boolean;
}

let app: TestApp;
let world: CarrierWorld;
let smsc: ScriptedSmsc;
const number = '+447800900000';
before(async () => {
  app = await createTestApp();
  world = await createCarrierWorld(app);
  smsc = await startScriptedSmsc();
  await world.connect(smsc.port);
  const path = `/portal/v1/operator/numbers/${encodeURIComponent(number)}`;
  const { status, body } = await world.operator.send('PUT', path, { application_id: world.sender.id });
  assert.equal(status, 200, JSON.stringify(body));
});
after(async () => {
  await smsc.close();
  await app.close();
});

let made = 0;
let phone = '';
beforeEach(() => {
  smsc.follow(() => false);
  phone = `+4477009${String(++made).padStart(5, '0')}`;
});

let sequence = 1000;
/** A deliver_sm from the phone to our number. */
function textOf(text: string, changes: Partial<DeliverPdu> = {}): DeliverPdu {
  return {
    ...emptySubmit,
    command: 'deliver_sm',
    status: 0,
    sequence: ++sequence,
    source: phone.slice(1),
    sourceTon: 1,
    destination: number.slice(1),
    destinationTon: 1,
    shortMessage: encodeText(text, 'gsm7'),
    ...changes,
  };
}

/** A part, with the reference in a header. */
function partOf(text: string, part: number, total: number, reference = 7, changes: Partial<DeliverPdu> = {}) {
  const shortMessage = Buffer.concat([Buffer.from([5, 0, 3, reference, total, part]), encodeText(text, 'gsm7')]);
  return textOf('', { esmClass: 0x40, shortMessage, ...changes });
}

/** Sends PDUs on the newest connection and waits until each is answered. Returns the statuses. */
async function deliver(...pdus: (DeliverPdu | DataPdu)[]): Promise<number[]> {
  const peer = smsc.peers.findLast(({ isOpen }) => isOpen) ?? assert.fail('the SMSC has no connection');
  peer.send(...pdus);
  const wanted = new Set(pdus.map((pdu) => pdu.sequence));
  const answers = () =>
    peer.received.filter(
      (pdu) => ['deliver_sm_resp', 'data_sm_resp'].includes(pdu.command) && wanted.has(pdu.sequence),
    );
  await eventually('the answers', () => answers().length === pdus.length, { everyMs: 2 });
  return answers().map(({ status }) => status);
}

/** Changes settings, and waits until the worker has them. */
async function changed(settings: Record<string, unknown>): Promise<void> {
  const before = app.logLines.length;
  await world.change(settings);
  await eventually('the worker has them', () =>
    app.logLines.slice(before).some((line) => line.includes('new settings of a carrier were applied')),
  );
}

/** What came from the phone, oldest first. */
async function inbound(from = phone): Promise<InboundRecord[]> {
  const path = `/sms/v1/inbound?from=${encodeURIComponent(from)}`;
  const { body } = await send<Page<InboundRecord>>(app, 'GET', path, { headers: world.sender.key });
  return body.data.reverse();
}
const messages = async (from = phone) => (await inbound(from)).map(({ message }) => message);

// First, because an operator's session ends when an hour passes.
describe('words', () => {
  const submits = () =>
    smsc
      .ledger('submit_sm')
      .filter(({ destination }) => destination === phone.slice(1))
      .map((pdu) => pdu.source);
  const status = async (sent: Promise<{ body: TextRecord }>) => (await sent).body.error?.code ?? 'sent';

  test('STOP holds once it is answered, and is confirmed by the same carrier and number', async () => {
    await deliver(textOf('STOP'));
    assert.equal(await status(world.sender.sms({ to: phone, from: number })), 'blocked_by_recipient');
    await world.turnUntil('the confirmation', () => submits().length > 0);
    assert.deepEqual(submits(), [number.slice(1)]);
    await deliver(textOf('START'));
    assert.equal(await status(world.sender.sms({ to: phone, from: number })), 'sent');
    // Before the next word: a text that still waits is not sent to a person who has opted out.
    await world.turnUntil('the text', () => submits().length > 1);
    // The carrier repeats the text, or the person changes their mind again: no text is the safe side.
    await deliver(textOf('STOP'));
    assert.equal(await status(world.sender.sms({ to: phone, from: number })), 'blocked_by_recipient');
    assert.equal(submits().length, 2);
  });

  test('in parts acts when it is whole; a partial one does not', async () => {
    await deliver(partOf('ST', 1, 2), partOf('OP', 2, 2));
    assert.equal(await status(world.sender.sms({ to: phone, from: number })), 'blocked_by_recipient');
  });

  test('a carrier that answers itself is not answered for', async () => {
    await changed({ opt_out_replies: 'carrier' });
    await deliver(textOf('STOP'), textOf('HELP'));
    assert.equal(await status(world.sender.sms({ to: phone, from: number })), 'blocked_by_recipient');
    assert.equal((await app.db.database.query('select from message where recipient = $1', [phone])).count, 1);
    await changed({ opt_out_replies: 'own' });
  });
});

describe('what carriers know', () => {
  const optOuts = async () => {
    const path = `/portal/v1/operator/opt-outs?number=${encodeURIComponent(phone)}`;
    const { body } = await world.operator.send<Page<{ source: string; sender: string; scope: string }>>('GET', path);
    return body.data.map(({ source, sender, scope }) => `${source} ${scope} ${sender}`);
  };

  test('a refusal for this reason is an opt-out of the sender', async () => {
    await changed({ submit_errors: { '0x00000400': 'never:blocked_by_recipient' } });
    const refusing: Script = (pdu: Pdu, peer) => {
      if (pdu.command !== 'submit_sm') return false;
      peer.send({ command: 'submit_sm_resp', status: 0x400, sequence: pdu.sequence, messageId: '', tlvs: [] });
      return true;
    };
    smsc.follow(refusing);
    const id = await world.send({ to: phone, from: '80123' });
    await world.untilStatus(id, 'failed');
    await eventually('the opt-out', async () => (await optOuts()).length > 0);
    assert.deepEqual(await optOuts(), ['carrier sender 80123']);
    smsc.follow(() => false);
    const { body } = await world.sender.sms({ to: phone, from: '80123' });
    assert.equal(body.error?.code, 'blocked_by_recipient');
    assert.equal((await world.sender.sms({ to: phone, from: '80124' })).body.error, null);
  });

  test('a receipt with an error that means "blocked by recipient" opts the number out', async () => {
    await changed({ errors: { '777': 'blocked_by_recipient' } });
    smsc.follow((pdu, peer) => {
      if (pdu.command !== 'submit_sm') return false;
      const shortMessage = Buffer.from(`id:r${phone} sub:001 dlvrd:000 stat:UNDELIV err:777 text:`);
      peer.send(
        { command: 'submit_sm_resp', status: 0, sequence: pdu.sequence, messageId: `r${phone}`, tlvs: [] },
        receiptOf('', { sequence: ++sequence, source: phone.slice(1), destination: '80125', shortMessage }),
      );
      return true;
    });
    const id = await world.send({ to: phone, from: '80125' });
    await world.untilStatus(id, 'undelivered');
    await eventually('the opt-out', async () => (await optOuts()).length > 0);
    assert.deepEqual(await optOuts(), ['carrier sender 80125']);
  });
});

describe('a text', () => {
  test('is kept when it is answered, with its numbers in our form', async () => {
    assert.deepEqual(await deliver(textOf('Grüße @ €5')), [0]);
    const [record] = await inbound();
    assert.deepEqual([record?.to, record?.from, record?.message], [number, phone, 'Grüße @ €5']);
  });

  test('comes in UCS-2, by data_sm, and in message_payload', async () => {
    await deliver(textOf('', { dataCoding: 8, shortMessage: encodeText('Žluť 😀', 'ucs2') }));
    const { source, sourceTon, destination, destinationTon } = textOf('');
    const addresses = {
      serviceType: '',
      sourceNpi: 1,
      destinationNpi: 1,
      source,
      sourceTon,
      destination,
      destinationTon,
    };
    const payload = { tag: tlvTags.messagePayload, value: encodeText('long '.repeat(100), 'gsm7') };
    const body = { esmClass: 0, registeredDelivery: 0, dataCoding: 0, tlvs: [payload] };
    await deliver({ command: 'data_sm', status: 0, sequence: ++sequence, ...addresses, ...body });
    assert.deepEqual(await messages(), ['Žluť 😀', 'long '.repeat(100)]);
  });

  test('a text that is repeated within ten minutes is kept once, and later again', async () => {
    await deliver(textOf('Hello'));
    await deliver(textOf('Hello'), textOf('Hello'));
    assert.deepEqual(await messages(), ['Hello']);
    app.clock.advance(10 * 60_000 + 1);
    await deliver(textOf('Hello'));
    assert.deepEqual(await messages(), ['Hello', 'Hello']);
  });

  test('a text to a number that no application holds is kept for operators', async () => {
    await deliver(textOf('Who are you?', { destination: '80999', destinationTon: 3 }));
    assert.deepEqual(await messages(), []);
    const path = '/portal/v1/operator/inbound?unassigned=true';
    const { body } = await world.operator.send<Page<InboundRecord & { carrier: string }>>('GET', path);
    const [record] = body.data;
    assert.deepEqual(
      [record?.to, record?.from, record?.message, record?.carrier],
      ['80999', phone, 'Who are you?', 'practice'],
    );
  });

  test('a text with octets that no text has is kept and answered', async () => {
    const shortMessage = Buffer.concat([Buffer.from([0, 0, 0xd8, 0x3d, 0, 0x41]), Buffer.from([0])]);
    assert.deepEqual(await deliver(textOf('', { dataCoding: 8, shortMessage })), [0]);
    assert.deepEqual(await messages(), ['\ufffdA']);
    assert.deepEqual(await deliver(textOf('', { shortMessage: Buffer.alloc(0) })), [0]);
  });

  test('many texts at once are all kept', async () => {
    const texts = Array.from({ length: 120 }, (_, index) => `text ${index}`);
    await deliver(...texts.map((text) => textOf(text)));
    const { rows } = await app.db.database.query('select body from inbound_text where sender = $1', [phone]);
    assert.deepEqual(new Set(rows.map(({ body }) => body)), new Set(texts));
  });
});

describe('parts of an inbound text', () => {
  test('come as 3, 1, 2 and are joined; two phones with one reference are joined apart', async () => {
    const other = phone.replace('+4477009', '+4477008');
    const from = (part: DeliverPdu) => ({ ...part, source: other.slice(1) });
    await deliver(partOf('three', 3, 3), from(partOf('drei', 3, 3)));
    await deliver(from(partOf('eins ', 1, 3)), partOf('one ', 1, 3));
    assert.deepEqual(await messages(), []);
    await deliver(partOf('two ', 2, 3), from(partOf('zwei ', 2, 3)));
    const [record] = await inbound();
    assert.deepEqual([record?.message, record?.segments.count, record?.partial], ['one two three', 3, false]);
    assert.deepEqual(await messages(other), ['eins zwei drei']);
  });

  test('of one reference and another width or total are other texts', async () => {
    const sixteen = (text: string, part: number) => {
      const header = Buffer.from([6, 8, 4, 0, 7, 2, part]);
      return textOf('', { esmClass: 0x40, shortMessage: Buffer.concat([header, encodeText(text, 'gsm7')]) });
    };
    await deliver(partOf('a', 1, 2), sixteen('c', 1), partOf('e', 1, 3), partOf('f', 2, 3));
    await deliver(partOf('b', 2, 2), sixteen('d', 2), partOf('g', 3, 3));
    assert.deepEqual(new Set(await messages()), new Set(['ab', 'cd', 'efg']));
  });

  test('come by SAR, and a character cut in two is whole again', async () => {
    const octets = encodeText('😀', 'ucs2');
    const sar = (part: number): DeliverPdu => {
      const tlvs = [
        { tag: tlvTags.sarReference, value: Buffer.from([1, 9]) },
        { tag: tlvTags.sarTotal, value: Buffer.from([2]) },
        { tag: tlvTags.sarPart, value: Buffer.from([part]) },
      ];
      return textOf('', { dataCoding: 8, shortMessage: octets.subarray(2 * part - 2, 2 * part), tlvs });
    };
    await deliver(sar(2), sar(1));
    assert.deepEqual(await messages(), ['😀']);
  });

  test('repeated parts change nothing, before and after the text is complete', async () => {
    await deliver(partOf('a', 1, 2), partOf('a', 1, 2));
    await deliver(partOf('b', 2, 2));
    await deliver(partOf('a', 1, 2), partOf('b', 2, 2));
    assert.deepEqual(await messages(), ['ab']);
    assert.equal((await app.db.database.query('select from inbound_part where sender = $1', [phone])).count, 0);
  });

  test('parts that never complete a text are delivered after an hour as partial', async () => {
    await deliver(partOf('one ', 1, 3), partOf('three', 3, 3));
    app.clock.advance(59 * 60_000);
    await app.delivery.maintenance.runAll();
    assert.deepEqual(await messages(), []);
    app.clock.advance(2 * 60_000);
    await app.delivery.maintenance.runAll();
    const [record] = await inbound();
    assert.deepEqual([record?.message, record?.partial, record?.segments.count], ['one three', true, 2]);
  });

  test('with a reference that the phone uses again: what was there is delivered, and the new text begins', async () => {
    await deliver(partOf('old', 1, 2));
    app.clock.advance(11 * 60_000);
    await deliver(partOf('new ', 1, 2), partOf('text', 2, 2));
    const found = await inbound();
    assert.deepEqual(
      found.map(({ message, partial }) => [message, partial]),
      [
        ['old', true],
        ['new text', false],
      ],
    );
  });
});
