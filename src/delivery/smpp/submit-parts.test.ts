import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { settingsWith } from '../../../test/support/smpp-settings.ts';
import { measure, split } from '../../messages/text/text.ts';
import { decodeText } from '../../smpp/charset.ts';
import { decodePdu } from '../../smpp/decode.ts';
import { encodePdu } from '../../smpp/encode.ts';
import { findTlv, type SubmitFields, tlvTags } from '../../smpp/pdu.ts';
import type { SmppSettings } from './settings.ts';
import { asksReceipt, receiptsAwaited, referenceOf, tlvsProblem, toSubmits } from './submit-parts.ts';

const nowMs = Date.parse('2031-02-03T04:05:06Z');

interface Given {
  from?: string;
  messageId?: string;
  form?: string;
  templateId?: string;
}

function submits(text: string, settings: Partial<SmppSettings> = {}, more: Given = {}): SubmitFields[] {
  return write(text, settings, more).submits;
}

function write(text: string, settings: Partial<SmppSettings>, more: Given) {
  const usual = { messageId: 'm1', to: '+447700900123', from: 'ACME', templateId: null, form: null };
  return toSubmits({ ...usual, text, expiresAtMs: nowMs + 600_000, ...more }, settingsWith(settings), nowMs);
}

const gsm = 'abc @£$¥èé_ΔÄÖÑÜ§¿äöñüà0123';
const units = [...gsm, ...'^{}\\[~]|€', ...'çЖ日', '😀', '\u{10ffff}'];
const anyText = fc.oneof(
  fc.string({ unit: fc.constantFrom(...gsm, '€', '{'), minLength: 1, maxLength: 1300, size: 'max' }),
  fc.string({ unit: fc.constantFrom('a', 'Ж', '😀'), minLength: 1, maxLength: 400, size: 'max' }),
  fc.string({ unit: fc.constantFrom(...units), minLength: 1, maxLength: 500, size: 'max' }),
);
const forms = fc.constantFrom<SmppSettings['long_messages']>('udh16', 'udh8', 'sar', 'payload');

/** The text as a phone or an SMSC reads it, with the part's place. */
function readPart(fields: SubmitFields): { text: string; total: number; part: number; reference: number } {
  const coding = fields.dataCoding === 8 ? 'ucs2' : 'gsm7';
  const octets = fields.shortMessage.length > 0 ? fields.shortMessage : findTlv(fields.tlvs, tlvTags.messagePayload);
  assert.ok(octets, 'there is a text');
  if ((fields.esmClass & 0x40) === 0) {
    const sar = (tag: number) => findTlv(fields.tlvs, tag)?.readUIntBE(0, tag === tlvTags.sarReference ? 2 : 1);
    const text = decodeText(octets, coding);
    return {
      text,
      total: sar(tlvTags.sarTotal) ?? 1,
      part: sar(tlvTags.sarPart) ?? 1,
      reference: sar(tlvTags.sarReference) ?? -1,
    };
  }
  const header = octets.subarray(0, 1 + (octets[0] ?? 0));
  const isLong = header[1] === 0x08;
  const reference = isLong ? header.readUInt16BE(3) : (header[3] ?? -1);
  const text = decodeText(octets.subarray(header.length), coding);
  return { text, reference, total: header.at(-2) ?? 0, part: header.at(-1) ?? 0 };
}

/** Octets of the part on the air. */
function airOctets(fields: SubmitFields): number {
  const header = (fields.esmClass & 0x40) === 0 ? 0 : 1 + (fields.shortMessage[0] ?? 0);
  if (fields.dataCoding === 8) return fields.shortMessage.length;
  const fill = header === 6 ? 1 : 0;
  return header + Math.ceil((fill + 7 * (fields.shortMessage.length - header)) / 8);
}

test('parts: as many as billed, each of 140 octets at most, and together the text', () => {
  fc.assert(
    fc.property(anyText, forms, (text, form) => {
      const all = submits(text, { long_messages: form });
      const read = all.map(readPart);
      assert.equal(read.map((part) => part.text).join(''), text);
      assert.equal(all.length, form === 'payload' ? 1 : measure(text).count);
      if (form === 'payload') return;
      assert.deepEqual(
        read.map(({ total, part }) => [total, part]),
        all.map((_, index) => [all.length, index + 1]),
      );
      assert.ok(
        all.every((fields) => airOctets(fields) <= 140),
        'no part is longer than the air carries',
      );
      assert.equal(new Set(read.map(({ reference }) => reference)).size, 1, 'one reference');
      assert.ok(
        read.every((part) => part.text.isWellFormed()),
        'no pair is split',
      );
    }),
  );
});

test('the parts of udh8 and sar are the billed ones', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      for (const form of ['udh8', 'sar'] as const) {
        assert.deepEqual(
          submits(text, { long_messages: form }).map((fields) => readPart(fields).text),
          split(text),
        );
      }
    }),
  );
});

