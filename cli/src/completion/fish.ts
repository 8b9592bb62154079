import type { Command } from '../command/command.ts';
import type { Option } from '../syntax/option.ts';
import { choicesOf, optionsOf, wordGroups } from './words.ts';

/** A script for fish: it contains all commands and starts no program. */
export function fishScript(commands: readonly Command[]): string {
  const groups = wordGroups(commands);
  const second = new Set(groups.map(({ after }) => after));
  return [
    '# Completion of heliograph for fish:  heliograph completion fish > ~/.config/fish/completions/heliograph.fish',
    'complete -c heliograph -e',
    ...groups.flatMap(({ after, words }) =>
      words.map(({ word, summary }) => {
        const when = after === '' ? '__fish_use_subcommand' : `__fish_seen_subcommand_from ${after}`;
        return `complete -c heliograph -f -n '${when}' -a '${word}' -d '${escaped(summary)}'`;
      }),
    ),
    ...commands.flatMap((command) => {
      const [first = '', next] = command.name.split(' ');
      // The first word alone runs the group's default command, so its options are offered too.
      const when = next === undefined || (command.isDefault && second.has(first)) ? [first] : [first, next];
      const condition = when.map((word) => `__fish_seen_subcommand_from ${word}`).join('; and ');
      return [
        ...optionsOf(command).map((option) => `complete -c heliograph -n '${condition}' ${optionSpec(option)}`),
        ...choicesOf(command).map((choice) => `complete -c heliograph -f -n '${condition}' -a '${choice}'`),
      ];
    }),
    '',
  ].join('\n');
}

function optionSpec({ name, short, value, summary, choices }: Option): string {
  return [
    ...(short === undefined ? [] : [`-s ${short}`]),
    `-l ${name}`,
    ...(value === undefined ? [] : ['-r']),
    ...(choices === undefined ? [] : [`-f -a '${choices.join(' ')}'`]),
    `-d '${escaped(summary)}'`,
  ].join(' ');
}

function escaped(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll("'", "\\'");
}
