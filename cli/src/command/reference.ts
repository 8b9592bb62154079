import { sharedOptions } from '../syntax/shared-options.ts';
import { type Command, type Topic, topics } from './command.ts';
import { argumentRow, optionRow, usageOf } from './help.ts';

/** The generated part of docs/command-line.md. */
export function makeReference(commands: readonly Command[]): string {
  return [
    '### Every command takes',
    '',
    ...table(sharedOptions.map(optionRow)),
    '',
    ...(Object.keys(topics) as Topic[]).flatMap((topic) => [
      `### ${topics[topic]}`,
      '',
      ...commands.filter((command) => command.topic === topic).flatMap(section),
    ]),
  ]
    .join('\n')
    .trimEnd();
}

function section(command: Command): string[] {
  const { name, isDefault, summary, more = [], arguments: args, options, examples } = command;
  const rows = [...args.map(argumentRow), ...options.map(optionRow)];
  return [
    `#### heliograph ${name}`,
    '',
    `${summary}.${isDefault ? ` \`heliograph ${name.split(' ')[0]}\` means the same.` : ''}`,
    '',
    ...more.flatMap((paragraph) => [paragraph, '']),
    '```sh',
    usageOf(command),
    '```',
    '',
    ...(rows.length === 0 ? [] : [...table(rows), '']),
    ...(examples.length === 0
      ? []
      : ['```sh', ...examples.flatMap(({ summary: says, line }) => [`# ${says}`, line]), '```', '']),
  ];
}

function table(rows: readonly (readonly [string, string])[]): string[] {
  const cell = (text: string) => text.replaceAll('|', '\\|');
  return [
    '| | |',
    '|---|---|',
    ...rows.map(([left, right]) => `| \`${cell(left)}\` | ${cell(right).replaceAll('<', '&lt;')} |`),
  ];
}
