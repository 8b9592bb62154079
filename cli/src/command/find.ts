import { usageError } from '../process/exit.ts';
import { nearest } from '../syntax/nearest.ts';
import { sharedOptions } from '../syntax/shared-options.ts';
import type { Command } from './command.ts';

export interface FoundCommand {
  command: Command;
  /** What was written besides its name. */
  args: string[];
}

/** The command that the words name. Shared options may stand before it. Undefined if there is no word at all. */
export function findCommand(commands: readonly Command[], written: readonly string[]): FoundCommand | undefined {
  // `carriers --local` is another command than `carriers`.
  const byOption = commands.find(({ name }) => name.includes(' --') && name === written.slice(0, 2).join(' '));
  if (byOption !== undefined) return { command: byOption, args: written.slice(2) };
  const places = wordPlaces(written);
  const [first, second] = places.map((place) => written[place] ?? '');
  if (first === undefined) return undefined;
  const byTwo = commands.find(({ name }) => second !== undefined && name === `${first} ${second}`);
  if (byTwo !== undefined) return { command: byTwo, args: without(written, places.slice(0, 2)) };
  const byOne = commands.find(({ name, isDefault }) => name === first || (isDefault && name.startsWith(`${first} `)));
  if (byOne !== undefined) return { command: byOne, args: without(written, places.slice(0, 1)) };
  throw unknownCommand(commands, first, second);
}

/** The places of the first two words that are neither options nor their values. */
function wordPlaces(written: readonly string[]): number[] {
  const places: number[] = [];
  for (let place = 0; place < written.length && places.length < 2; place++) {
    const word = written[place] ?? '';
    if (word === '--') break;
    if (!word.startsWith('-')) places.push(place);
    else if (sharedOptions.some(({ name, value }) => value !== undefined && word === `--${name}`)) place++;
  }
  return places;
}

function without(written: readonly string[], places: readonly number[]): string[] {
  return written.filter((_, place) => !places.includes(place));
}

function unknownCommand(commands: readonly Command[], first: string, second: string | undefined): Error {
  const ofGroup = commands.filter(({ name }) => name.startsWith(`${first} `)).map(({ name }) => name);
  if (ofGroup.length > 0) {
    const meant = ofGroup.map((name) => `\`heliograph ${name}\``).join(', ');
    const problem = second === undefined ? `${first} needs one more word` : `There is no command ${first} ${second}`;
    return usageError(`${problem}: ${meant}.`, `See \`heliograph help ${ofGroup[0]}\`.`);
  }
  const names = [...new Set(commands.flatMap(({ name }) => [name, name.split(' ')[0] ?? name]))];
  const meant = nearest(first, names);
  return usageError(
    `There is no command ${first}.${meant === undefined ? '' : ` Did you mean ${meant}?`}`,
    'See `heliograph help`.',
  );
}
