import { usageError } from '../process/exit.ts';
import { nearest } from '../syntax/nearest.ts';
import { sharedOptions } from '../syntax/shared-options.ts';
import type { Command } from './command.ts';

export interface FoundCommand {
  command: Command;
  /** The words besides its name. */
  args: string[];
}

/** The command that the words name. Shared options may come before it. Undefined without any word. */
export function findCommand(commands: readonly Command[], written: readonly string[]): FoundCommand | undefined {
  // `carriers` and `carriers --local` are different commands.
  const byOption = commands.find(({ name }) => name.includes(' --') && name === written.slice(0, 2).join(' '));
  if (byOption !== undefined) return { command: byOption, args: written.slice(2) };
  const indexes = wordIndexes(written);
  const [first, second] = indexes.map((index) => written[index] ?? '');
  if (first === undefined) return undefined;
  const byTwo = commands.find(({ name }) => second !== undefined && name === `${first} ${second}`);
  if (byTwo !== undefined) return { command: byTwo, args: without(written, indexes.slice(0, 2)) };
  const byOne = commands.find(({ name, isDefault }) => name === first || (isDefault && name.startsWith(`${first} `)));
  if (byOne !== undefined) return { command: byOne, args: without(written, indexes.slice(0, 1)) };
  throw unknownCommand(commands, first, second);
}

/** The indexes of the first two words that are neither options nor their values. */
function wordIndexes(written: readonly string[]): number[] {
  const indexes: number[] = [];
  for (let index = 0; index < written.length && indexes.length < 2; index++) {
    const word = written[index] ?? '';
    if (word === '--') break;
    if (!word.startsWith('-')) indexes.push(index);
    else if (sharedOptions.some(({ name, value }) => value !== undefined && word === `--${name}`)) index++;
  }
  return indexes;
}

function without(written: readonly string[], indexes: readonly number[]): string[] {
  return written.filter((_, index) => !indexes.includes(index));
}

function unknownCommand(commands: readonly Command[], first: string, second: string | undefined): Error {
  const ofGroup = commands.filter(({ name }) => name.startsWith(`${first} `)).map(({ name }) => name);
  if (ofGroup.length > 0) {
    const meant = ofGroup.map((name) => `\`heliograph ${name}\``).join(', ');
    const problem = second === undefined ? `${first} needs a second word` : `There is no command ${first} ${second}`;
    return usageError(`${problem}: ${meant}.`, `See \`heliograph help ${ofGroup[0]}\`.`);
  }
  const names = [...new Set(commands.flatMap(({ name }) => [name, name.split(' ')[0] ?? name]))];
  const meant = nearest(first, names);
  return usageError(
    `There is no command ${first}.${meant === undefined ? '' : ` Did you mean ${meant}?`}`,
    'See `heliograph help`.',
  );
}
