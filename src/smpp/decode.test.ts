import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { inShort } from '../../test/support/effort.ts';
import { decodePdu, statusFor } from './decode.ts';
import { encodePdu } from './encode.ts';
import { commandIds, emptySubmit, findTlv, messageOctets, type Pdu, type SubmitFields, tlvTags } from './pdu.ts';

const plain = { noNullPrototype: true };
const octet = fc.integer({ min: 0, max: 255 });
const word = fc.integer({ min: 0, max: 0xffffffff });
const text = (most: number) =>
  fc.array(fc.integer({ min: 1, max: 255 }), { maxLength: most }).map((codes) => Buffer.from(codes).toString('latin1'));
const octets = (most: number) => fc.uint8Array({ maxLength: most }).map((array) => Buffer.from(array));
const tlvs = fc.array(fc.record({ tag: fc.integer({ min: 0, max: 65_535 }), value: octets(40) }, plain), {
  maxLength: 5,
});

const source = { sourceTon: octet, sourceNpi: octet, source: text(20) };
const parties = {
  serviceType: text(5),
  ...source,
  destinationTon: octet,
  destinationNpi: octet,
  destination: text(20),
};
const submit = {
  ...parties,
  esmClass: octet,
  protocolId: octet,
  priority: octet,
  scheduleDeliveryTime: text(16),
  validityPeriod: text(16),
  registeredDelivery: octet,
  replaceIfPresent: octet,
  dataCoding: octet,
  defaultMessageId: octet,
  shortMessage: octets(255),
  tlvs,
};
const bind = {
  systemId: text(15),
  password: text(16),
  systemType: text(12),
  interfaceVersion: octet,
  addressTon: octet,
  addressNpi: octet,
  addressRange: text(40),
};
const data = { ...parties, esmClass: octet, registeredDelivery: octet, dataCoding: octet, tlvs };
const alert = { ...source, esmeTon: octet, esmeNpi: octet, esme: text(64), tlvs };
const answered = { messageId: text(64), tlvs };
const queried = { messageId: text(64), finalDate: text(16), messageState: octet, errorCode: octet };

const bodies: Record<keyof typeof commandIds, Record<string, fc.Arbitrary<unknown>>> = {
  generic_nack: {},
  bind_receiver: bind,
  bind_receiver_resp: { systemId: text(15), tlvs },
  bind_transmitter: bind,
  bind_transmitter_resp: { systemId: text(15), tlvs },
  query_sm: { messageId: text(64), ...source },
  query_sm_resp: queried,
  submit_sm: submit,
  submit_sm_resp: answered,
  deliver_sm: submit,
  deliver_sm_resp: answered,
  unbind: {},
  unbind_resp: {},
  cancel_sm: { messageId: text(64), ...parties },
  cancel_sm_resp: {},
  bind_transceiver: bind,
  bind_transceiver_resp: { systemId: text(15), tlvs },
  outbind: { systemId: text(15), password: text(16) },
  enquire_link: {},
  enquire_link_resp: {},
  alert_notification: alert,
  data_sm: data,
  data_sm_resp: answered,
};

const known = fc.oneof(
  ...Object.entries(bodies).map(([command, fields]) =>
    fc.record({ command: fc.constant(command), status: word, sequence: word, ...fields }, plain),
  ),
) as fc.Arbitrary<Pdu>;

const deliver = (fields: Partial<SubmitFields>): Pdu => ({
  command: 'deliver_sm',
  status: 0,
  sequence: 7,
  ...emptySubmit,
  source: '14155550100',
  destination: '12345',
  shortMessage: Buffer.from('hello'),
  ...fields,
});

/** A PDU's octets with its length set right again. */
function framed(octetsOfPdu: Buffer): Buffer {
  const frame = Buffer.from(octetsOfPdu);
  frame.writeUInt32BE(frame.length, 0);
  return frame;
}