test('encoded parts decode to themselves: no field is too long', () => {
  fc.assert(
    fc.property(anyText, forms, (text, form) => {
      for (const fields of submits(text, { long_messages: form })) {
        const { pdu, problems } = decodePdu(encodePdu({ command: 'submit_sm', status: 0, sequence: 1, ...fields }));
        assert.deepEqual(problems, []);
        assert.deepEqual(pdu, { command: 'submit_sm', status: 0, sequence: 1, ...fields });
      }
    }),
  );
});

test('a short text: all fields', () => {
  const [fields, ...more] = submits('Hello @ €5');
  assert.deepEqual(more, []);
  assert.deepEqual(fields, {
    serviceType: '',
    sourceTon: 5,
    sourceNpi: 0,
    source: 'ACME',
    destinationTon: 1,
    destinationNpi: 1,
    destination: '447700900123',
    esmClass: 0,
    protocolId: 0,
    priority: 0,
    scheduleDeliveryTime: '',
    validityPeriod: '000000001000000R',
    registeredDelivery: 1,
    replaceIfPresent: 0,
    dataCoding: 0,
    defaultMessageId: 0,
    shortMessage: Buffer.from('48656c6c6f2000201b6535', 'hex'),
    tlvs: [],
  });
});

test('headers: 16 bits by default, 8 where asked, and 8 where 16 would cost a part more than is billed', () => {
  const reference = referenceOf('m1');
  const two = submits('a'.repeat(300));
  assert.deepEqual(
    two.map(({ shortMessage }) => shortMessage.subarray(0, 7).toString('hex')),
    [1, 2].map((part) => `060804${reference.toString(16).padStart(4, '0')}020${part}`),
  );
  assert.equal(two[0]?.shortMessage.length, 7 + 152);
  const short = (reference & 0xff).toString(16).padStart(2, '0');
  for (const parts of [submits('a'.repeat(300), { long_messages: 'udh8' }), submits('a'.repeat(306))]) {
    assert.equal(parts.length, 2);
    assert.equal(parts[0]?.shortMessage.subarray(0, 6).toString('hex'), `050003${short}0201`);
    assert.equal(parts[0]?.shortMessage.length, 6 + 153);
  }
});

test('packed septets after a header', () => {
  const [first] = submits('a'.repeat(306), { charsets: ['gsm7packed/0'], long_messages: 'udh8' });
  assert.equal(first?.shortMessage.length, 140);
  assert.equal(decodeText(first?.shortMessage.subarray(6) ?? Buffer.alloc(0), 'gsm7packed', 6), 'a'.repeat(153));
});

/** The text as an SMSC reads it that takes every seven bits for a character, the padding of the last octet included. */
function readAllSeptets({ esmClass, shortMessage }: SubmitFields): string {
  const headerOctets = (esmClass & 0x40) === 0 ? 0 : 1 + (shortMessage[0] ?? 0);
  const octets = shortMessage.subarray(headerOctets);
  const bits = [...octets].flatMap((octet) => Array.from({ length: 8 }, (_, bit) => (octet >> bit) & 1));
  const fill = (7 - ((headerOctets * 8) % 7)) % 7;
  const septets: number[] = [];
  for (let at = fill; at + 7 <= bits.length; at += 7) {
    septets.push(bits.slice(at, at + 7).reduce((sum, bit, place) => sum | (bit << place), 0));
  }
  return decodeText(Buffer.from(septets), 'gsm7');
}

test('packed septets: nothing but the text is between two parts, and only its end has a carriage return', () => {
  const settings = (long_messages: SmppSettings['long_messages']) => ({
    charsets: ['gsm7packed/0' as const],
    long_messages,
  });
  const text = fc.string({ unit: fc.constantFrom('a', 'b', '€'), minLength: 130, maxLength: 800, size: 'max' });
  const examples: [string, SmppSettings['long_messages']][] = [
    [`${'a'.repeat(152)}€${'b'.repeat(60)}`, 'udh8'],
    [`${'a'.repeat(151)}€${'b'.repeat(60)}`, 'udh16'],
    [`${'a'.repeat(150)}€€${'b'.repeat(60)}`, 'udh8'],
  ];
  fc.assert(
    fc.property(text, fc.constantFrom('udh8', 'udh16', 'sar'), (given, form) => {
      const parts = submits(given, settings(form));
      for (const { shortMessage } of parts) assert.ok(shortMessage.length <= 140);
      assert.equal(parts.map(readAllSeptets).join('').replace(/\r$/, ''), given);
    }),
    { examples },
  );
});

test('a text that no charset can carry has no parts', () => {
  assert.deepEqual(submits('😀', { charsets: ['gsm7/0'] }), []);
  assert.equal(submits('ça', { charsets: ['gsm7/0', 'latin1/3'] })[0]?.dataCoding, 3);
});

test('the reference: the same on every retry, other for other messages, and spread over 16 bits', () => {
  const text = 'a'.repeat(400);
  assert.deepEqual(submits(text), submits(text));
  const seen = new Set(Array.from({ length: 1000 }, (_, index) => referenceOf(`message-${index}`)));
  assert.ok(seen.size > 950, `${seen.size} of 1000 differ`);
});

