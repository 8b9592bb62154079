import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Attributes, SpanStatusCode, TraceFlags } from '@opentelemetry/api';
import { ProtobufTraceSerializer } from '@opentelemetry/otlp-transformer';
import { resourceFromAttributes } from '@opentelemetry/resources';
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base';
import fc from 'fast-check';
import { anyCharacter } from '../../../test/support/any-character.ts';
import { decodeRequest } from '../../../test/support/otlp-decoder.ts';
import { createOtlpHead, writeSpan } from './otlp.ts';
import { ProtoWriter } from './proto-writer.ts';
import { attributeNames, type EndedSpan, type SpanAttributes, spanKinds } from './span.ts';

const resource = { 'service.name': 'heliograph', 'service.version': '1.2.3', team: 'Zürich 🚀' };
const aheadMs = 1_763_500_000_000;

function ours(spans: EndedSpan[]): Buffer {
  const writer = new ProtoWriter(2 ** 20);
  for (const span of spans) writeSpan(writer, span, aheadMs);
  const head = createOtlpHead(new Map(Object.entries(resource)), { name: 'heliograph', version: '1.2.3' });
  return Buffer.concat([head.before(writer.at), writer.bytes.subarray(0, writer.at)]);
}

/** By OpenTelemetry's own serializer. */
function theirs(spans: EndedSpan[]): Uint8Array {
  const readable = spans.map(({ ids, name, kind, startMs, endMs, attributes, failed }) => {
    const context = { traceId: ids.traceId, spanId: ids.spanId, traceFlags: TraceFlags.SAMPLED };
    const parent = { ...context, spanId: ids.parentId, isRemote: ids.isRemote === true };
    return {
      name,
      kind: spanKinds[kind] - 1,
      spanContext: () => context,
      ...(ids.parentId !== '' && { parentSpanContext: parent }),
      startTime: toHrTime(startMs),
      endTime: toHrTime(endMs),
      status: { code: failed === true ? SpanStatusCode.ERROR : SpanStatusCode.UNSET },
      attributes: attributes as Attributes,
      links: [],
      events: [],
      duration: [0, 0],
      ended: true,
      resource: resourceFromAttributes(resource),
      instrumentationScope: { name: 'heliograph', version: '1.2.3' },
      droppedAttributesCount: 0,
      droppedEventsCount: 0,
      droppedLinksCount: 0,
    } satisfies ReadableSpan;
  });
  return ProtobufTraceSerializer.serializeRequest(readable) ?? new Uint8Array();
}

function toHrTime(ms: number): [number, number] {
  const us = Math.round((ms + aheadMs) * 1000);
  return [Math.floor(us / 1e6), (us % 1e6) * 1000];
}

const hex = (length: number) =>
  fc
    .array(fc.integer({ min: 1, max: 255 }), { minLength: length / 2, maxLength: length / 2 })
    .map((bytes) => Buffer.from(bytes).toString('hex'));
const span = fc
  .record({
    traceId: hex(32),
    spanId: hex(16),
    parentId: fc.oneof(fc.constant(''), hex(16)),
    isRemote: fc.boolean(),
    name: fc.string({ unit: anyCharacter, maxLength: 80 }),
    kind: fc.constantFrom(...(Object.keys(spanKinds) as (keyof typeof spanKinds)[])),
    startMs: fc.double({ min: 0, max: 1e9, noNaN: true }),
    tookMs: fc.double({ min: 0, max: 1e6, noNaN: true }),
    failed: fc.boolean(),
    attributes: fc.dictionary(
      fc.constantFrom(...attributeNames),
      fc.oneof(fc.string({ unit: anyCharacter, maxLength: 200 }), fc.nat(2 ** 31 - 1)),
    ),
  })
  .map(({ traceId, spanId, parentId, isRemote, startMs, tookMs, attributes, ...rest }): EndedSpan => {
    const ids = { traceId, spanId, parentId, isRemote: isRemote && parentId !== '' };
    return { ...rest, ids, startMs, endMs: startMs + tookMs, attributes: attributes as SpanAttributes };
  });

test("a request says the same as one by OpenTelemetry's own serializer", () => {
  fc.assert(
    fc.property(fc.array(span, { minLength: 1, maxLength: 8 }), (spans) => {
      assert.deepEqual(decodeRequest(ours(spans)), decodeRequest(theirs(spans)));
    }),
    { numRuns: 200 },
  );
});

test('a value that is too long is cut, a clock that went back makes no negative time', () => {
  const ids = { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), parentId: '' };
  const attributes = Object.fromEntries(attributeNames.map((name) => [name, 'ü'.repeat(5000)]));
  const writer = new ProtoWriter(64 * 1024);
  writeSpan(
    writer,
    { ids, name: 'x'.repeat(5000), kind: 'internal', startMs: 5, endMs: 4, attributes, failed: false },
    aheadMs,
  );
  assert.ok(writer.at < 32 * 1024);
  const [read] = decodeRequest(
    ours([{ ids, name: 'n', kind: 'internal', startMs: 5, endMs: 4, attributes, failed: false }]),
  );
  assert.equal(read?.attributes['http.route'], 'ü'.repeat(256));
  assert.equal(read?.endNs, read?.startNs);
});
