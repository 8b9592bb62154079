import { ApiError, unavailable } from './errors.ts';

/** The connection broke after COMMIT was sent: the transaction may have been committed, or not. */
export class CommitInDoubt extends Error {
  constructor(cause: unknown) {
    super('Connection terminated during commit', { cause });
  }
}

/** The SQLSTATE of an error of the database's own, such as 23505; undefined for any other error. */
export function sqlStateOf(error: unknown): string | undefined {
  const source = error instanceof ApiError ? error.cause : error;
  const code = (source as { code?: unknown } | undefined)?.code;
  // No class of SQLSTATEs begins with E; EPIPE does, and has five letters too.
  return typeof code === 'string' && /^[0-9A-DF-Z][0-9A-Z]{4}$/.test(code) ? code : undefined;
}

/** True when this unique index or constraint refused a row: somebody else was first. */
export function violates(error: unknown, constraint: string): boolean {
  return sqlStateOf(error) === '23505' && (error as { constraint?: unknown }).constraint === constraint;
}

/** True when COMMIT was sent and its answer never came: the transaction may be in the database, or not. */
export function isCommitInDoubt(error: unknown): boolean {
  return (error instanceof ApiError ? error.cause : error) instanceof CommitInDoubt;
}

/** True when the connection broke or timed out. Unless the commit is in doubt, nothing of the transaction stays. */
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
// pg gives these no code. Read timeout: the answer did not come, so the statement may still have run.
const connectionMessages =
  /^Connection terminated|^timeout exceeded when trying to connect|^timeout expired|^Query read timeout|not queryable|pool after calling end|Client was closed/;

/**
 * States that pass by themselves: starting or stopping (57P), out of connections, memory or disk (53), an input/output
 * error (58), a frozen node (25P03), a standby (25006), a plan outdated by a migration (0A000), a lock or statement that
 * took too long (55P03, 57014), two transactions in each other's way (40).
 */
const passingStates = /^(08|25P03|53|57P|58|25006|0A000|40|55P03|57014)/;

/** After these the connection can be used again; after the others it is dead or suspect. */
export function leavesConnectionWhole(error: unknown): boolean {
  return /^(40|55P03|57014)/.test(sqlStateOf(error) ?? '');
}

/** What passes by itself becomes a 503 that keeps its cause; what does not stays what it is. */
export function readError(error: unknown): unknown {
  if (error instanceof ApiError) return error;
  const state = sqlStateOf(error);
  // No text in Postgres may hold it, and only what a caller sent can. Fields that are stored say so themselves.
  if (state === '22021') {
    return new ApiError('INVALID_ARGUMENT', 'A text in the request has a NUL character.', { cause: error });
  }
  const passing = state === undefined ? isConnectionLoss(error) : passingStates.test(state);
  return passing ? unavailable('The service cannot reach its database. Try again shortly.', 1, error) : error;
}