describe('every PDU', () => {
  test('is the same after encoding and decoding, without a problem', () => {
    fc.assert(
      fc.property(known, (pdu) => {
        const frame = encodePdu(pdu);
        assert.equal(frame.readUInt32BE(0), frame.length);
        const { pdu: decoded, problems } = decodePdu(frame);
        assert.deepEqual(decoded, pdu);
        assert.deepEqual(problems, []);
      }),
      { numRuns: inShort(400, 2000) },
    );
  });

  test('decodes whatever octets there are, and what it decodes it can encode', () => {
    const header = fc.constantFrom(...Object.values(commandIds), 0x12345678, 0x80000777);
    fc.assert(
      fc.property(header, word, word, octets(400), (commandId, status, sequence, body) => {
        const head = Buffer.alloc(16);
        head.writeUInt32BE(commandId, 4);
        head.writeUInt32BE(status, 8);
        head.writeUInt32BE(sequence, 12);
        const { pdu } = decodePdu(framed(Buffer.concat([head, body])));
        assert.equal(pdu.status, status);
        assert.equal(pdu.sequence, sequence);
        assert.deepEqual(decodePdu(encodePdu(pdu)).pdu, pdu);
      }),
      { numRuns: inShort(600, 3000) },
    );
  });

  test('decodes mutated: octets changed, cut, added', () => {
    const change = fc.record({ at: fc.nat(), value: octet, cut: fc.nat(60), added: octets(20) });
    fc.assert(
      fc.property(known, change, (pdu, { at, value, cut, added }) => {
        const frame = encodePdu(pdu);
        frame[16 + (at % Math.max(1, frame.length - 16))] = value;
        const mutated = framed(Buffer.concat([frame.subarray(0, Math.max(16, frame.length - cut)), added]));
        const decoded = decodePdu(mutated).pdu;
        assert.deepEqual(decodePdu(encodePdu(decoded)).pdu, decoded);
      }),
      { numRuns: inShort(600, 3000) },
    );
  });

  test('decodes fewer octets than a header', () => {
    for (let length = 0; length < 16; length++) {
      const { pdu, problems } = decodePdu(Buffer.alloc(length));
      assert.equal(pdu.command, 'unknown');
      assert.equal(statusFor(problems), 2);
    }
  });
});

describe('inside a framed PDU decoding goes on', () => {
  test('sm_length past the end: what there is, and 0x01', () => {
    const frame = encodePdu(deliver({}));
    const { pdu, problems } = decodePdu(framed(frame.subarray(0, frame.length - 2)));
    assert.ok(pdu.command === 'deliver_sm', 'a deliver_sm');
    assert.equal(pdu.shortMessage.toString(), 'hel');
    assert.equal(statusFor(problems), 1);
  });

  test('a string without NUL: the rest is the string', () => {
    const frame = encodePdu({ command: 'submit_sm_resp', status: 0, sequence: 1, messageId: 'abc', tlvs: [] });
    const { pdu, problems } = decodePdu(framed(frame.subarray(0, frame.length - 1)));
    assert.ok(pdu.command === 'submit_sm_resp', 'a submit_sm_resp');
    assert.equal(pdu.messageId, 'abc');
    assert.equal(problems[0]?.problem, 'has no NUL at its end');
    assert.equal(statusFor(problems), 0);
  });

  test('a body that ends too soon: the rest is empty, and 0x02', () => {
    const { pdu, problems } = decodePdu(framed(encodePdu(deliver({})).subarray(0, 24)));
    assert.ok(pdu.command === 'deliver_sm', 'a deliver_sm');
    assert.equal(pdu.source, '14155');
    assert.equal(pdu.shortMessage.length, 0);
    assert.equal(statusFor(problems), 2);
    assert.equal(problems.length, 2, 'no NUL, and the first missing field');
  });

  test('an over-long string is kept, but never more than 255 characters of it', () => {
    const long = decodePdu(encodePdu(deliver({ source: '1'.repeat(30) })));
    assert.ok(long.pdu.command === 'deliver_sm', 'a deliver_sm');
    assert.equal(long.pdu.source.length, 30);
    assert.equal(long.pdu.shortMessage.toString(), 'hello');
    assert.equal(statusFor(long.problems), 0);
    const huge = decodePdu(encodePdu(deliver({ source: '1'.repeat(5000) })));
    assert.ok(huge.pdu.command === 'deliver_sm', 'a deliver_sm');
    assert.equal(huge.pdu.source.length, 255);
    assert.equal(huge.pdu.destination, '12345');
  });

  test('stray octets after the body are ignored', () => {
    const frame = framed(Buffer.concat([encodePdu(deliver({})), Buffer.from([0, 0, 1])]));
    const { pdu, problems } = decodePdu(frame);
    assert.deepEqual(pdu, deliver({}));
    assert.equal(statusFor(problems), 0);
    assert.match(problems[0]?.problem ?? '', /3 stray octets/);
  });

  test('a TLV past the end: what came before stays; 0xC0 only if nothing is usable', () => {
    const first = { tag: tlvTags.messageState, value: Buffer.from([2]) };
    const broken = { tag: tlvTags.receiptedMessageId, value: Buffer.from('abcd') };
    const cut = (fields: Partial<SubmitFields>) => {
      const frame = encodePdu(deliver(fields));
      return decodePdu(framed(frame.subarray(0, frame.length - 2)));
    };
    const withText = cut({ tlvs: [first, broken] });
    assert.ok(withText.pdu.command === 'deliver_sm', 'a deliver_sm');
    assert.deepEqual(withText.pdu.tlvs, [first]);
    assert.equal(statusFor(withText.problems), 0);
    assert.equal(statusFor(cut({ shortMessage: Buffer.alloc(0), tlvs: [first, broken] }).problems), 0);
    assert.equal(statusFor(cut({ shortMessage: Buffer.alloc(0), tlvs: [broken] }).problems), 0xc0);
  });

  test('of a repeated TLV the first counts', () => {
    const tags = [1, 2, 1].map((tag, place) => ({ tag, value: Buffer.from([place]) }));
    assert.deepEqual(findTlv(tags, 1), Buffer.from([0]));
    assert.equal(findTlv(tags, 3), undefined);
  });

  test('an answer without a body has an empty id; an error may have one', () => {
    const bare = encodePdu({ command: 'submit_sm_resp', status: 0, sequence: 1, messageId: '', tlvs: [] });
    const { pdu, problems } = decodePdu(framed(bare.subarray(0, 16)));
    assert.deepEqual(pdu, { command: 'submit_sm_resp', status: 0, sequence: 1, messageId: '', tlvs: [] });
    assert.deepEqual(problems, []);
    const refused: Pdu = { command: 'submit_sm_resp', status: 11, sequence: 1, messageId: 'x1', tlvs: [] };
    assert.deepEqual(decodePdu(encodePdu(refused)).pdu, refused);
  });

  test('a thousand empty TLVs do not become a thousand objects', () => {
    const tlvs = Array.from({ length: 255 }, () => ({ tag: 1, value: Buffer.alloc(0) }));
    const whole = framed(Buffer.concat([encodePdu(deliver({ tlvs })), Buffer.alloc(4000)]));
    const { pdu, problems } = decodePdu(whole);
    assert.ok(pdu.command === 'deliver_sm', 'a deliver_sm');
    assert.equal(pdu.tlvs.length, 256);
    assert.equal(statusFor(problems), 0);
  });
});

