/** The codes of the contract's error table. */
export type ErrorCode =
  | 'INVALID_ARGUMENT'
  | 'UNSUPPORTED_CHANNEL'
  | 'UNROUTABLE_DESTINATION'
  | 'MALFORMED_JSON'
  | 'UNAUTHENTICATED'
  | 'SPEND_LIMIT'
  | 'PERMISSION_DENIED'
  | 'NOT_FOUND'
  | 'METHOD_NOT_ALLOWED'
  | 'REQUEST_TIMEOUT'
  | 'VERIFICATION_ALREADY_APPROVED'
  | 'INCOMPATIBLE_STATE'
  | 'IDEMPOTENCY_IN_PROGRESS'
  | 'ALREADY_EXISTS'
  | 'TOO_MANY_STREAMS'
  | 'CURSOR_EXPIRED'
  | 'PAYLOAD_TOO_LARGE'
  | 'UNSUPPORTED_MEDIA_TYPE'
  | 'IDEMPOTENCY_KEY_REUSED'
  | 'RATE_LIMITED'
  | 'HEADERS_TOO_LARGE'
  | 'INTERNAL'
  | 'UNAVAILABLE';

export const statusOf: Record<ErrorCode, number> = {
  INVALID_ARGUMENT: 400,
  UNSUPPORTED_CHANNEL: 400,
  UNROUTABLE_DESTINATION: 400,
  MALFORMED_JSON: 400,
  UNAUTHENTICATED: 401,
  SPEND_LIMIT: 402,
  PERMISSION_DENIED: 403,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  REQUEST_TIMEOUT: 408,
  VERIFICATION_ALREADY_APPROVED: 409,
  INCOMPATIBLE_STATE: 409,
  IDEMPOTENCY_IN_PROGRESS: 409,
  ALREADY_EXISTS: 409,
  TOO_MANY_STREAMS: 409,
  CURSOR_EXPIRED: 410,
  PAYLOAD_TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  IDEMPOTENCY_KEY_REUSED: 422,
  RATE_LIMITED: 429,
  HEADERS_TOO_LARGE: 431,
  INTERNAL: 500,
  UNAVAILABLE: 503,
};

export interface FieldProblem {
  field: string;
  message: string;
}

export interface ApiErrorOptions {
  details?: FieldProblem[];
  headers?: Record<string, string>;
  /** When a retry can succeed. A 429 with it overrides the limit headers of the edge. */
  retryAfterMs?: number;
  cause?: unknown;
}

/** An error that the caller is meant to read. Any other thrown error becomes a 500 with a fixed sentence. */
export class ApiError extends Error {
  readonly code: ErrorCode;
  readonly status: number;
  readonly details: FieldProblem[];
  readonly headers: Record<string, string>;
  readonly retryAfterMs: number | undefined;

  constructor(code: ErrorCode, message: string, options: ApiErrorOptions = {}) {
    // Skip the stack: nothing reads it, and capturing it takes as long as the rest of the error.
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    Error.stackTraceLimit = stackTraceLimit;
    this.name = 'ApiError';
    this.code = code;
    this.status = statusOf[code];
    this.details = options.details ?? [];
    this.headers = options.headers ?? {};
    this.retryAfterMs = options.retryAfterMs;
  }
}

/** Why the database could not be used: the cause of a 503. */
export function causeOf(error: unknown): string {
  const { message } = (error instanceof ApiError ? (error.cause ?? error) : error) as Error;
  return message || String(error);
}

export function notFound(): ApiError {
  // An unknown path, an unknown id and another account's id get the same answer, so a caller cannot distinguish them.
  return new ApiError('NOT_FOUND', 'Not found. Check the path and the id.');
}

/** `message` completes a sentence that begins with the field's name, or is a sentence of its own. */
export function invalidField(field: string, message: string): ApiError {
  const sentence = /^[A-Z]/.test(message) ? message : `${field} ${message}`;
  return new ApiError('INVALID_ARGUMENT', sentence, { details: [{ field, message }] });
}

export function unavailable(message: string, retryAfterSeconds = 1, cause?: unknown): ApiError {
  return new ApiError('UNAVAILABLE', message, { retryAfterMs: retryAfterSeconds * 1000, cause });
}

/** The process cannot start or continue until a person acts. The message is printed without a stack. */
export class StartError extends Error {
  override readonly name = 'StartError';
}
