import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { inShort } from '../../test/support/effort.ts';
import type { LimitDecision } from '../http/admission.ts';
import { windowKinds } from './node-windows.ts';
import {
  countDecisions,
  createFrameReader,
  longestFrame,
  readDecision,
  readQuestions,
  type WindowQuestion,
  writeDecisions,
  writeQuestions,
} from './window-frames.ts';

const count = fc.integer({ min: 1, max: 1_000_000 });
const plain = { noNullPrototype: true };
const limits = fc.record({ perMinute: count, burst: count }, plain);
const asked: fc.Arbitrary<WindowQuestion> = fc.record(
  {
    kind: fc.constantFrom(...windowKinds),
    key: fc.string({ maxLength: 255, unit: 'grapheme-ascii' }),
    limits,
    informedAtMs: fc.option(fc.oneof(fc.double({ noNaN: true }), fc.constant(Number.NEGATIVE_INFINITY)), {
      nil: undefined,
    }),
  },
  plain,
);
const question = fc.oneof(
  asked,
  asked.chain((one) =>
    fc.double({ noNaN: true }).map((givesBackMs) => ({ ...one, informedAtMs: undefined, givesBackMs })),
  ),
);
const wait = fc.integer({ min: 0, max: 200_000 });
const decision: fc.Arbitrary<LimitDecision> = fc.record(
  {
    admitted: fc.boolean(),
    limits,
    remaining: fc.integer({ min: 0, max: 1_000_000 }),
    resetMs: wait,
    nextFreeMs: wait,
    retryAfterMs: wait,
    refusedBy: fc.constantFrom('minute', 'burst', undefined),
    chargedAtMs: fc.option(fc.double({ noNaN: true }), { nil: undefined }),
  },
  plain,
);

/** The payloads of a stream of bytes that arrives in pieces of these sizes. */
function inPieces(bytes: Buffer, sizes: number[]): Buffer[] {
  const payloads: Buffer[] = [];
  const read = createFrameReader((payload) => payloads.push(Buffer.from(payload)));
  let at = 0;
  for (let turn = 0; at < bytes.length; turn++) {
    const size = sizes[turn % sizes.length] ?? 1;
    read(bytes.subarray(at, at + size));
    at += size;
  }
  return payloads;
}

test('what was asked and decided arrives, however the bytes are cut', () => {
  fc.assert(
    fc.property(
      fc.array(fc.array(question, { minLength: 1, maxLength: 20 }), { minLength: 1, maxLength: 5 }),
      fc.array(fc.array(decision, { minLength: 1, maxLength: 20 }), { minLength: 1, maxLength: 5 }),
      fc.array(fc.integer({ min: 1, max: 700 }), { minLength: 1, maxLength: 10 }),
      (asked, decided, sizes) => {
        const questions = inPieces(Buffer.concat(asked.map(writeQuestions)), sizes);
        assert.deepEqual(questions.map(readQuestions), asked);
        const payloads = inPieces(Buffer.concat(decided.map(writeDecisions)), sizes);
        const read = payloads.map((payload, frame) =>
          Array.from({ length: countDecisions(payload) }, (_, place) =>
            readDecision(payload, place, decided[frame]?.[place]?.limits ?? { perMinute: 1, burst: 1 }),
          ),
        );
        assert.deepEqual(read, decided);
      },
    ),
    { numRuns: inShort(100, 1000) },
  );
});

test('bytes that are no frame of ours are refused, not kept', () => {
  const tooLong = Buffer.alloc(4);
  tooLong.writeUInt32LE(longestFrame + 1);
  assert.throws(() => inPieces(tooLong, [4]), /longer than any/);
  const frame = writeQuestions([
    { kind: 'visitors', key: '10.0.0.1', limits: { perMinute: 1, burst: 1 }, informedAtMs: 0 },
  ]);
  const payload = frame.subarray(4);
  for (let length = 1; length < payload.length; length++) {
    assert.throws(() => readQuestions(payload.subarray(0, length)), `cut after ${length} bytes`);
  }
  const unknownKind = Buffer.from(payload);
  unknownKind[0] = 77;
  assert.throws(() => readQuestions(unknownKind), /cannot be read/);
});
