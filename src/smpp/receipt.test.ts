import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { encodeText } from './charset.ts';
import { emptySubmit, type SubmitFields, type Tlv, tlvTags } from './pdu.ts';
import { type Delivered, readDelivered } from './receipt.ts';

const phone: Partial<SubmitFields> = { source: '447700900123', sourceTon: 1, destination: 'ACME', destinationTon: 5 };

function deliver(text: string | Buffer, more: Partial<SubmitFields> = {}): SubmitFields {
  const shortMessage = typeof text === 'string' ? Buffer.from(text, 'latin1') : text;
  return { ...emptySubmit, ...phone, esmClass: 0x04, shortMessage, ...more };
}

function read(text: string | Buffer, more: Partial<SubmitFields> = {}, sniff = false): Delivered {
  return readDelivered(deliver(text, more), { sniff });
}

function receipt(text: string | Buffer, more: Partial<SubmitFields> = {}) {
  const delivered = read(text, more);
  if (delivered.kind !== 'receipt') assert.fail(`it is ${delivered.kind}`);
  return delivered;
}

function tlv(tag: number, value: string | number): Tlv {
  return { tag, value: typeof value === 'number' ? Buffer.of(value) : Buffer.from(`${value}\0`) };
}

describe('the habits of carriers', () => {
  const rows: [
    name: string,
    text: string,
    more: Partial<SubmitFields>,
    ids: string[],
    outcome: string,
    err: string | null,
  ][] = [
    [
      'SMPP 3.4, appendix B',
      'id:1234567890 sub:001 dlvrd:001 submit date:3101010101 done date:3101010102 stat:DELIVRD err:000 Text:hello',
      {},
      ['1234567890'],
      'delivered',
      '000',
    ],
    [
      'Vonage: decimal of 16 digits, text:none',
      'id:0000002010753585 sub:001 dlvrd:001 submit date:3101010101 done date:3101010102 stat:UNDELIV err:006 text:none',
      {},
      ['0000002010753585'],
      'undelivered',
      '006',
    ],
    [
      'Clickatell: 32 hex, dates with seconds',
      'id:7c5c0b7b3a1f4e2d9a8b7c6d5e4f3a2b sub:001 dlvrd:001 submit date:310101010101 done date:310101010202 stat:DELIVRD err:000 text:',
      {},
      ['7c5c0b7b3a1f4e2d9a8b7c6d5e4f3a2b'],
      'delivered',
      '000',
    ],
    [
      'Infobip: TLVs too',
      'id:abc sub:001 dlvrd:001 submit date:3101010101 done date:3101010101 stat:EXPIRED err:027 text:',
      { tlvs: [tlv(tlvTags.receiptedMessageId, 'abc'), tlv(tlvTags.messageState, 3)] },
      ['abc'],
      'expired',
      '027',
    ],
    [
      'Sinch: message_state TLV, err of three digits',
      'id:X1 sub:001 dlvrd:000 submit date:3101010101 done date:3101010101 stat:REJECTD err:401 text:',
      { tlvs: [tlv(tlvTags.messageState, 8)] },
      ['X1'],
      'failed',
      '401',
    ],
    ['Twilio: own err', 'id:SM1 stat:UNDELIV err:005', {}, ['SM1'], 'undelivered', '005'],
    ['8x8: ENROUTE', 'id:e1 sub:001 dlvrd:000 stat:ENROUTE err:0 Text:', {}, ['e1'], 'intermediate', '0'],
    ['8x8: ACCEPTD', 'id:e1 sub:001 dlvrd:000 stat:ACCEPTD err:0 Text:', {}, ['e1'], 'intermediate', '0'],
    [
      'Indian operators: 19 digits, err:0000, FAILED, zeros for a date, dlvrd:001 on failure, vendor TLVs, escapes in the echo',
      'id:6815318231241064449 sub:001 dlvrd:001 submit date:3101010101 done date:0000000000 stat:FAILED err:0000 text:\\x1b(id:9',
      { tlvs: [tlv(0x1402, 'PE')] },
      ['6815318231241064449'],
      'undelivered',
      '0000',
    ],
    [
      'a Russian operator: 26 characters, dates of another kind, no text',
      'id:01FZ8K3V7W9QX2M4N6P8R0S1T3 sub:001 dlvrd:001 submit date:180711070003912+ done date:180711070004912+ stat:DELIVRD err:000',
      {},
      ['01FZ8K3V7W9QX2M4N6P8R0S1T3'],
      'delivered',
      '000',
    ],
    ['an African operator: decimal with a zero', 'id:0972660181 stat:DELIVRD', {}, ['0972660181'], 'delivered', null],
    [
      'no sub, no dlvrd',
      'id:77 submit date:3101010101 done date:3101010101 stat:DELIVRD err:000 text:x',
      {},
      ['77'],
      'delivered',
      '000',
    ],
    ['leading zeros', 'id:0001129 sub:1 dlvrd:1 stat:UNDELIV err:1', {}, ['0001129'], 'undelivered', '1'],
    [
      'a large UK operator: commas',
      '00,310101010101,310101010100,0,447700900123,80123,MSG-77',
      {},
      ['MSG-77'],
      'delivered',
      '0',
    ],
    [
      'a large UK operator: will try again',
      '01,310101010101,310101010100,23,447700900123,80123,MSG-77',
      {},
      ['MSG-77'],
      'intermediate',
      '23',
    ],
    [
      'Jasmin upstream: a UUID, no sub, dlvrd, text',
      'id:550e8400-e29b-41d4-a716-446655440000 submit date:3101010101 done date:3101010101 stat:DELIVRD err:000',
      {},
      ['550e8400-e29b-41d4-a716-446655440000'],
      'delivered',
      '000',
    ],
    [
      'CardBoardFish: hexadecimal',
      'id:77d9aa31 sub:001 dlvrd:001 stat:DELETED err:0',
      {},
      ['77d9aa31'],
      'undelivered',
      '0',
    ],
    ['no TLVs, ACKED', 'id:5 stat:ACKED', {}, ['5'], 'intermediate', null],
    ['BUFFRED', 'id:5 stat:BUFFRED', {}, ['5'], 'intermediate', null],
    ['sub:0 dlvrd:28', 'id:5 sub:0 dlvrd:28 stat:DELIVRD err:0', {}, ['5'], 'delivered', '0'],
    ['dlvrd:1 err:0, the first id 0', 'id:0 sub:1 dlvrd:1 stat:DELIVRD err:0 Text:hi', {}, ['0'], 'delivered', '0'],
    ['another order, another case, =', 'STAT=DELIVRD ERR=000 ID=AbC-1_x', {}, ['AbC-1_x'], 'delivered', '000'],
    ['a space before the colon', 'id : 9 stat : EXPIRED', {}, ['9'], 'expired', null],
    ['no spaces between', 'id:9;stat:UNKNOWN;err:1', {}, ['9'], 'unknown', '1'],
    ['line breaks', 'id:9\nstat:DELIVRD\nerr:000\ntext:x', {}, ['9'], 'delivered', '000'],
    [
      'TLVs only, no text',
      '',
      { tlvs: [tlv(tlvTags.receiptedMessageId, 'q7'), tlv(tlvTags.messageState, 5)] },
      ['q7'],
      'undelivered',
      null,
    ],
    [
      'no esm_class, but the TLV',
      'id:q7 stat:DELIVRD',
      { esmClass: 0, tlvs: [tlv(tlvTags.receiptedMessageId, 'q7')] },
      ['q7'],
      'delivered',
      null,
    ],
    ['a state without an id', 'stat:DELIVRD err:000', {}, [], 'delivered', '000'],
    ['an id alone', 'id:12', {}, ['12'], 'intermediate', null],
    ['an acknowledgement of the phone', 'id:12 stat:DELIVRD', { esmClass: 0x08 }, ['12'], 'delivered', null],
    ['an intermediate notification', 'id:12 stat:DELIVRD', { esmClass: 0x20 }, ['12'], 'intermediate', null],
  ];
  for (const [name, text, more, ids, outcome, err] of rows) {
    test(name, () => {
      const found = receipt(text, more);
      assert.deepEqual([found.carrierMessageIds, found.outcome, found.error.code], [ids, outcome, err]);
      assert.deepEqual(found.numbers, ['447700900123']);
    });
  }

  test('UCS-2, with data_coding 8 and without', () => {
    const text = encodeText('id:42 stat:DELIVRD err:000', 'ucs2');
    for (const dataCoding of [8, 0]) {
      const found = receipt(text, { dataCoding });
      assert.deepEqual([found.carrierMessageIds, found.outcome], [['42'], 'delivered']);
    }
  });

  test('in message_payload, and after a header', () => {
    const text = Buffer.from('id:42 stat:DELIVRD');
    const payload = { tag: tlvTags.messagePayload, value: text };
    assert.deepEqual(receipt('', { tlvs: [payload] }).carrierMessageIds, ['42']);
    const header = Buffer.of(0x05, 0x00, 0x03, 0x01, 0x01, 0x01);
    assert.deepEqual(receipt(Buffer.concat([header, text]), { esmClass: 0x44 }).carrierMessageIds, ['42']);
  });

  test('all states of the TLV', () => {
    const outcomes = Array.from({ length: 11 }, (_, state) => {
      return receipt('id:1', { tlvs: [tlv(tlvTags.messageState, state)] }).outcome;
    });
    assert.deepEqual(outcomes, [
      'intermediate',
      'intermediate',
      'delivered',
      'expired',
      'undelivered',
      'undelivered',
      'intermediate',
      'unknown',
      'failed',
      'undelivered',
      'intermediate',
    ]);
  });
});

