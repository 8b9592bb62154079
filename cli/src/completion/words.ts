import type { Command } from '../command/command.ts';
import type { Option } from '../syntax/option.ts';
import { sharedOptions } from '../syntax/shared-options.ts';

/** The words that can follow the first words of a command. */
export interface Group {
  /** `verify`, or empty for the first word. */
  after: string;
  words: { word: string; summary: string }[];
}

/** The first words, then the second words of each first one. */
export function wordGroups(commands: readonly Command[]): Group[] {
  const firsts = new Map<string, string>();
  const seconds = new Map<string, Group['words']>();
  for (const { name, isDefault, summary } of commands) {
    const [first = '', second] = name.split(' ');
    if (!firsts.has(first) || second === undefined || isDefault) firsts.set(first, summary);
    if (second === undefined) continue;
    seconds.set(first, [...(seconds.get(first) ?? []), { word: second, summary }]);
  }
  return [
    { after: '', words: [...firsts].map(([word, summary]) => ({ word, summary })) },
    ...[...seconds].map(([after, words]) => ({ after, words })),
  ];
}

/** The options of a command, shared ones included. */
export function optionsOf({ options, takesAll }: Command): readonly Option[] {
  return takesAll ? options : [...options, ...sharedOptions];
}

/** All names of a command: `apps` is `apps list`. */
export function namesOf({ name, isDefault }: Command): string[] {
  return isDefault ? [name, name.split(' ')[0] ?? name] : [name];
}

/** The choices of an argument. */
export function choicesOf({ arguments: args }: Command): readonly string[] {
  return args[0]?.choices ?? [];
}

/** The options of all commands that take a value. */
export function optionsWithValue(commands: readonly Command[]): string[] {
  const all = commands.flatMap(optionsOf).flatMap(({ name, short, value }) => {
    if (value === undefined) return [];
    return [`--${name}`, ...(short === undefined ? [] : [`-${short}`])];
  });
  return [...new Set(all)];
}
