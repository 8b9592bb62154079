import type { IncomingMessage } from 'node:http';
import { ApiError } from '../platform/errors.ts';
import { bodyLimit } from './body-parser.ts';
import { payloadTooLarge, unsupportedMediaType } from './error-reply.ts';
import type { Route } from './route.ts';

/** How often a header was sent. Node keeps the first of two and says nothing; two readers could then read two requests. */
export function countHeader(rawHeaders: string[], name: string): number {
  let count = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const sent = rawHeaders[i];
    if (sent !== undefined && sent.length === name.length && sent.toLowerCase() === name) count++;
  }
  return count;
}

const mediaTypes = { json: 'application/json', form: 'application/x-www-form-urlencoded' };

/** What is wrong with a request whatever it asks for: who reads it as what must never be in doubt. */
export function refuseMessage(request: IncomingMessage): ApiError | undefined {
  // Node reads a line without a version as HTTP/0.9, whose callers could not read our answers.
  if (request.httpVersionMajor !== 1) return new ApiError('INVALID_ARGUMENT', 'This is not a valid HTTP/1.1 request.');
  // Node reads a thousand headers and drops the rest in silence.
  if (request.rawHeaders.length > 2000) return new ApiError('HEADERS_TOO_LARGE', 'There are more than 1000 headers.');
  if (request.headers.host === undefined && request.httpVersionMinor === 1) {
    return new ApiError('INVALID_ARGUMENT', 'The header host is missing.', {
      details: [{ field: 'host', message: 'is required' }],
    });
  }
  return refuseRepeated(request, 'host');
}

/** What is wrong with a request before its body is read: 413, then 400 for its headers, 415 for what it is written in. */
export function refuseBody(request: IncomingMessage, route: Route): ApiError | undefined {
  const { headers } = request;
  if (Number(headers['content-length']) > bodyLimit) return payloadTooLarge();
  const repeated = refuseRepeated(request, 'content-type') ?? refuseRepeated(request, 'idempotency-key');
  if (repeated !== undefined) return repeated;
  const coding = headers['transfer-encoding'];
  if (coding === undefined && !(Number(headers['content-length']) > 0)) return undefined;
  const expected = mediaTypes[route.consumes ?? 'json'];
  const plain = isCoding(coding, 'chunked') && isCoding(headers['content-encoding'], 'identity');
  return plain && mediaTypeOf(headers['content-type']) === expected ? undefined : unsupportedMediaType(expected);
}

function refuseRepeated(request: IncomingMessage, name: string): ApiError | undefined {
  if (countHeader(request.rawHeaders, name) < 2) return undefined;
  return new ApiError('INVALID_ARGUMENT', `The header ${name} was sent twice.`, {
    details: [{ field: name, message: 'must be sent once' }],
  });
}

function isCoding(header: string | undefined, coding: string): boolean {
  return header === undefined || header.toLowerCase() === coding;
}

/** The media type without its parameters, of which any are fine. */
function mediaTypeOf(contentType: string | undefined): string | undefined {
  return contentType?.split(';', 1)[0]?.trim().toLowerCase();
}

/** The caller's own correlation id, when it is fit to stand in a log line beside ours. */
export function wellFormedCorrelationId(value: string | string[] | undefined): string | undefined {
  return typeof value === 'string' && /^[A-Za-z0-9._-]{1,128}$/.test(value) ? value : undefined;
}

/** Bare, or as the string of a structured field: 1 to 255 visible characters. */
export function readIdempotencyKey(value: string | string[] | undefined): string | undefined {
  if (value === undefined) return undefined;
  const key = typeof value === 'string' && /^"(.*)"$/.test(value) ? value.slice(1, -1) : value;
  if (typeof key === 'string' && /^[\x21-\x7e]{1,255}$/.test(key)) return key;
  throw new ApiError('INVALID_ARGUMENT', 'idempotency-key must be 1 to 255 visible characters', {
    details: [{ field: 'idempotency-key', message: 'must be 1 to 255 visible characters' }],
  });
}