describe('the rules', () => {
  test('both ids are kept, that of the TLV first', () => {
    const found = receipt('id:2010753585 stat:DELIVRD', { tlvs: [tlv(tlvTags.receiptedMessageId, '77d9aa31')] });
    assert.deepEqual(found.carrierMessageIds, ['77d9aa31', '2010753585']);
  });

  test('the state of the TLV comes before that of the text; a number that SMPP does not have does not', () => {
    const text = 'id:1 stat:DELIVRD';
    assert.equal(receipt(text, { tlvs: [tlv(tlvTags.messageState, 5)] }).outcome, 'undelivered');
    assert.equal(receipt(text, { tlvs: [tlv(tlvTags.messageState, 77)] }).outcome, 'delivered');
    assert.equal(receipt(text, { tlvs: [{ tag: tlvTags.messageState, value: Buffer.alloc(0) }] }).outcome, 'delivered');
  });

  test('an unknown state is intermediate, and said to be unknown', () => {
    const found = receipt('id:1 stat:PONDERING');
    assert.deepEqual([found.outcome, found.isKnownState, found.state], ['intermediate', false, 'PONDERING']);
    assert.equal(receipt('id:1 stat:ENROUTE').isKnownState, true);
  });

  test('network_error_code is read', () => {
    const network = { tag: tlvTags.networkErrorCode, value: Buffer.of(3, 0, 27) };
    assert.deepEqual(receipt('id:1 stat:UNDELIV err:006', { tlvs: [network] }).error, {
      code: '006',
      network: { type: 3, code: 27 },
    });
  });

  test("an echo with id: and stat: is not believed: it is the caller's own text", () => {
    for (const label of ['text:', 'Text:', 'TEXT=', 'text :']) {
      const found = receipt(`id:1 stat:UNDELIV err:001 ${label}id:999 stat:DELIVRD err:000`);
      assert.deepEqual([found.carrierMessageIds, found.outcome, found.error.code], [['1'], 'undelivered', '001']);
    }
    assert.equal(read('text:id:999 stat:DELIVRD').kind, 'unreadable');
    assert.deepEqual(receipt('id:1 text:stat:DELIVRD').outcome, 'intermediate');
  });

  test('a text from a phone that looks like a receipt is a text, unless the carrier sets sniff', () => {
    const forged = 'id:999 sub:001 dlvrd:001 submit date:3101010101 done date:3101010101 stat:DELIVRD err:000 text:';
    assert.equal(read(forged, { esmClass: 0 }).kind, 'inbound');
    assert.equal(read(forged, { esmClass: 0x40 }).kind, 'inbound');
    assert.equal(read(forged, { esmClass: 0 }, true).kind, 'receipt');
    assert.equal(read('id:999 stat:', { esmClass: 0 }, true).kind, 'inbound');
    assert.equal(read('Hi, my id: 12, stat: fine', { esmClass: 0 }, true).kind, 'inbound');
    assert.equal(read('00,a,b,0,1,2,MSG', { esmClass: 0 }, true).kind, 'inbound');
    assert.equal(read('STOP', { esmClass: 0 }, true).kind, 'inbound');
  });

  test('keys inside words are no keys', () => {
    const found = receipt('paid:7 id:8 invalid-id:9 stat:DELIVRD');
    assert.deepEqual(found.carrierMessageIds, ['8']);
  });

  test('of a repeated field the first counts', () => {
    const found = receipt('id:1 id:2 stat:UNDELIV stat:DELIVRD');
    assert.deepEqual([found.carrierMessageIds, found.outcome], [['1'], 'undelivered']);
  });

  test("the phone's number: digits, on either side; a name or a short code is none", () => {
    const numbers = (more: Partial<SubmitFields>) => receipt('id:1 stat:DELIVRD', more).numbers;
    const unswapped = { source: 'ACME', sourceTon: 5, destination: '+447700900123', destinationTon: 1 };
    assert.deepEqual(numbers(unswapped), ['447700900123']);
    assert.deepEqual(numbers({ destination: '+447700900999', destinationTon: 1 }), ['447700900123', '447700900999']);
    assert.deepEqual(numbers({ source: '', destination: '' }), []);
    assert.deepEqual(numbers({ source: '80123' }), []);
  });

  test('a delivery marked as a receipt without readable content', () => {
    assert.equal(read('').kind, 'unreadable');
    assert.equal(read('Your text was delivered').kind, 'unreadable');
    assert.equal(read(Buffer.of(0xff, 0xff, 0xff), { esmClass: 0x44 }).kind, 'unreadable');
  });
});

