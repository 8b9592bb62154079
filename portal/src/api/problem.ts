import { words } from '../words/api.ts';
export interface FieldProblem {
  field: string;
  message: string;
}

interface ProblemOptions {
  status: number;
  details?: FieldProblem[];
  correlationId?: string | null;
  retryAfterMs?: number | undefined;
}

/** A failed call. Its message says what to do. */
export class Problem extends Error {
  readonly status: number;
  readonly details: FieldProblem[];
  readonly correlationId: string | null;
  /** Set when the same call is likely to succeed later. */
  readonly retryAfterMs: number | undefined;

  constructor(message: string, { status, details = [], correlationId = null, retryAfterMs }: ProblemOptions) {
    super(message);
    this.status = status;
    this.details = details;
    this.correlationId = correlationId;
    this.retryAfterMs = retryAfterMs;
  }

  /** The error message of one form field. `label` is the field's label in the form. */
  of(field: string, label = sentenceStart(field)): string | undefined {
    const found = this.details.find((detail) => detail.field === field);
    return found && fieldError(found.message, label);
  }
}

/** The part of a message that says what is valid: `must be a name (1–64 characters)`. */
const rule = /^(?:must (?:be|have)|is required:) (?=an? |the |one of |at least |at most \d+ ch|\d)/;

function fieldError(message: string, label: string): string {
  if (/^[A-Z]/.test(message)) return message;
  const right = message.replace(rule, '');
  return right === message ? `${label} ${message}` : words.enter(right);
}

function sentenceStart(field: string): string {
  const words = field.replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

export const unreachable = new Problem(words.unreachable, {
  status: 0,
  retryAfterMs: 3000,
});

export function toProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  return new Problem(words.broken(String(error)), { status: 0 });
}

export async function readProblem(response: Response): Promise<Problem> {
  const correlationId = response.headers.get('x-correlation-id');
  const body = (await response.json().catch(() => ({}))) as { message?: string; details?: FieldProblem[] };
  const message = body.message ?? words.noMessage(response.status);
  const seconds = response.headers.get('retry-after');
  return new Problem(waitHint(message, seconds), {
    status: response.status,
    details: body.details ?? [],
    correlationId,
    retryAfterMs: toWaitMs(Number(seconds)),
  });
}

/** A proxy may send a date, which is ignored. A browser's timer cannot wait for more than 24 days. */
function toWaitMs(seconds: number): number | undefined {
  return seconds > 0 ? Math.min(seconds, 3600) * 1000 : undefined;
}

function waitHint(message: string, seconds: string | null): string {
  if (seconds === null || message.includes(`${seconds} s`)) return message;
  return words.retryIn(message, seconds);
}
