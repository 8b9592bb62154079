import { ConnectionError, type FieldProblem, HeliographError } from '../../../sdk/src/index.ts';
import { CommandError, type ExitCode, exit } from '../process/exit.ts';
import { bold, dim, red, type Text } from '../terminal/text.ts';

/** What went wrong, for people and for programs. */
export interface Problem {
  exitCode: ExitCode;
  message: string;
  status: number | null;
  code: string | null;
  details: readonly FieldProblem[];
  correlationId: string | null;
  retryAfterSeconds: number | null;
  /** What to do next. */
  next: readonly string[];
}

const unknown = { status: null, code: null, details: [], correlationId: null, retryAfterSeconds: null };

/** Undefined for an unexpected error. */
export function toProblem(error: unknown, url: string | undefined): Problem | undefined {
  if (error instanceof CommandError) {
    const { exitCode, message, next } = error;
    return { ...unknown, exitCode, message, next };
  }
  if (error instanceof ConnectionError) {
    const next = [
      url === undefined ? 'Is the service running?' : `Is the service running at ${url}?`,
      'Start one here with `heliograph start`, or give another address with --url or HELIOGRAPH_URL.',
    ];
    return { ...unknown, exitCode: exit.noConnection, message: error.message, next };
  }
  if (error instanceof HeliographError) return refusal(error);
  const { code, syscall, message } = error as NodeJS.ErrnoException;
  // An error of the operating system, such as a folder that is not writable.
  if (syscall !== undefined) return { ...unknown, exitCode: exit.failed, message, code: code ?? null, next: [] };
  return undefined;
}

function refusal(error: HeliographError): Problem {
  const { message, status, code, details, correlationId, retryAfterSeconds } = error;
  const facts = { message, status, code, details, correlationId, retryAfterSeconds };
  if (status < 400)
    return {
      ...facts,
      message: 'The server at this address is not Heliograph.',
      exitCode: exit.failed,
      next: ['Check the address: `heliograph whoami` shows it.'],
    };
  if (status === 401) {
    const next = [
      'The credential is wrong, expired or revoked. `heliograph whoami` shows which one is used and where it comes from.',
    ];
    return { ...facts, exitCode: exit.noCredentials, next };
  }
  if (status === 429) {
    const wait = retryAfterSeconds === null ? 'a while' : `${retryAfterSeconds} s`;
    const next = [`Wait ${wait}. \`heliograph usage\` shows your plan's limits and your usage.`];
    return { ...facts, exitCode: exit.limited, next };
  }
  const next =
    correlationId === null || status === 404 ? [] : [`\`heliograph trace ${correlationId}\` shows what happened.`];
  return { ...facts, exitCode: exit.failed, next };
}

/** The problem as text for a person. */
export function problemLines(problem: Problem): Text[] {
  const { message, status, code, details, correlationId, next } = problem;
  const what = [status, code].filter((each) => each !== null).join(' ');
  return [
    [red(bold('Error')), ' ', message, what === '' ? '' : dim(` (${what})`)],
    // The message already contains the problem of a single field.
    ...details
      .filter((each) => !message.includes(each.message))
      .map((each): Text => ['  ', bold(each.field), ' ', each.message]),
    ...(correlationId === null ? [] : [dim(`  correlation id ${correlationId}`)]),
    ...next,
  ];
}

/** The problem as JSON for a program. It goes to stderr, because stdout has only results. */
export function problemJson(problem: Problem): object {
  const { message, status, code, details, correlationId, retryAfterSeconds, exitCode, next } = problem;
  return {
    error: {
      message,
      status,
      code,
      details,
      correlation_id: correlationId,
      retry_after_seconds: retryAfterSeconds,
      exit_code: exitCode,
      next,
    },
  };
}
