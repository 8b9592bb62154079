import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseTraceParent } from '@opentelemetry/core';
import fc from 'fast-check';
import { newSpanId, newTraceId, readKept, readTraceparent, toKept, toTraceparent } from './trace-context.ts';

const [traceId, spanId] = ['4bf92f3577b34da6a3ce929d0e0e4736', '00f067aa0ba902b7'];

test('a traceparent is read as the W3C writes it', () => {
  assert.deepEqual(readTraceparent(`00-${traceId}-${spanId}-01`), { traceId, spanId, sampled: true });
  assert.deepEqual(readTraceparent(`00-${traceId}-${spanId}-02`), { traceId, spanId, sampled: false });
  // A later version may have more.
  assert.deepEqual(readTraceparent(`cc-${traceId}-${spanId}-09-what`), { traceId, spanId, sampled: true });
});

test('anything else is as if it was not sent', () => {
  const bad = [
    '',
    `00-${traceId}-${spanId}`,
    `00-${traceId}-${spanId}-01-more`,
    `00-${traceId}-${spanId}-01-`,
    `ff-${traceId}-${spanId}-01`,
    `00-${'0'.repeat(32)}-${spanId}-01`,
    `00-${traceId}-${'0'.repeat(16)}-01`,
    `00-${traceId.toUpperCase()}-${spanId}-01`,
    `00-${traceId}-${spanId}-1`,
    `00-${traceId}-${spanId}-01, 00-${traceId}-${spanId}-01`,
    `cc-${traceId}-${spanId}-01-${'x'.repeat(10_000)}`,
    `00-${traceId}-${spanId}-01\n`,
    '+447700900123',
  ];
  for (const header of bad) assert.equal(readTraceparent(header), undefined, header);
  assert.equal(readTraceparent([`00-${traceId}-${spanId}-01`]), undefined);
});

test("OpenTelemetry's own parser reads every header in the same way", () => {
  const digits = (length: number) =>
    fc
      .array(fc.constantFrom(...'0123456789abcdefAFg'), { minLength: length - 1, maxLength: length + 1 })
      .map((all) => all.join(''));
  const nearly = fc
    .tuple(digits(2), digits(32), digits(16), digits(2), fc.constantFrom('', '', '-', '-x'))
    .map(([version, trace, span, flags, more]) => `${version}-${trace}-${span}-${flags}${more}`);
  const right = fc
    .tuple(fc.constantFrom('00', '01', 'fe', 'ff'), fc.constantFrom('00', '01', '03', 'ff'), fc.constantFrom('', '-a'))
    .map(([version, flags, more]) => `${version}-${newTraceId()}-${newSpanId()}-${flags}${more}`);
  fc.assert(
    fc.property(fc.oneof(nearly, right, fc.string({ maxLength: 60 })), (header) => {
      const theirs = parseTraceParent(header);
      const ours = readTraceparent(header);
      // It also accepts white space around the header.
      if (header !== header.trim()) return;
      assert.deepEqual(
        ours && { traceId: ours.traceId, spanId: ours.spanId, sampled: ours.sampled },
        theirs === null
          ? undefined
          : { traceId: theirs.traceId, spanId: theirs.spanId, sampled: (theirs.traceFlags & 1) === 1 },
      );
    }),
    { numRuns: 500 },
  );
});

test('what a row keeps and what goes out name the same span', () => {
  const place = { traceId: newTraceId(), spanId: newSpanId() };
  assert.deepEqual(readKept(toKept(place)), place);
  assert.deepEqual(readTraceparent(toTraceparent(place)), { ...place, sampled: true });
  for (const kept of ['', 'x', `${traceId}-${spanId}0`, `${traceId}`]) assert.equal(readKept(kept), undefined);
});
