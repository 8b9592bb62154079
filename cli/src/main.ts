import type { Command } from './command/command.ts';
import { findCommand } from './command/find.ts';
import { helpOf, overview } from './command/help.ts';
import { problemJson, problemLines, toProblem } from './command/problem.ts';
import { commands } from './commands.ts';
import { createEnvironment } from './process/environment.ts';
import { CommandError, type ExitCode, exit } from './process/exit.ts';
import { createCaller } from './profile/caller.ts';
import { readValues } from './syntax/values.ts';
import { cleanJson } from './terminal/clean.ts';
import { createOutput, type Output } from './terminal/output.ts';
import { createPrompt } from './terminal/prompt.ts';
import { readVersion } from './version.ts';

const { stdin, stdout, stderr } = process;
const written = process.argv.slice(2);
const beforeDashes = written.includes('--') ? written.slice(0, written.indexOf('--')) : written;
const isJson = beforeDashes.includes('--json');
const output = createOutput({ stdout, stderr, isJson, colours: mayColour() });
const interrupt = new AbortController();
const interruptWithinMs = 1000;
/** The address of the service, for the message of a lost connection. */
let url: string | undefined;

function mayColour(): boolean {
  const { NO_COLOR, TERM } = process.env;
  return !beforeDashes.includes('--no-color') && !NO_COLOR && TERM !== 'dumb';
}

async function main(): Promise<ExitCode> {
  if (written[0] === '--version' || written[0] === '-v') return printVersion();
  const found = findCommand(commands, written);
  if (found === undefined) return printOverview(written.length === 0);
  const { command, args } = found;
  // The virtual SMSC explains its own options.
  const asksForHelp = command.name !== 'smsc' && beforeDashes.some((word) => word === '--help' || word === '-h');
  if (asksForHelp) return printHelp(command);
  const values = readValues(command, args);
  const environment = createEnvironment(process.env, process.cwd());
  const prompt = createPrompt({ stdin, stderr, signal: interrupt.signal });
  const caller = createCaller(values, environment, prompt);
  try {
    return await command.run({ values, output, prompt, environment, signal: interrupt.signal, caller });
  } catch (error) {
    url = urlOf(() => caller.target().url);
    throw error;
  }
}

/** Undefined if the address cannot be found: that may be the error to report. */
function urlOf(find: () => string): string | undefined {
  try {
    return find();
  } catch {
    return undefined;
  }
}

function printVersion(): ExitCode {
  if (isJson) output.json({ version: readVersion() });
  else output.print(`heliograph ${readVersion()}`);
  return exit.done;
}

/** Without a command: help on a terminal, and a usage error in a script. */
function printOverview(isEmpty: boolean): ExitCode {
  printAll(overview(commands, Math.min(100, output.columns())), output);
  return isEmpty && !output.isTerminal ? exit.usage : exit.done;
}

function printHelp(command: Command): ExitCode {
  printAll(helpOf(command, Math.min(100, output.columns())), output);
  return exit.done;
}

function printAll(lines: readonly Parameters<Output['print']>[0][], { print }: Output): void {
  for (const line of lines) print(line);
}

function explain(error: unknown): ExitCode {
  if (interrupt.signal.aborted) return exit.interrupted;
  if (error instanceof CommandError && error.exitCode === exit.interrupted) return exit.interrupted;
  const problem = toProblem(error, url);
  if (problem === undefined) {
    const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
    for (const line of ['Unexpected error. Please report it:', ...stack.split('\n')]) output.complain(line);
    return exit.failed;
  }
  if (isJson) stderr.write(`${cleanJson(JSON.stringify(problemJson(problem)))}\n`);
  else for (const line of problemLines(problem)) output.complain(line);
  return problem.exitCode;
}

/** Open connections must not delay the exit. Flush the output first. */
function end(code: ExitCode): void {
  stdout.write('', () => stderr.write('', () => process.exit(code)));
}

// A reader that stops early, like `head`, is no error. Other errors cannot be reported either.
for (const stream of [stdout, stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? exit.done : exit.failed));
}
process.on('SIGINT', () => {
  if (interrupt.signal.aborted) process.exit(exit.interrupted);
  interrupt.abort(new CommandError(exit.interrupted, 'Interrupted.'));
  // Work that ignores the signal must not delay the exit.
  setTimeout(() => process.exit(exit.interrupted), interruptWithinMs);
});

main()
  .catch(explain)
  .then(end, () => process.exit(exit.failed));