describe('encoding', () => {
  test('writes ? for what a string cannot hold, so that no string ends early', () => {
    const { pdu } = decodePdu(encodePdu(deliver({ source: 'a\0b', destination: 'Ā€é' })));
    assert.ok(pdu.command === 'deliver_sm', 'a deliver_sm');
    assert.equal(pdu.source, 'a?b');
    assert.equal(pdu.destination, '??é');
  });

  test('refuses octets that their length field cannot count', () => {
    assert.throws(() => encodePdu(deliver({ shortMessage: Buffer.alloc(256) })), RangeError);
    assert.throws(() => encodePdu(deliver({ tlvs: [{ tag: 1, value: Buffer.alloc(65_536) }] })), RangeError);
  });

  test('message_payload is the text where short_message is empty', () => {
    const tlvs = [{ tag: tlvTags.messagePayload, value: Buffer.from('long') }];
    assert.equal(messageOctets({ shortMessage: Buffer.alloc(0), tlvs }).toString(), 'long');
    assert.equal(messageOctets({ shortMessage: Buffer.from('short'), tlvs }).toString(), 'short');
  });

  test('a submit_sm as the specification writes it', () => {
    const fields = { sourceTon: 5, source: 'Acme', destinationTon: 1, destinationNpi: 1, destination: '49170' };
    const message = { esmClass: 0x40, registeredDelivery: 1, dataCoding: 8, shortMessage: Buffer.from([0, 65]) };
    const frame = encodePdu({ command: 'submit_sm', status: 0, sequence: 258, ...emptySubmit, ...fields, ...message });
    const expected =
      '0000002c 00000004 00000000 00000102 00 05 00 41636d6500 01 01 343931373000 40 00 00 00 00 01 00 08 00 02 0041';
    assert.equal(frame.toString('hex'), expected.replaceAll(' ', ''));
  });
});
