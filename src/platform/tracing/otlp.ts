import { ProtoWriter } from './proto-writer.ts';
import { attributeNames, type EndedSpan, spanKinds } from './span.ts';

/** The fields of opentelemetry/proto/trace/v1/trace.proto, which never change their numbers. */
const span = {
  ...{ traceId: 1, spanId: 2, parentId: 4, name: 5, kind: 6, start: 7, end: 8, attribute: 9, status: 15, flags: 16 },
};
const [errorStatus, sampledFlag, knowsRemote, remoteFlag] = [2, 1, 0x100, 0x200];

/** Most bytes of one span: the names and values of its attributes have bounds. */
export const longestSpan = 32 * 1024;

/** Appends a span, as a field of ScopeSpans. `aheadMs` is what wall-clock time is ahead of steady time. */
export function writeSpan(writer: ProtoWriter, ended: EndedSpan, aheadMs: number): void {
  const { ids, name, kind, startMs, endMs, attributes, failed } = ended;
  const whole = writer.beginLong(2);
  writer.hex(span.traceId, ids.traceId);
  writer.hex(span.spanId, ids.spanId);
  if (ids.parentId !== '') writer.hex(span.parentId, ids.parentId);
  writer.string(span.name, name);
  writer.tag(span.kind, 0);
  writer.varint(spanKinds[kind]);
  writer.nanoseconds(span.start, startMs + aheadMs);
  writer.nanoseconds(span.end, Math.max(startMs, endMs) + aheadMs);
  for (const name in attributes) {
    const value = attributes[name as keyof typeof attributes];
    if (value !== undefined) writeAttribute(writer, span.attribute, keys.get(name) ?? keyOf(name), value);
  }
  if (failed === true) {
    const status = writer.begin(span.status);
    writer.tag(3, 0);
    writer.varint(errorStatus);
    writer.end(status);
  }
  writer.fixed32(span.flags, sampledFlag | knowsRemote | (ids.isRemote === true ? remoteFlag : 0));
  writer.endLong(whole);
}

/** The names of attributes as they are written: the same in every span. */
const keys: ReadonlyMap<string, Uint8Array> = new Map(attributeNames.map((name) => [name, keyOf(name)]));

function keyOf(name: string): Uint8Array {
  const writer = new ProtoWriter(1024);
  writer.string(1, name);
  return writer.bytes.subarray(0, writer.at);
}

/** Numbers are whole and not negative. */
function writeAttribute(writer: ProtoWriter, field: number, key: Uint8Array, value: string | number): void {
  const pair = writer.begin(field);
  writer.copy(key);
  const any = writer.begin(2);
  if (typeof value === 'string') writer.string(1, value);
  else {
    writer.tag(3, 0);
    writer.varint(Math.max(0, Math.round(value)));
  }
  writer.end(any);
  writer.end(pair);
}

/** The bytes before the spans in each export request: which service made them. */
export interface OtlpHead {
  /** Returns the head of an ExportTraceServiceRequest that carries `spanBytes` bytes of spans. */
  before(spanBytes: number): Buffer;
}

export function createOtlpHead(
  resource: ReadonlyMap<string, string>,
  scope: { name: string; version: string },
): OtlpHead {
  const about = new ProtoWriter(128 * 1024);
  // ResourceSpans.resource
  const whole = about.beginLong(1);
  for (const [name, value] of resource) writeAttribute(about, 1, keyOf(name), value);
  about.endLong(whole);
  const from = new ProtoWriter(8 * 1024);
  // ScopeSpans.scope
  const named = from.begin(1);
  from.string(1, scope.name);
  from.string(2, scope.version);
  from.end(named);
  const aboutBytes = about.bytes.subarray(0, about.at);
  const fromBytes = from.bytes.subarray(0, from.at);

  return {
    before(spanBytes) {
      const scopeLength = fromBytes.length + spanBytes;
      const scopeHead = new ProtoWriter(16);
      scopeHead.tag(2, 2);
      scopeHead.varint(scopeLength);
      const resourceHead = new ProtoWriter(16);
      resourceHead.tag(1, 2);
      resourceHead.varint(aboutBytes.length + scopeHead.at + scopeLength);
      return Buffer.concat([
        resourceHead.bytes.subarray(0, resourceHead.at),
        aboutBytes,
        scopeHead.bytes.subarray(0, scopeHead.at),
        fromBytes,
      ]);
    },
  };
}
