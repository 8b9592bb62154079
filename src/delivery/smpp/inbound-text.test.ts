import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { encodeText } from '../../smpp/charset.ts';
import { emptySubmit, type SubmitFields, tlvTags } from '../../smpp/pdu.ts';
import { readInboundText } from './inbound-text.ts';

const settings = { charsets: ['gsm7/0', 'ucs2/8'] as const };

function read(changes: Partial<SubmitFields>, charsets: Parameters<typeof readInboundText>[1] = settings) {
  return readInboundText(
    { ...emptySubmit, source: '447700900123', sourceTon: 1, destination: '80123', destinationTon: 3, ...changes },
    charsets,
  );
}

describe('the text', () => {
  test('is decoded as data_coding says', () => {
    const cases: [number, Buffer, string][] = [
      [0, encodeText('Grüße @ €5', 'gsm7'), 'Grüße @ €5'],
      [1, Buffer.from('Hello'), 'Hello'],
      [3, Buffer.from('Grüße', 'latin1'), 'Grüße'],
      [6, Buffer.from([0xbf, 0xe0, 0xd8, 0xd2, 0xd5, 0xe2]), 'Привет'],
      [8, encodeText('Žluť 😀', 'ucs2'), 'Žluť 😀'],
      [0x18, encodeText('Ž', 'ucs2'), 'Ž'],
      [0xf0, encodeText('@', 'gsm7'), '@'],
      [0xf4, Buffer.from('é', 'latin1'), 'é'],
    ];
    for (const [dataCoding, shortMessage, text] of cases)
      assert.equal(read({ dataCoding, shortMessage }).text, text, `data_coding ${dataCoding}`);
  });

  test('of data_coding 0 is in the charset that the carrier calls 0', () => {
    const shortMessage = Buffer.from('é', 'latin1');
    assert.equal(read({ shortMessage }, { charsets: ['latin1/0', 'ucs2/8'] }).text, 'é');
  });

  test('packed septets start behind the fill bits of the header', () => {
    const header = Buffer.from([5, 0, 3, 9, 2, 1]);
    const shortMessage = Buffer.concat([header, encodeText('Hello', 'gsm7packed', header.length)]);
    const { text, part } = read({ esmClass: 0x40, shortMessage }, { charsets: ['gsm7packed/0'] });
    assert.deepEqual([text, part?.reference], ['Hello', 9]);
  });

  test('message_payload replaces an empty short_message', () => {
    assert.equal(read({ tlvs: [{ tag: tlvTags.messagePayload, value: Buffer.from('long') }] }).text, 'long');
  });
});

describe('a part', () => {
  const withHeader = (...header: number[]) =>
    read({ esmClass: 0x40, shortMessage: Buffer.from([header.length, ...header, 0x41]) });

  test('is named by the header, whatever else is in it', () => {
    assert.deepEqual(withHeader(0, 3, 200, 3, 2).part, { reference: 200, width: 8, total: 3, part: 2 });
    assert.deepEqual(withHeader(8, 4, 1, 2, 3, 1).part, { reference: 258, width: 16, total: 3, part: 1 });
    assert.deepEqual(withHeader(5, 4, 1, 1, 2, 2, 0, 3, 7, 2, 2).part, { reference: 7, width: 8, total: 2, part: 2 });
    assert.equal(withHeader(5, 4, 1, 1, 2, 2, 0, 3, 7, 2, 2).text, 'A');
  });

  test('is named by the SAR TLVs', () => {
    const tlvs = [
      { tag: tlvTags.sarReference, value: Buffer.from([1, 0]) },
      { tag: tlvTags.sarTotal, value: Buffer.from([2]) },
      { tag: tlvTags.sarPart, value: Buffer.from([1]) },
    ];
    assert.deepEqual(read({ tlvs }).part, { reference: 256, width: 16, total: 2, part: 1 });
  });

  test('of one, of none, or beyond the total is a whole text', () => {
    for (const [total, part] of [
      [1, 1],
      [0, 0],
      [2, 3],
      [2, 0],
    ] as const)
      assert.equal(withHeader(0, 3, 1, total, part).part, null, `${part} of ${total}`);
  });

  test('a header that is longer than the text is text', () => {
    assert.equal(read({ esmClass: 0x40, shortMessage: Buffer.from([0x41, 0x42]) }).text, 'AB');
  });
});

describe('numbers', () => {
  test('have a plus if the carrier says that they are international', () => {
    assert.equal(read({}).from, '+447700900123');
    assert.equal(read({ source: '00447700900123' }).from, '+447700900123');
    assert.equal(read({ source: '+447700900123', sourceTon: 0 }).from, '+447700900123');
    assert.equal(read({ source: '07700900123', sourceTon: 2 }).from, '07700900123');
    assert.equal(read({ source: 'ACME', sourceTon: 5 }).from, 'ACME');
    assert.equal(read({}).to, '80123');
  });
});

test('whatever octets come, something is read', () => {
  const octets = fc.uint8Array({ maxLength: 160 }).map((array) => Buffer.from(array));
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 255 }), fc.integer({ min: 0, max: 255 }), octets, (esm, coding, given) => {
      const { part, text } = read({ esmClass: esm, dataCoding: coding, shortMessage: given });
      assert.equal(typeof text, 'string');
      if (part !== null) assert.ok(part.part >= 1 && part.part <= part.total, JSON.stringify(part));
    }),
  );
});
