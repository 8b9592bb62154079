import { ApiError, unavailable } from '../errors.ts';

/** The connection broke after COMMIT was sent: the transaction may or may not have committed. */
export class CommitInDoubt extends Error {
  constructor(cause: unknown) {
    super('Connection terminated during commit', { cause });
  }
}

/** COMMIT succeeded, but its wait for a synchronous standby was cancelled: a failover may lose the transaction. */
export class NotReplicated extends Error {
  constructor() {
    super('The commit was not confirmed by a synchronous standby');
  }
}

/** The SQLSTATE of a Postgres error, such as 23505; undefined for any other error. */
export function sqlStateOf(error: unknown): string | undefined {
  const source = error instanceof ApiError ? error.cause : error;
  const code = (source as { code?: unknown } | undefined)?.code;
  // No SQLSTATE class begins with E. EPIPE, a system error code, also has five letters.
  return typeof code === 'string' && /^[0-9A-DF-Z][0-9A-Z]{4}$/.test(code) ? code : undefined;
}

/** True when this unique index or constraint refused a row because another row was first. */
export function violates(error: unknown, constraint: string): boolean {
  return sqlStateOf(error) === '23505' && (error as { constraint?: unknown }).constraint === constraint;
}

/** True when COMMIT was not answered, or no standby has confirmed it. */
export function isCommitInDoubt(error: unknown): boolean {
  const source = error instanceof ApiError ? error.cause : error;
  return source instanceof CommitInDoubt || source instanceof NotReplicated;
}

/** True when the connection broke or timed out. The transaction is then rolled back, unless its commit is in doubt. */
export function isConnectionLoss(error: unknown): boolean {
  const source = error instanceof ApiError ? error.cause : error;
  if (!(source instanceof Error)) return false;
  const state = sqlStateOf(source);
  if (state !== undefined) return /^(08|57P01|57P02|57P05|25P03)/.test(state);
  const code = (source as NodeJS.ErrnoException).code;
  return (code !== undefined && systemErrors.has(code)) || connectionMessages.test(source.message);
}

const systemErrors = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ENOENT',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
]);
// pg gives these errors no code. After a read timeout the statement may still have run.
const connectionMessages =
  /^Connection terminated|^timeout exceeded when trying to connect|^timeout expired|^Query read timeout|not queryable|pool after calling end|Client was closed/;

/**
 * Temporary: connection (08), start or stop (57P), no connections, memory or disk (53), I/O error (58), frozen node
 * (25P03), standby (25006, 55000), plan outdated by a migration (0A000), timeout (55P03, 57014), conflict (40).
 */
const passingStates = /^(08|25P03|53|57P|58|25006|55000|0A000|40|55P03|57014)/;

/** After these errors the connection is usable; after any other temporary error it is dead or suspect. */
export function keepsConnectionUsable(error: unknown): boolean {
  return /^(40|55P03|57014)/.test(sqlStateOf(error) ?? '');
}

/** Turns a temporary error into a 503 with its cause. Returns any other error as it is. */
export function translateError(error: unknown): unknown {
  if (error instanceof ApiError) return error;
  const state = sqlStateOf(error);
  // Postgres text cannot hold NUL, and only a caller can have sent it. Stored fields are validated before they get
  // here.
  if (state === '22021') {
    return new ApiError('INVALID_ARGUMENT', 'The request contains a NUL character.', { cause: error });
  }
  const isLost = isConnectionLoss(error) || error instanceof NotReplicated;
  const passing = state === undefined ? isLost : passingStates.test(state);
  return passing ? unavailable('The service cannot reach its database. Try again shortly.', 1, error) : error;
}