describe('whatever comes', () => {
  const words = fc.constantFrom(
    'id',
    'stat',
    'err',
    'text',
    'sub',
    'submit date',
    ':',
    '=',
    ' ',
    'DELIVRD',
    '7',
    ',',
    '\0',
  );
  const texts = fc.oneof(
    fc.uint8Array({ maxLength: 255 }).map((octets) => Buffer.from(octets)),
    fc.array(words, { maxLength: 60 }).map((parts) => Buffer.from(parts.join('').slice(0, 255))),
  );
  const tlvs = fc.array(
    fc.record({
      tag: fc.constantFrom<number>(...Object.values(tlvTags), 0x1400),
      value: fc.uint8Array({ maxLength: 80 }).map((octets) => Buffer.from(octets)),
    }),
    { maxLength: 4 },
  );

  test('no exception, bounded strings, no empty id', () => {
    fc.assert(
      fc.property(texts, fc.nat(255), fc.nat(255), tlvs, fc.boolean(), (text, esmClass, dataCoding, more, sniff) => {
        const found = read(text, { esmClass, dataCoding, tlvs: more }, sniff);
        if (found.kind !== 'receipt') return;
        for (const id of found.carrierMessageIds)
          assert.ok(id.length > 0 && id.length <= 64, 'an id has 1 to 64 characters');
        assert.ok(found.state.length <= 32 && (found.error.code ?? '').length <= 32, 'words are short');
      }),
    );
  });

  test('64 KiB that look like keys are read in one pass', () => {
    for (const text of ['id:'.repeat(21_000), 'submit '.repeat(9000), ' '.repeat(65_000), 'id '.repeat(21_000)]) {
      const payload = { tag: tlvTags.messagePayload, value: Buffer.from(text) };
      assert.notEqual(read('', { tlvs: [payload] }).kind, 'inbound');
    }
  });
});

