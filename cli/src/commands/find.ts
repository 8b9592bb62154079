import type { Found } from '../../../src/portal/find/found.ts';
import type { Command } from '../command/command.ts';
import { exit, usageError } from '../process/exit.ts';
import { createFinder } from '../service/finder.ts';
import { openSession } from '../service/session.ts';
import type { Option } from '../syntax/option.ts';
import { dim, type Text } from '../terminal/text.ts';
import { clockTime, stateText } from '../views/message.ts';

export const operatorOption: Option = {
  name: 'operator',
  summary: 'Search in all accounts, which is the default for operators',
};

export const longestSearch = 128;

export const find: Command = {
  name: 'find',
  topic: 'account',
  summary: 'Find texts, verifications, requests and applications by number, id or name',
  more: [
    'Operators search in all accounts, with masked numbers, and find emails and the ids of carriers too. The exit code is 1 if nothing is found.',
  ],
  arguments: [{ name: 'anything', many: true, summary: 'A number, an id like req_01… or msg_01…, or part of a name' }],
  options: [
    { name: 'limit', value: '<count>', summary: 'Show at most this many records of a number; default 20' },
    operatorOption,
  ],
  examples: [{ summary: 'Everything about a number', line: 'heliograph find +44 7700 900123' }],
  async run(call) {
    const { output, values } = call;
    const text = readText(values.arguments);
    const limit = Number(values.text('limit') ?? 20);
    if (!Number.isInteger(limit) || limit < 1 || limit > 100) throw usageError('--limit must be from 1 to 100.');
    const finder = await createFinder(openSession(call), values.flag('operator'));
    const page = await finder.find(text, limit);
    if (output.isJson) output.json(page);
    else show(page.data);
    if (page.indexing.length > 0 && !output.isJson)
      output.say(dim(`Not searched yet, their index is being built: the weeks from ${page.indexing.join(', ')}`));
    return page.data.length === 0 ? exit.failed : exit.done;

    function show(found: Found[]): void {
      output.table([...columns], found.map(rowOf));
      if (found.length === 0) output.say('Nothing found.');
      else output.say(dim('heliograph trace <id> shows what happened to one.'));
    }
  },
};

const columns = [
  { title: 'What' },
  { title: 'Id' },
  { title: 'Number or name', flexible: true },
  { title: 'Status' },
  { title: 'Application', flexible: true, optional: 1 },
  { title: 'Time', optional: 2 },
] as const;

function rowOf({ type, id, name, to, status, application_name, at }: Found): Text[] {
  return [type, id, name ?? to ?? '', status === null ? '' : stateText(status), application_name ?? '', clockTime(at)];
}

/** A number may be given in several words. */
export function readText(given: readonly string[]): string {
  const text = given.join(' ');
  if (text.trim() === '' || text.length > longestSearch)
    throw usageError(`Give a number, an id or a name of at most ${longestSearch} characters.`);
  return text;
}
