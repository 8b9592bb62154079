import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { inShort } from '../../test/support/effort.ts';
import { encodePdu } from './encode.ts';
import { createFrameReader, longestPayloadPdu, longestPdu } from './frames.ts';
import { commandIds, emptySubmit } from './pdu.ts';

const submit = (sequence: number, length: number) =>
  encodePdu({ command: 'submit_sm', status: 0, sequence, ...emptySubmit, shortMessage: Buffer.alloc(length, 'x') });

/** The first octets of a PDU. */
function start(length: number, commandId: number = commandIds.deliver_sm): Buffer {
  const head = Buffer.alloc(16);
  head.writeUInt32BE(length, 0);
  head.writeUInt32BE(commandId, 4);
  return head;
}

function readInPieces(stream: Buffer, sizes: number[]): { frames: Buffer[]; lost: string | undefined } {
  const reader = createFrameReader();
  const frames: Buffer[] = [];
  for (let at = 0, turn = 0; at < stream.length; turn++) {
    const size = sizes[turn % sizes.length] ?? 1;
    frames.push(...reader.read(Buffer.from(stream.subarray(at, at + size))));
    at += size;
  }
  return { frames, lost: reader.lost };
}

describe('frames', () => {
  const forty = Array.from({ length: 40 }, (_, place) => submit(place, place * 6));

  test('40 PDUs in one chunk and octet by octet are the same', () => {
    const stream = Buffer.concat(forty);
    assert.deepEqual(readInPieces(stream, [stream.length]), { frames: forty, lost: undefined });
    assert.deepEqual(readInPieces(stream, [1]), { frames: forty, lost: undefined });
  });

  test('any octets in any pieces give what they give at once', () => {
    const garbage = fc.uint8Array({ maxLength: 60 }).map((octets) => Buffer.from(octets));
    const pieces = fc.array(fc.integer({ min: 1, max: 700 }), { minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(fc.nat(39), garbage, pieces, (count, tail, sizes) => {
        const stream = Buffer.concat([...forty.slice(0, count), tail]);
        const whole = readInPieces(stream, [Math.max(1, stream.length)]);
        assert.deepEqual(readInPieces(stream, sizes), whole);
        assert.ok(whole.frames.length >= count, `${whole.frames.length} of ${count} frames`);
      }),
      { numRuns: inShort(250, 1000) },
    );
  });

  test('knows whether a PDU has begun', () => {
    const reader = createFrameReader();
    const frame = submit(1, 10);
    assert.equal(reader.isInside, false);
    reader.read(frame.subarray(0, 1));
    assert.equal(reader.isInside, true);
    assert.equal(reader.read(frame.subarray(1)).length, 1);
    assert.equal(reader.isInside, false);
  });

  test('a PDU with a payload may be long, another may not', () => {
    const long = start(60_000);
    const reader = createFrameReader();
    assert.deepEqual(reader.read(long), []);
    assert.equal(reader.read(Buffer.alloc(60_000 - 16))[0]?.length, 60_000);
    const bind = createFrameReader();
    bind.read(start(longestPdu + 1, commandIds.bind_transceiver_resp));
    assert.match(bind.lost ?? '', /16385 octets, more than the 16384/);
  });
});

describe('framing is lost', () => {
  const tls = 'the peer speaks TLS: the carrier needs its tls setting, or its port without TLS';
  const cases: [string, Buffer, string | RegExp][] = [
    ['length 0', start(0), /a PDU length of 0, fewer than the 16/],
    ['length 15', start(15), /a PDU length of 15/],
    ['length 2³²−1', start(0xffffffff), /0xffffffff where a PDU begins/],
    [
      'one octet over the limit',
      start(longestPayloadPdu + 1),
      /as a length that is 71681 octets, more than SMPP allows/,
    ],
    ['HTTP', Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n'), 'the peer speaks HTTP, not SMPP'],
    ['AMQP', Buffer.from('AMQP\0\0\x09\x01'), 'the peer speaks AMQP, not SMPP'],
    ['a TLS alert', Buffer.from([0x15, 3, 1, 0, 2, 2, 40]), tls],
    ['a TLS handshake', Buffer.from([0x16, 3, 3, 0, 40, 1, 0]), tls],
    ['SSH', Buffer.from('SSH-2.0-x\r\n'), /0x5353482d \("SSH-"\)/],
  ];
  for (const [name, octets, reason] of cases) {
    test(`${name} is named, after the PDUs before it, whatever the pieces`, () => {
      const before = submit(1, 20);
      for (const size of [1, 3, 1000]) {
        const { frames, lost } = readInPieces(Buffer.concat([before, octets]), [size]);
        assert.deepEqual(frames, [before]);
        if (typeof reason === 'string') assert.equal(lost, reason);
        else assert.match(lost ?? '', reason);
      }
    });
  }

  test('nothing is read after it', () => {
    const reader = createFrameReader();
    reader.read(start(3));
    assert.deepEqual(reader.read(submit(1, 4)), []);
  });
});
