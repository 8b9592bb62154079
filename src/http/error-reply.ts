import { Type } from 'typebox';
import { ApiError } from '../platform/errors.ts';
import type { AnswerParts } from './exchange.ts';
import { wholeSeconds } from './head.ts';
import { type HelpLinks, type HelpName, helpNameOf } from './help-links.ts';
import type { Route } from './route.ts';

export const fieldProblemSchema = Type.Object(
  {
    field: Type.String({ description: 'The bad field, like to or messages.0.to', examples: ['to'] }),
    message: Type.String({ description: 'What would be right', examples: ['is required'] }),
  },
  { title: 'FieldProblem' },
);

/** The body of every error except 429, which has only a message. */
export const errorSchema = Type.Object(
  {
    message: Type.String({ description: 'Error message for people' }),
    code: Type.String({ description: 'Error code for programs' }),
    correlation_id: Type.String({ description: 'The same as X-Correlation-ID' }),
    details: Type.Array(fieldProblemSchema, { description: 'Every bad field' }),
  },
  { title: 'Error' },
);

export const limitedSchema = Type.Object({ message: Type.String() }, { title: 'Limited' });

/** The errors of the identity endpoints (RFC 6749, section 5.2). */
export const oauthErrorSchema = Type.Object(
  {
    error: Type.String({ examples: ['invalid_client'] }),
    error_description: Type.String({ examples: ['The client or its secret is not valid.'] }),
  },
  { title: 'OAuthError' },
);

/**
 * Turns a thrown value into the error that the caller sees. Any value but an `ApiError` becomes a 500 that hides its
 * content.
 */
export function readApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  return new ApiError('INTERNAL', 'The service failed on this request. Quote the correlation id when you report it.', {
    cause: error,
  });
}

/** Names the header that is wrong. */
export function unsupportedMediaType(sentence: string): ApiError {
  return new ApiError('UNSUPPORTED_MEDIA_TYPE', sentence);
}

export function payloadTooLarge(mostBytes = 64 * 1024): ApiError {
  return new ApiError('PAYLOAD_TOO_LARGE', `The body is larger than ${mostBytes / 1024} KiB.`);
}

export function malformedJson(): ApiError {
  return new ApiError('MALFORMED_JSON', 'The body is not valid JSON in UTF-8.');
}

export function errorBody(error: ApiError, correlationId: string): object {
  if (error.status === 429) return { message: error.message };
  return { message: error.message, code: error.code, correlation_id: correlationId, details: error.details };
}

export const jsonType = 'application/json; charset=utf-8';

export interface RefusalOptions {
  errors: Route['errors'];
  correlationId: string;
  help: HelpLinks;
}

/** An error as an answer, in the error format of its route. */
export function refusalParts(refusal: ApiError, options: RefusalOptions): AnswerParts & { data: string } {
  const { errors, help } = options;
  const { status, name, body } = errors === 'oauth' ? oauthRefusal(refusal) : contractRefusal(refusal, options);
  return { status, headers: headersOf(refusal, help[name]), type: jsonType, data: JSON.stringify(body) };
}

/** The limit headers of a 429 already say how long to wait. */
function headersOf({ status, headers, retryAfterMs }: ApiError, help: HelpLinks[HelpName]): Record<string, string> {
  if (retryAfterMs === undefined || status === 429) return { ...headers, ...help };
  return { ...headers, ...help, 'Retry-After': String(wholeSeconds(retryAfterMs)) };
}

interface ErrorAnswer {
  status: number;
  /** Names the page that explains the error. */
  name: HelpName;
  body: object;
}

function contractRefusal(error: ApiError, { errors, correlationId }: RefusalOptions): ErrorAnswer {
  const isOwn = typeof errors === 'object' && error.status !== 429;
  const body = isOwn ? errors.bodyOf(error) : errorBody(error, correlationId);
  return { status: error.status, name: helpNameOf(error.code), body };
}

/**
 * An error in the format of RFC 6749, section 5.2, for failures before the identity provider runs. There a body that is
 * not a form is a malformed request (400), not a wrong media type (415).
 */
function oauthRefusal(error: ApiError): ErrorAnswer {
  if (error.status === 429) return { status: 429, name: '429', body: { message: error.message } };
  const status = error.status === 415 ? 400 : error.status;
  const name = status >= 500 ? (status === 503 ? 'temporarily_unavailable' : 'server_error') : 'invalid_request';
  return { status, name, body: { error: name, error_description: error.message } };
}

/** Maps Node's parser error codes to our errors. */
export function fromParser(code: string | undefined): ApiError {
  switch (code) {
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return payloadTooLarge();
    case 'HPE_HEADER_OVERFLOW':
      return new ApiError('HEADERS_TOO_LARGE', 'The headers are larger than 16 KiB.');
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new ApiError('REQUEST_TIMEOUT', 'The request did not arrive in time.');
    default:
      return new ApiError('INVALID_ARGUMENT', 'This is not a valid HTTP/1.1 request.');
  }
}

/** What the log shows of a thrown value. Postgres errors quote the failed row, so log only their code. */
export function safeError(error: unknown): object {
  if (!(error instanceof Error)) return { name: 'Error', message: `something of type ${typeof error} was thrown` };
  const { name, message, stack, code, constraint } = error as Error & { code?: string; constraint?: string };
  const shown = /^[0-9A-Z]{5}$/.test(code ?? '') ? `database error ${code} ${constraint ?? ''}`.trimEnd() : message;
  // The stack repeats the message, possibly over several lines; keep only the frames.
  const frames = stack?.split('\n').filter((line) => /^\s+at /.test(line)) ?? [];
  return { name, message: shown, stack: [`${name}: ${shown}`, ...frames].join('\n') };
}
