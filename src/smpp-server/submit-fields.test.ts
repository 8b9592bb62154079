import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import fc from 'fast-check';
import { loadPhoneNumbers } from '../messages/numbers/phone-number.ts';
import { emptySubmit, type SubmitFields, tlvTags } from '../smpp/pdu.ts';
import { isRefusal, readSubmit, textOf } from './submit-fields.ts';

const nowMs = Date.UTC(2026, 0, 31, 12, 0, 0);
const right: SubmitFields = {
  ...emptySubmit,
  ...{ sourceTon: 5, source: 'ACME', destinationTon: 1, destinationNpi: 1, destination: '447700900123' },
  shortMessage: Buffer.from('hello'),
};
const read = (fields: Partial<SubmitFields>, highPriority = false) =>
  readSubmit({ ...right, ...fields }, { nowMs, environment: 'production', highPriority });

function take(fields: Partial<SubmitFields>, highPriority = false) {
  const found = read(fields, highPriority);
  assert.ok(!isRefusal(found), isRefusal(found) ? found.why : '');
  return found;
}

function statusFor(fields: Partial<SubmitFields>): number {
  const found = read(fields);
  return isRefusal(found) ? found.status : 0;
}

describe('a submit_sm', () => {
  before(loadPhoneNumbers);

  test('the destination is international: TON 0 or 1, with or without + or 00', () => {
    for (const destination of ['447700900123', '+447700900123', '00447700900123'])
      for (const destinationTon of [0, 1]) assert.equal(take({ destination, destinationTon }).to, '+447700900123');
    for (const destinationTon of [2, 3, 5]) assert.equal(statusFor({ destinationTon }), 0x0b);
    for (const destination of ['', 'ACME', '07700900123', '44', '4477009001234567', '44 7700900123'])
      assert.equal(statusFor({ destination }), 0x0b, destination);
  });

  test('the source is a name or a number; TON 1 makes it international', () => {
    assert.equal(take({}).from, 'ACME');
    assert.equal(take({ sourceTon: 1, source: '447700900000' }).from, '+447700900000');
    assert.equal(take({ sourceTon: 3, source: '80123' }).from, '80123');
    for (const source of ['', 'A name that is long', 'a@b', '12']) assert.equal(statusFor({ source }), 0x0a, source);
  });

  test('data_coding 0, 1, 3 and 8 are read, others and wrong octets refused', () => {
    assert.equal(textOf(take({ dataCoding: 0, shortMessage: Buffer.from([0x00, 0x11, 0x1b, 0x65]) })), '@_€');
    assert.equal(textOf(take({ dataCoding: 1, shortMessage: Buffer.from([0x02]) })), '$');
    assert.equal(textOf(take({ dataCoding: 3, shortMessage: Buffer.from('40e9', 'hex') })), '@é');
    assert.equal(textOf(take({ dataCoding: 8, shortMessage: Buffer.from('0416d83dde00', 'hex') })), 'Ж😀');
    for (const dataCoding of [2, 4, 5, 9, 0x10, 0xf0]) assert.equal(statusFor({ dataCoding }), 0x104);
    assert.equal(statusFor({ dataCoding: 0, shortMessage: Buffer.from([0xe9]) }), 0x104);
    assert.equal(statusFor({ dataCoding: 8, shortMessage: Buffer.from([0x04]) }), 0x01);
    assert.equal(statusFor({ shortMessage: Buffer.alloc(0) }), 0x01);
    assert.equal(statusFor({ shortMessage: Buffer.alloc(0), defaultMessageId: 3 }), 0x63);
  });

  test('parts are found in headers of both widths and in SAR; message_payload is a text', () => {
    const udh8 = Buffer.from('0500034a0201', 'hex');
    const udh16 = Buffer.from('060804004a0202', 'hex');
    const text = Buffer.from('hi');
    assert.deepEqual(take({ esmClass: 0x40, shortMessage: Buffer.concat([udh8, text]) }).part, {
      ...{ reference: 0x4a, width: 8, total: 2, part: 1 },
    });
    const found = take({ esmClass: 0x43, shortMessage: Buffer.concat([udh16, text]) });
    assert.deepEqual(found.part, { reference: 0x4a, width: 16, total: 2, part: 2 });
    assert.equal(textOf(found), 'hi');
    const sar = [
      { tag: tlvTags.sarReference, value: Buffer.from('0102', 'hex') },
      { tag: tlvTags.sarTotal, value: Buffer.of(3) },
      { tag: tlvTags.sarPart, value: Buffer.of(1) },
    ];
    assert.deepEqual(take({ tlvs: sar }).part, { reference: 258, width: 16, total: 3, part: 1 });
    const payload = [{ tag: tlvTags.messagePayload, value: Buffer.from('a long one') }];
    assert.equal(textOf(take({ shortMessage: Buffer.alloc(0), tlvs: payload })), 'a long one');
    assert.equal(statusFor({ tlvs: payload }), 0x01);
  });

  test('headers that change the meaning of a text, and other kinds of message, are refused', () => {
    const ports = Buffer.from('060504158a0000', 'hex');
    const turkish = Buffer.from('03240101', 'hex');
    for (const header of [ports, turkish, Buffer.from('ff', 'hex')])
      assert.equal(statusFor({ esmClass: 0x40, shortMessage: Buffer.concat([header, Buffer.from('x')]) }), 0x43);
    for (const esmClass of [0x04, 0x08, 0x20]) assert.equal(statusFor({ esmClass }), 0x43);
    assert.equal(statusFor({ esmClass: 0x40, shortMessage: Buffer.from('050003010d01ff', 'hex') }), 0x01);
    assert.equal(statusFor({ replaceIfPresent: 1 }), 0x13);
  });

  test('validity and schedule, within what a text may have', () => {
    assert.deepEqual([take({}).validitySeconds, take({}).sendAtMs], [86_400, null]);
    assert.equal(take({ validityPeriod: '000000001000000R' }).validitySeconds, 600);
    assert.equal(take({ validityPeriod: '000100000000000R' }).validitySeconds, 259_200, 'a month is cut to 72 hours');
    assert.equal(take({ validityPeriod: '000000000010000R' }).validitySeconds, 60);
    const scheduled = take({ scheduleDeliveryTime: '000001000000000R', validityPeriod: '000001010000000R' });
    assert.deepEqual([scheduled.sendAtMs, scheduled.validitySeconds], [nowMs + 86_400_000, 3600]);
    assert.equal(take({ scheduleDeliveryTime: '250101000000000+' }).sendAtMs, null, 'a past time sends at once');
    assert.equal(statusFor({ scheduleDeliveryTime: '000008000000000R' }), 0x61);
    assert.equal(statusFor({ scheduleDeliveryTime: 'soon' }), 0x61);
    assert.equal(statusFor({ validityPeriod: '250101000000000+' }), 0x62);
    assert.equal(statusFor({ validityPeriod: 'never' }), 0x62);
  });

  test('registered_delivery, priority and user_message_reference', () => {
    const wishes = [0x00, 0x01, 0x02, 0x03, 0x10, 0x11, 0x12].map(
      (registeredDelivery) => take({ registeredDelivery }).wish,
    );
    assert.deepEqual(wishes, ['', 'a', 'f', 's', 'E', 'A', 'F']);
    assert.deepEqual([take({ priority: 3 }).priority, take({ priority: 3 }, true).priority], ['normal', 'high']);
    const tlvs = [{ tag: tlvTags.userMessageReference, value: Buffer.from('0102', 'hex') }];
    assert.equal(take({ tlvs }).reference, '258');
  });

  test('no submit makes it throw', () => {
    const octet = fc.integer({ min: 0, max: 255 });
    const text = fc.string({ maxLength: 20 });
    const bytes = fc.uint8Array({ maxLength: 60 }).map((octets) => Buffer.from(octets));
    const tlv = fc.record({ tag: fc.constantFrom(...Object.values(tlvTags)), value: bytes });
    const any = fc.record({
      ...{
        destinationTon: octet,
        destination: text,
        sourceTon: octet,
        source: text,
        esmClass: octet,
        dataCoding: octet,
      },
      ...{ shortMessage: bytes, scheduleDeliveryTime: text, validityPeriod: text, registeredDelivery: octet },
      tlvs: fc.array(tlv, { maxLength: 4 }),
    });
    fc.assert(
      fc.property(any, (fields) => {
        const found = read(fields as Partial<SubmitFields>);
        if (!isRefusal(found)) assert.ok(textOf(found).length <= 2 * found.octets.length + 1);
      }),
    );
  });
});
