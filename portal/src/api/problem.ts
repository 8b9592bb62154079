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
    this.name = 'Problem';
    this.status = status;
    this.details = details;
    this.correlationId = correlationId;
  }

  /** The error message of one form field. `label` is what the form calls it. */
  of(field: string, label = sentenceStart(field)): string | undefined {
    const found = this.details.find((detail) => detail.field === field);
    return found === undefined ? undefined : `${label} ${found.message}.`;
  }
}

function sentenceStart(field: string): string {
  const words = field.replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

export const unreachable = new Problem('The service cannot be reached. Check that it is running, then try again.', {
  status: 0,
});

export function toProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  return new Problem(`This page failed: ${String(error)}. Reload it, then try again.`, { status: 0 });
}

export async function readProblem(response: Response): Promise<Problem> {
  const correlationId = response.headers.get('x-correlation-id');
  const body = (await response.json().catch(() => ({}))) as { message?: string; details?: FieldProblem[] };
  const message = body.message ?? `The service answered ${response.status} without an error message.`;
  return new Problem(waitHint(message, response), {
    status: response.status,
    details: body.details ?? [],
    correlationId,
  });
}

function waitHint(message: string, response: Response): string {
  const seconds = response.headers.get('retry-after');
  if (seconds === null || message.includes(`${seconds} s`)) return message;
  return `${message} Try again in ${seconds} s.`;
}
