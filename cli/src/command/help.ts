import type { Argument, Option } from '../syntax/option.ts';
import { sharedOptions } from '../syntax/shared-options.ts';
import { bold, cyan, dim, pad, type Text, textWidth, wrap } from '../terminal/text.ts';
import { type Command, type Topic, topics } from './command.ts';

const indent = '  ';

/** All commands by topic. */
export function overview(commands: readonly Command[], columns: number): Text[] {
  const widest = Math.max(...commands.map(({ name }) => name.length)) + 2;
  const topicLines = (Object.keys(topics) as Topic[]).flatMap((topic) => [
    '',
    bold(topics[topic]),
    ...commands
      .filter((command) => command.topic === topic)
      .flatMap(({ name, summary }) => row(cyan(name), summary, widest, columns)),
  ]);
  return [
    ...wrap('Heliograph verifies phone numbers and sends texts. This is its command line.', columns),
    '',
    [bold('Usage'), '  heliograph <command> [options]'],
    ...topicLines,
    '',
    ...wrap(
      '`heliograph help <command>` explains a command, with examples. With --json, every result is JSON.',
      columns,
    ),
    ...wrap(
      'Exit codes: 0 done, 1 refused or failed, 2 wrong usage, 3 no credentials, 4 no connection, 5 limited, 130 interrupted.',
      columns,
    ),
  ];
}

/** Everything about one command. */
export function helpOf(command: Command, columns: number): Text[] {
  const { summary, more = [], arguments: args, options, examples, takesAll } = command;
  const rows = [...args.map(argumentRow), ...options.map(optionRow)];
  const widest = Math.min(28, Math.max(0, ...rows.map(([left]) => left.length)) + 2);
  const shared = sharedOptions.map(optionRow);
  return [
    ...wrap(`${summary}.`, columns),
    '',
    [bold('Usage'), `  ${usageOf(command)}`],
    ...more.flatMap((paragraph) => ['', ...wrap(paragraph, columns)]),
    ...(rows.length === 0 ? [] : ['', bold('Arguments and options')]),
    ...rows.flatMap(([left, right]) => row(cyan(left), right, widest, columns)),
    ...(examples.length === 0 ? [] : ['', bold('Examples')]),
    ...examples.flatMap(({ summary: says, line }) => [
      ...wrap(`# ${says}`, columns - indent.length).map((each) => [indent, dim(each)]),
      [indent, line],
    ]),
    ...(takesAll ? [] : ['', bold('Every command takes')]),
    ...(takesAll ? [] : shared.flatMap(([left, right]) => row(cyan(left), right, 24, columns))),
  ];
}

/** The syntax of a command: `heliograph send <to>… [message] [options]`. */
export function usageOf({ name, arguments: args, options, takesAll }: Command): string {
  const words = args.map(({ name: argument, optional, many }) => {
    const word = `${optional ? `[${argument}]` : `<${argument}>`}${many ? '…' : ''}`;
    return word;
  });
  return ['heliograph', name, ...words, ...(options.length > 0 || !takesAll ? ['[options]'] : [])].join(' ');
}

export function optionRow({ name, short, value, summary, choices, many }: Option): [string, string] {
  const left = `${short === undefined ? '' : `-${short}, `}--${name}${value === undefined ? '' : ` ${value}`}`;
  return [left, `${withChoices(summary, choices)}${many ? '; can be repeated' : ''}`];
}

export function argumentRow({ name, summary, choices }: Argument): [string, string] {
  return [`<${name}>`, withChoices(summary, choices)];
}

function withChoices(summary: string, choices: readonly string[] | undefined): string {
  return choices === undefined ? summary : `${summary} (${choices.join(', ')})`;
}

/** Two columns, or two lines if the terminal is narrow. */
function row(left: Text, right: string, widest: number, columns: number): Text[] {
  const room = columns - indent.length - widest;
  const below = textWidth(left) >= widest || room < 24;
  const [first = '', ...rest] = wrap(right, below ? columns - 6 : room);
  const margin = ' '.repeat(below ? 6 : indent.length + widest);
  return [
    ...(below
      ? [
          [indent, left],
          [margin, first],
        ]
      : [[indent, pad(left, widest), first]]),
    ...rest.map((line): Text => [margin, line]),
  ];
}