test('senders: +49… by its digits, names, short codes, national numbers; overrides per carrier', () => {
  const sender = (from: string, settings: Partial<SmppSettings> = {}) => {
    const [fields] = submits('x', settings, { from });
    return [fields?.sourceTon, fields?.sourceNpi, fields?.source];
  };
  assert.deepEqual(sender('+4915112345678'), [1, 1, '4915112345678']);
  assert.deepEqual(sender('ACME 1'), [5, 0, 'ACME 1']);
  assert.deepEqual(sender('80123'), [3, 0, '80123']);
  assert.deepEqual(sender('07700900123'), [2, 1, '07700900123']);
  assert.deepEqual(sender('80123', { ton_npi: { short_code: { ton: 6, npi: 0 } } }), [6, 0, '80123']);
  assert.deepEqual(sender('ACME', { ton_npi: { alphanumeric: { ton: 5, npi: 1 } } }), [5, 1, 'ACME']);
  assert.deepEqual(sender('A@\u0416'), [5, 0, 'A@?'], 'an address is ASCII');
  const [to] = submits('x', { ton_npi: { destination: { ton: 0, npi: 1 } } });
  assert.deepEqual([to?.destinationTon, to?.destinationNpi, to?.destination], [0, 1, '447700900123']);
});

test('receipts: which parts ask for one, and how many settle the text', () => {
  const asked = (receipts: SmppSettings['receipts']) =>
    submits('a'.repeat(400), { receipts }).map(({ registeredDelivery }) => registeredDelivery);
  assert.deepEqual(asked('all'), [1, 1, 1]);
  assert.deepEqual(asked('first'), [1, 0, 0]);
  assert.deepEqual(asked('last'), [0, 0, 1]);
  assert.deepEqual(asked('one'), [1, 1, 1], 'the carrier chooses the part whose id it names');
  assert.deepEqual(asked('none'), [0, 0, 0]);
  assert.ok(asksReceipt('first', 1, 1) && asksReceipt('last', 1, 1), 'a short text is first and last');
  const awaited = (['all', 'first', 'last', 'one', 'none'] as const).map((receipts) => receiptsAwaited(receipts, 3));
  assert.deepEqual(awaited, [3, 1, 1, 1, 0]);
});

test("the carrier's own TLVs and service type come with every part", () => {
  const tlvs = [
    { tag: 0x1400, value: '1001234567890' },
    { tag: 0x0204, value: 'hex:00ff' },
    { tag: tlvTags.sarTotal, value: 'hex:09' },
  ];
  const all = submits('a'.repeat(400), { tlvs, service_type: 'OTP', long_messages: 'sar' });
  for (const fields of all) {
    assert.equal(fields.serviceType, 'OTP');
    assert.equal(findTlv(fields.tlvs, 0x1400)?.toString(), '1001234567890');
    assert.equal(findTlv(fields.tlvs, 0x0204)?.toString('hex'), '00ff');
    assert.equal(fields.tlvs.filter(({ tag }) => tag === tlvTags.sarTotal).length, 1, 'ours stays the only one');
  }
  assert.match(tlvsProblem(tlvs) ?? '', /must not have the tag 0x020e/);
  assert.match(tlvsProblem([{ tag: 1, value: 'hex:0' }]) ?? '', /pairs of hexadecimal digits/);
  assert.equal(tlvsProblem(tlvs.slice(0, 2)), undefined);
});

test('a template id goes where a TLV says so; a text without one has no such TLV', () => {
  const tlvs = [
    { tag: 0x1400, value: '1001' },
    { tag: 0x1401, value: 'id {{template_id}}' },
  ];
  const tlvOf = (templateId: string | undefined, tag: number) => {
    const [fields] = submits('a', { tlvs }, templateId === undefined ? {} : { templateId });
    return findTlv(fields?.tlvs ?? [], tag)?.toString();
  };
  assert.deepEqual([tlvOf('1107', 0x1400), tlvOf('1107', 0x1401)], ['1001', 'id 1107']);
  assert.equal(tlvOf('hex:00', 0x1401), 'id hex:00');
  assert.equal(tlvOf('$&', 0x1401), 'id $&');
  assert.deepEqual([tlvOf(undefined, 0x1400), tlvOf(undefined, 0x1401)], ['1001', undefined]);
});

test('a text that was half sent keeps its form, whatever the settings say by then', () => {
  const text = 'A sentence of a long text. '.repeat(12);
  const before: Partial<SmppSettings>[] = [
    {},
    { charsets: ['latin1/3'] },
    { charsets: ['ucs2/8'], long_messages: 'sar' },
    { long_messages: 'udh8' },
    { charsets: ['ascii/1'], long_messages: 'payload' },
  ];
  for (const settings of before) {
    const { form, submits: parts } = write(text, settings, {});
    for (const now of before) {
      assert.deepEqual(write(text, now, { form }), { form, submits: parts });
    }
  }
  assert.deepEqual(write(text, {}, { form: 'of another time' }), write(text, {}, {}));
});
