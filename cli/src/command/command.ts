import type { Environment } from '../process/environment.ts';
import type { ExitCode } from '../process/exit.ts';
import type { Caller } from '../profile/caller.ts';
import type { Syntax } from '../syntax/option.ts';
import type { Values } from '../syntax/values.ts';
import type { Output } from '../terminal/output.ts';
import type { Prompt } from '../terminal/prompt.ts';

export interface Example {
  summary: string;
  line: string;
}

export const topics = {
  begin: 'Begin',
  texts: 'Texts and codes',
  account: 'Your applications',
  operator: 'Carriers (for operators)',
  machine: "On the service's machine",
  shell: 'This program',
} as const;
export type Topic = keyof typeof topics;

/** Everything about a command: help, completion and docs/command-line.md are generated from it. */
export interface Command extends Syntax {
  /** The first word alone means this command too: `apps` is `apps list`. */
  isDefault?: true;
  topic: Topic;
  summary: string;
  /** Further help, in sentences. */
  more?: readonly string[];
  examples: readonly Example[];
  run(call: Call): Promise<ExitCode>;
}

/** The input of a running command. */
export interface Call {
  values: Values;
  output: Output;
  prompt: Prompt;
  environment: Environment;
  /** Aborted by Ctrl-C. */
  signal: AbortSignal;
  /** The service and the credentials for it. */
  caller: Caller;
}
