/** The exit codes, for scripts. */
export const exit = {
  done: 0,
  /** The service refused, or the outcome is a failure: a wrong code, a text that did not arrive. */
  failed: 1,
  usage: 2,
  /** No credentials, or signed out. */
  noCredentials: 3,
  noConnection: 4,
  /** Too many requests, even after waiting. */
  limited: 5,
  interrupted: 130,
} as const;

export type ExitCode = (typeof exit)[keyof typeof exit];

/** An expected error: what went wrong, and what to do next. */
export class CommandError extends Error {
  readonly exitCode: ExitCode;
  readonly next: readonly string[];

  constructor(exitCode: ExitCode, message: string, next: readonly string[] = []) {
    super(message);
    this.exitCode = exitCode;
    this.next = next;
  }
}

export function usageError(message: string, ...next: string[]): CommandError {
  return new CommandError(exit.usage, message, next);
}

export function noCredentials(message: string, ...next: string[]): CommandError {
  return new CommandError(exit.noCredentials, message, next);
}

export function failure(message: string, ...next: string[]): CommandError {
  return new CommandError(exit.failed, message, next);
}
