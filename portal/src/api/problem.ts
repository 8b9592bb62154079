import { words } from '../words/api.ts';
export interface FieldProblem {
  field: string;
  message: string;
}

interface ProblemOptions {
  status: number;
  details?: FieldProblem[];
  correlationId?: string | null;
}

/** A failed call, with a message that tells the user what to do. */
export class Problem extends Error {
  readonly status: number;
  readonly details: FieldProblem[];
  readonly correlationId: string | null;

  constructor(message: string, { status, details = [], correlationId = null }: ProblemOptions) {
    super(message);
    this.status = status;
    this.details = details;
    this.correlationId = correlationId;
  }

  /** The error message of one form field. `label` is what the form calls it. */
  of(field: string, label = sentenceStart(field)): string | undefined {
    const found = this.details.find((detail) => detail.field === field);
    return found && fieldError(found.message, label);
  }
}

/** What would be right, if the service says it: `must be a name (1–64 characters)`. */
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
});

export function toProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  return new Problem(words.broken(String(error)), { status: 0 });
}

export async function readProblem(response: Response): Promise<Problem> {
  const correlationId = response.headers.get('x-correlation-id');
  const body = (await response.json().catch(() => ({}))) as { message?: string; details?: FieldProblem[] };
  const message = body.message ?? words.noMessage(response.status);
  return new Problem(waitHint(message, response), {
    status: response.status,
    details: body.details ?? [],
    correlationId,
  });
}

function waitHint(message: string, response: Response): string {
  const seconds = response.headers.get('retry-after');
  if (seconds === null || message.includes(`${seconds} s`)) return message;
  return words.retryIn(message, seconds);
}
