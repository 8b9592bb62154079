import { createRequire } from 'node:module';

/** A span as a collector reads it. */
export interface ReceivedSpan {
  traceId: string;
  spanId: string;
  parentId: string;
  /** Its parent is in another service. */
  isRemote: boolean;
  name: string;
  kind: number;
  startNs: bigint;
  endNs: bigint;
  attributes: Record<string, string | number>;
  failed: boolean;
  resource: Record<string, string | number>;
  scope: string;
}

interface Value {
  stringValue?: string;
  intValue?: number;
}
interface Pair {
  key: string;
  value: Value;
}
interface Span {
  traceId: Uint8Array;
  spanId: Uint8Array;
  parentSpanId: Uint8Array;
  name: string;
  kind: number;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: Pair[];
  status?: { code: number };
  flags: number;
}
interface Decoded {
  resourceSpans: {
    resource: { attributes: Pair[] };
    scopeSpans: { scope: { name: string }; spans: Span[] }[];
  }[];
}
interface Message {
  decode(bytes: Uint8Array): object;
  toObject(message: object, options: object): Decoded;
}

// The package has the protocol's generated code, and no entry for it.
const require = createRequire(import.meta.url);
const { opentelemetry } = require('@opentelemetry/otlp-transformer/build/src/generated/root.js') as {
  opentelemetry: { proto: { collector: { trace: { v1: { ExportTraceServiceRequest: Message } } } } };
};
const { ExportTraceServiceRequest } = opentelemetry.proto.collector.trace.v1;

export function decodeRequest(bytes: Uint8Array): ReceivedSpan[] {
  const options = { longs: String, arrays: true };
  const { resourceSpans } = ExportTraceServiceRequest.toObject(ExportTraceServiceRequest.decode(bytes), options);
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ scope, spans }) =>
      spans.map((span) => ({ ...toSpan(span), resource: toRecord(resource.attributes), scope: scope.name })),
    ),
  );
}

function toSpan(span: Span): Omit<ReceivedSpan, 'resource' | 'scope'> {
  return {
    traceId: Buffer.from(span.traceId).toString('hex'),
    spanId: Buffer.from(span.spanId).toString('hex'),
    parentId: Buffer.from(span.parentSpanId ?? []).toString('hex'),
    isRemote: (span.flags & 0x200) !== 0,
    name: span.name,
    kind: span.kind,
    startNs: BigInt(span.startTimeUnixNano),
    endNs: BigInt(span.endTimeUnixNano),
    attributes: toRecord(span.attributes),
    failed: span.status?.code === 2,
  };
}

function toRecord(pairs: Pair[]): Record<string, string | number> {
  return Object.fromEntries(pairs.map(({ key, value }) => [key, value.stringValue ?? Number(value.intValue)]));
}
