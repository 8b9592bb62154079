import type { IncomingMessage } from 'node:http';
import { ApiError } from '../platform/errors.ts';
import { unsupportedMediaType } from './error-reply.ts';
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

const mustBeSingle = ['host', 'content-type', 'idempotency-key'];

const mediaTypes = { json: 'application/json', form: 'application/x-www-form-urlencoded' };

/** What is wrong with a request before its body is looked at: 400 for its headers, 415 for what the body is written in. */
export function refuseUnreadableBody(request: IncomingMessage, route: Route | undefined): ApiError | undefined {
  for (const name of mustBeSingle) {
    if (countHeader(request.rawHeaders, name) > 1) {
      return new ApiError('INVALID_ARGUMENT', `The header ${name} was sent twice.`, {
        details: [{ field: name, message: 'must be sent once' }],
      });
    }
  }
  const { headers } = request;
  if (headers.host === undefined && request.httpVersion === '1.1') {
    return new ApiError('INVALID_ARGUMENT', 'The header host is missing.', {
      details: [{ field: 'host', message: 'is required' }],
    });
  }
  if (route === undefined || (headers['transfer-encoding'] === undefined && !(Number(headers['content-length']) > 0))) {
    return undefined;
  }
  const expected = mediaTypes[route.consumes ?? 'json'];
  const encoding = headers['content-encoding'];
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') return unsupportedMediaType(expected);
  return mediaTypeOf(headers['content-type']) === expected ? undefined : unsupportedMediaType(expected);
}

/** The media type without its parameters, of which any are fine. */
function mediaTypeOf(contentType: string | undefined): string | undefined {
  return contentType?.split(';', 1)[0]?.trim().toLowerCase();
}

/** The caller's own correlation id, when it is fit to stand in a log line beside ours. */
export function wellFormedCorrelationId(value: string | string[] | undefined): string | undefined {
  return typeof value === 'string' && /^[A-Za-z0-9._-]{1,128}$/.test(value) ? value : undefined;
}
