import { parseArgs } from 'node:util';
import { usageError } from '../process/exit.ts';
import { nearest } from './nearest.ts';
import type { Option, Syntax } from './option.ts';
import { sharedOptions } from './shared-options.ts';

/** The arguments and options given to a command. */
export interface Values {
  /** In the order given. */
  arguments: readonly string[];
  /** The value of an option. */
  text(name: string): string | undefined;
  texts(name: string): readonly string[];
  flag(name: string): boolean;
}

/** Parses the arguments of a command. Throws a usage error that says what is valid. */
export function readValues(command: Syntax, args: readonly string[]): Values {
  if (command.takesAll) return createValues(args, {});
  const options = [...command.options, ...sharedOptions];
  const { values, positionals } = parse(command, options, args);
  for (const option of options) checkChoice(option, values[option.name]);
  checkCount(command, positionals);
  return createValues(positionals, values);
}

type Parsed = Record<string, string | boolean | (string | boolean)[] | undefined>;

function parse(command: Syntax, options: readonly Option[], args: readonly string[]) {
  const known = Object.fromEntries(
    options.map(({ name, short, value, many }) => [
      name,
      {
        type: value === undefined ? ('boolean' as const) : ('string' as const),
        ...(short !== undefined && { short }),
        ...(many && { multiple: true }),
      },
    ]),
  );
  try {
    const read = parseArgs({ args: [...args], options: known, allowPositionals: true, strict: true });
    return { values: read.values as Parsed, positionals: read.positionals };
  } catch (error) {
    throw usageError(explain(error, options), seeHelp(command));
  }
}

function explain(error: unknown, options: readonly Option[]): string {
  const { code, message } = error as NodeJS.ErrnoException;
  const [, written = ''] = /'(-{1,2}[^' ,=]*)/.exec(message) ?? [];
  if (code === 'ERR_PARSE_ARGS_UNKNOWN_OPTION') {
    const meant = nearest(
      written,
      options.map(({ name }) => `--${name}`),
    );
    return `There is no option ${written}.${meant === undefined ? '' : ` Did you mean ${meant}?`}`;
  }
  const option = options.find(({ name, short }) => [`--${name}`, `-${short}`].includes(written));
  if (option === undefined) return message;
  return option.value === undefined
    ? `--${option.name} takes no value.`
    : `--${option.name} needs a value: --${option.name} ${option.value}. Write a value that begins with a dash as --${option.name}=…`;
}

function checkChoice({ name, choices }: Option, value: Parsed[string]): void {
  for (const each of Array.isArray(value) ? value : [value]) {
    if (choices === undefined || each === undefined || choices.includes(String(each))) continue;
    throw usageError(`--${name} must be one of ${choices.join(', ')}.`);
  }
}

function checkCount(command: Syntax, given: readonly string[]): void {
  const missing = command.arguments.filter(({ optional }) => !optional)[given.length];
  if (missing !== undefined) throw usageError(`<${missing.name}> is missing: ${missing.summary}.`, seeHelp(command));
  const most = command.arguments.some(({ many }) => many) ? Number.POSITIVE_INFINITY : command.arguments.length;
  if (given.length > most) throw usageError(`Unexpected argument: ${given[most]}`, seeHelp(command));
  command.arguments.forEach(({ name, choices }, index) => {
    const value = given[index];
    if (choices === undefined || value === undefined || choices.includes(value)) return;
    throw usageError(`<${name}> must be one of ${choices.join(', ')}.`, seeHelp(command));
  });
}

function seeHelp({ name }: Syntax): string {
  return `See \`heliograph help ${name}\`.`;
}

function createValues(given: readonly string[], values: Parsed): Values {
  return {
    arguments: given,
    text: (name) => {
      const value = values[name];
      return typeof value === 'string' ? value : undefined;
    },
    texts: (name) => {
      const value = values[name];
      return Array.isArray(value) ? value.map(String) : [];
    },
    flag: (name) => values[name] === true,
  };
}