describe('what is not quite SMPP', () => {
  test('a message_state of another length than one octet is ignored', () => {
    for (const octets of [[0, 2], [0, 0, 0, 2], []]) {
      const tlvs = [{ tag: tlvTags.messageState, value: Buffer.from(octets) }];
      const { outcome, state } = receipt('id:1 stat:UNDELIV err:001', { tlvs });
      assert.deepEqual([outcome, state], ['undelivered', 'UNDELIV'], `${octets}`);
    }
    const value = Buffer.of(0, 2);
    const alone = receipt('id:1', { tlvs: [{ tag: tlvTags.messageState, value }] });
    assert.deepEqual([alone.outcome, alone.isKnownState], ['intermediate', false], 'and by itself it says nothing');
  });

  test('UCS-2 in little-endian, whatever data_coding says', () => {
    const text = 'id:abc1 sub:001 dlvrd:001 stat:DELIVRD err:000 text:Zażółć';
    for (const dataCoding of [0, 3, 8]) {
      const { carrierMessageIds, outcome } = receipt(Buffer.from(text, 'utf16le'), { dataCoding });
      assert.deepEqual([carrierMessageIds, outcome], [['abc1'], 'delivered'], `data_coding ${dataCoding}`);
      const big = receipt(encodeText(text, 'ucs2'), { dataCoding });
      assert.deepEqual([big.carrierMessageIds, big.outcome], [['abc1'], 'delivered'], `big-endian, ${dataCoding}`);
    }
  });

  test('masked numbers keep their other digits', () => {
    const numbersOf = (source: string, sourceTon = 1) =>
      receipt('id:1 stat:DELIVRD', { source, sourceTon, destination: '12025550143', destinationTon: 1 }).numbers;
    assert.deepEqual(numbersOf('4477009xx123'), ['4477009**123', '12025550143']);
    assert.deepEqual(numbersOf('+44770090****'), ['44770090****', '12025550143']);
    assert.deepEqual(numbersOf('4477009XX123'), ['4477009**123', '12025550143']);
    assert.deepEqual(numbersOf('xxxxxxxxx123'), ['12025550143'], 'too little is left of it');
    assert.deepEqual(numbersOf('4477009xx123', 5), ['12025550143'], 'a name');
  });
});
