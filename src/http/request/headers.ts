import { ApiError } from '../../platform/errors.ts';
import type { Arrival } from '../admission.ts';
import { payloadTooLarge, unsupportedMediaType } from '../error-reply.ts';
import type { Route } from '../route.ts';
import { bodyLimit } from './body.ts';

const mediaTypes = { json: 'application/json', form: 'application/x-www-form-urlencoded' };

/** Checks a request before its body is read: 413 for its length, 400 for repeated headers, 415 for its media type. */
export function refuseBody(arrival: Arrival, route: Route): ApiError | undefined {
  const { headers } = arrival;
  const length = Number(headers['content-length'] ?? 0);
  const { longestBody = bodyLimit } = route;
  if (length > longestBody) return payloadTooLarge(longestBody);
  const repeated = refuseRepeated(arrival, 'content-type') ?? refuseRepeated(arrival, 'idempotency-key');
  if (repeated !== undefined) return repeated;
  const coding = headers['transfer-encoding'];
  if (coding === undefined && length === 0) return undefined;
  const plain = isCoding(coding, 'chunked') && isCoding(headers['content-encoding'], 'identity');
  if (!plain) return unsupportedMediaType('Content-Encoding must be absent: send the body as it is.');
  if (route.consumes === 'raw') return undefined;
  const expected = mediaTypes[route.consumes ?? 'json'];
  const given = headers['content-type'];
  // Most callers send the bare type, which need not be taken apart.
  const isExpected = given === expected || mediaTypeOf(given) === expected;
  return isExpected ? undefined : unsupportedMediaType(`Content-Type must be ${expected}.`);
}

export function refuseRepeated(arrival: Arrival, name: string): ApiError | undefined {
  if (!arrival.repeats(name)) return undefined;
  return new ApiError('INVALID_ARGUMENT', `The header ${name} was sent twice.`, {
    details: [{ field: name, message: 'must be sent once' }],
  });
}

function isCoding(header: string | undefined, coding: string): boolean {
  return header === undefined || header.toLowerCase() === coding;
}

/** The media type; any parameters are accepted. */
function mediaTypeOf(contentType: string | undefined): string | undefined {
  return contentType?.split(';', 1)[0]?.trim().toLowerCase();
}

/** The caller's correlation id, if it is safe in a log line. */
export function wellFormedCorrelationId(value: string | string[] | undefined): string | undefined {
  return typeof value === 'string' && /^[A-Za-z0-9._-]{1,128}$/.test(value) ? value : undefined;
}

/** Accepts a bare key or a structured field string: 1 to 255 visible characters. */
export function readIdempotencyKey(value: string | string[] | undefined): string | undefined {
  if (value === undefined) return undefined;
  const key = typeof value === 'string' && /^"(.*)"$/.test(value) ? value.slice(1, -1) : value;
  if (typeof key === 'string' && /^[\x21-\x7e]{1,255}$/.test(key)) return key;
  throw new ApiError('INVALID_ARGUMENT', 'idempotency-key must be 1 to 255 visible characters', {
    details: [{ field: 'idempotency-key', message: 'must be 1 to 255 visible characters' }],
  });
}
