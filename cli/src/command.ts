import type { Caller } from './caller.ts';
import type { Environment } from './environment.ts';
import type { ExitCode } from './exit.ts';
import type { Output } from './terminal/output.ts';
import type { Prompt } from './terminal/prompt.ts';
import type { Values } from './values.ts';

export interface Argument {
  name: string;
  summary: string;
  optional?: true;
  many?: true;
  choices?: readonly string[];
}

export interface Option {
  name: string;
  short?: string;
  /** What to write for its value; without it the option is a switch. */
  value?: string;
  summary: string;
  many?: true;
  choices?: readonly string[];
}

export interface Example {
  summary: string;
  line: string;
}

export const topics = {
  begin: 'Begin',
  texts: 'Texts and codes',
  account: 'Your applications',
  operator: 'Carriers, for operators',
  machine: "On the service's machine",
  shell: 'This program',
} as const;
export type Topic = keyof typeof topics;

/** Everything about a command: help, completion, docs/command-line.md and the program are made from it. */
export interface Command {
  /** One or two words, like `send` or `verify start`. */
  name: string;
  /** The first word alone means this command too: `apps` is `apps list`. */
  isDefault?: true;
  topic: Topic;
  summary: string;
  /** What a reader needs to know besides, in sentences. */
  more?: readonly string[];
  arguments: readonly Argument[];
  options: readonly Option[];
  examples: readonly Example[];
  /** Takes everything after its name as it is: another program reads it. */
  takesAll?: true;
  run(call: Call): Promise<ExitCode>;
}

/** What a command gets when it runs. */
export interface Call {
  values: Values;
  output: Output;
  prompt: Prompt;
  environment: Environment;
  /** Aborted by Ctrl-C. */
  signal: AbortSignal;
  /** The service, and what we may show to it. */
  caller: Caller;
}
