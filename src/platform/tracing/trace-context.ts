import { randomHex } from '../crypto/random.ts';

/** The ids of a trace and of a span in it (W3C Trace Context): 32 and 16 hexadecimal digits. */
export interface SpanPlace {
  traceId: string;
  spanId: string;
}

/** The caller's span, from its `traceparent` header. */
export interface TraceParent extends SpanPlace {
  sampled: boolean;
}

/** A span of a sampled trace. `parentId` is empty for the first one. */
export interface SpanIds extends SpanPlace {
  parentId: string;
  /** The parent is in another service. */
  isRemote?: boolean;
}

const parentPattern = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.{0,200})?$/;

const noTrace = '0'.repeat(32);
const noSpan = '0'.repeat(16);

/** Undefined for anything that is not well-formed. Later versions may have more fields, version 00 has none. */
export function readTraceparent(header: string | string[] | undefined): TraceParent | undefined {
  if (typeof header !== 'string' || header.length > 256) return undefined;
  const [, version, traceId = '', spanId = '', flags = '', more] = parentPattern.exec(header) ?? [];
  if (version === undefined || version === 'ff' || (version === '00' && more !== undefined)) return undefined;
  if (traceId === noTrace || spanId === noSpan) return undefined;
  return { traceId, spanId, sampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

/** The header of a sampled trace. Others are not passed on. */
export function toTraceparent({ traceId, spanId }: SpanPlace): string {
  return `00-${traceId}-${spanId}-01`;
}

/** The form in which a row stores the ids of a sampled span. */
export function toKept({ traceId, spanId }: SpanPlace): string {
  return `${traceId}-${spanId}`;
}

export function readKept(text: string): SpanPlace | undefined {
  if (text.length !== 49 || text[32] !== '-') return undefined;
  return { traceId: text.slice(0, 32), spanId: text.slice(33) };
}

export function newTraceId(): string {
  return randomHex(16);
}

export function newSpanId(): string {
  return randomHex(8);
}
