/** An invalid field of a request, and what is valid. */
export interface FieldProblem {
  field: string;
  message: string;
}

export interface ErrorFacts {
  message: string;
  status: number;
  code: string | null;
  details: FieldProblem[];
  correlationId: string | null;
  retryAfterSeconds: number | null;
}

/** The service refused the call. Quote `correlationId` when you report a problem. */
export class HeliographError extends Error {
  override readonly name: string = 'HeliographError';
  readonly status: number;
  /** For example `INVALID_ARGUMENT`; null where the service names none, as with a 429. */
  readonly code: string | null;
  /** Every bad field of a 400. */
  readonly details: FieldProblem[];
  readonly correlationId: string | null;
  /** How long the service asks you to wait. */
  readonly retryAfterSeconds: number | null;

  constructor({ message, status, code, details, correlationId, retryAfterSeconds }: ErrorFacts) {
    super(message);
    this.status = status;
    this.code = code;
    this.details = details;
    this.correlationId = correlationId;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** No complete response arrived: the connection was lost or refused, or it timed out. `cause` has the reason. */
export class ConnectionError extends Error {
  override readonly name: string = 'ConnectionError';
}

/** A webhook, or a proof of a number, that is not from the service, or is expired. */
export class SignatureError extends Error {
  override readonly name: string = 'SignatureError';
}

/** The response to one request, with its JSON; undefined without a body. */
export interface Answer {
  status: number;
  headers: Headers;
  body: unknown;
}

/** Reads the service's error format, or RFC 6749's of the token endpoint. */
export function toError({ status, headers, body }: Answer): HeliographError {
  const given = isObject(body) ? body : {};
  const problems = Array.isArray(given.details) ? given.details.filter(isProblem) : [];
  return new HeliographError({
    message: textOf(given.message) ?? textOf(given.error_description) ?? `The service answered ${status}.`,
    status,
    code: textOf(given.code) ?? textOf(given.error) ?? null,
    details: problems,
    correlationId: textOf(given.correlation_id) ?? headers.get('x-correlation-id'),
    retryAfterSeconds: readSeconds(headers.get('retry-after')),
  });
}

function readSeconds(text: string | null): number | null {
  return text !== null && /^[0-9]{1,9}$/.test(text) ? Number(text) : null;
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function isProblem(value: unknown): value is FieldProblem {
  return isObject(value) && typeof value.field === 'string' && typeof value.message === 'string';
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
