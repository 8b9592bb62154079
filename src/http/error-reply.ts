import { Type } from 'typebox';
import { ApiError } from '../platform/errors.ts';
import type { Route } from './route.ts';

/** The body of every error but 429, which has a message and nothing else. */
export const errorSchema = Type.Object({
  message: Type.String({ description: 'What went wrong, for a person' }),
  code: Type.String({ description: 'What went wrong, for a program' }),
  correlation_id: Type.String({ description: 'The same as X-Correlation-ID' }),
  details: Type.Array(Type.Object({ field: Type.String(), message: Type.String() })),
});

export const limitedSchema = Type.Object({ message: Type.String() });

/** Turns whatever was thrown into the refusal the caller sees. What is not an `ApiError` shows nothing of itself. */
export function readApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  return new ApiError('INTERNAL', 'Something went wrong on our side. Quote the correlation id when you report it.', {
    cause: error,
  });
}

export function unsupportedMediaType(type: string): ApiError {
  return new ApiError('UNSUPPORTED_MEDIA_TYPE', `Send the body as ${type}, unencoded.`);
}

export function payloadTooLarge(): ApiError {
  return new ApiError('PAYLOAD_TOO_LARGE', 'The body is larger than 64 KiB.');
}

export function malformedJson(): ApiError {
  return new ApiError('MALFORMED_JSON', 'The body is not valid JSON in UTF-8.');
}

export function errorBody(error: ApiError, correlationId: string): object {
  if (error.status === 429) return { message: error.message };
  return { message: error.message, code: error.code, correlation_id: correlationId, details: error.details };
}

/** How a refusal is written: as the contract's error, or as RFC 6749 has it. */
export function refusalBody(
  refusal: ApiError,
  errors: Route['errors'],
  correlationId: string,
): { status: number; body: object } {
  if (errors === 'oauth') return oauthRefusal(refusal);
  return { status: refusal.status, body: errorBody(refusal, correlationId) };
}

/**
 * A refusal as RFC 6749, section 5.2, writes it, for what went wrong before the identity provider had its say. A body
 * that is no form is a malformed request there, not a matter of media types.
 */
function oauthRefusal(error: ApiError): { status: number; body: object } {
  if (error.status === 429) return { status: 429, body: { message: error.message } };
  const status = error.status === 415 ? 400 : error.status;
  const name = status >= 500 ? (status === 503 ? 'temporarily_unavailable' : 'server_error') : 'invalid_request';
  return { status, body: { error: name, error_description: error.message } };
}

/** The refusal of what could not even be read as HTTP, by Node's code for it. */
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
