import { Type } from 'typebox';
import { ApiError } from '../platform/errors.ts';
import type { Route } from './route.ts';

/** The body of every error except 429, which has only a message. */
export const errorSchema = Type.Object({
  message: Type.String({ description: 'Error message for people' }),
  code: Type.String({ description: 'Error code for programs' }),
  correlation_id: Type.String({ description: 'The same as X-Correlation-ID' }),
  details: Type.Array(Type.Object({ field: Type.String(), message: Type.String() })),
});

export const limitedSchema = Type.Object({ message: Type.String() });

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

export function unsupportedMediaType(type: string): ApiError {
  return new ApiError('UNSUPPORTED_MEDIA_TYPE', `Send the body as ${type} without a Content-Encoding.`);
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

/** Writes an error in the contract's format or in that of RFC 6749. */
export function refusalBody(
  refusal: ApiError,
  errors: Route['errors'],
  correlationId: string,
): { status: number; body: object } {
  if (errors === 'oauth') return oauthRefusal(refusal);
  return { status: refusal.status, body: errorBody(refusal, correlationId) };
}

/**
 * An error in the format of RFC 6749, section 5.2, for failures before the identity provider runs. There a body that is
 * not a form is a malformed request (400), not a wrong media type (415).
 */
function oauthRefusal(error: ApiError): { status: number; body: object } {
  if (error.status === 429) return { status: 429, body: { message: error.message } };
  const status = error.status === 415 ? 400 : error.status;
  const name = status >= 500 ? (status === 503 ? 'temporarily_unavailable' : 'server_error') : 'invalid_request';
  return { status, body: { error: name, error_description: error.message } };
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
