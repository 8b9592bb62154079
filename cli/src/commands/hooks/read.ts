import type { HookCallRecord, HookDetailRecord, HookRecord } from '../../../../src/portal/developer/hook-record.ts';
import type { Command } from '../../command/command.ts';
import { exit } from '../../process/exit.ts';
import { openApplication } from '../../service/application.ts';
import { bold, dim, green, red, type Text } from '../../terminal/text.ts';
import { clockTime } from '../../views/message.ts';
import { findHook, hookArgument, printSettings } from './hook.ts';

export const listHooks: Command = {
  name: 'hooks list',
  isDefault: true,
  topic: 'account',
  summary: 'List the hooks for identity servers',
  arguments: [],
  options: [],
  examples: [{ summary: 'All of an application', line: 'heliograph hooks' }],
  async run(call) {
    const { output } = call;
    const { session, path } = await openApplication(call);
    const { data } = await session.call<{ data: HookRecord[] }>('GET', `${path}/hooks`);
    if (output.isJson) {
      output.json({ data });
      return exit.done;
    }
    output.table(
      [
        { title: 'Server' },
        { title: 'Id' },
        { title: 'Sender' },
        { title: 'Language' },
        { title: 'Made', optional: 1 },
      ],
      data.map(({ kind, id, from, locale, created_at }) => [
        bold(kind),
        id,
        from ?? '–',
        locale ?? '–',
        clockTime(created_at),
      ]),
    );
    if (data.length === 0)
      output.say('There are no hooks. Run `heliograph hooks create supabase`, or for another server.');
    return exit.done;
  },
};

export const showHook: Command = {
  name: 'hooks show',
  topic: 'account',
  summary: 'Show a hook: its address, its settings for the server, and its secrets',
  arguments: [hookArgument],
  options: [],
  examples: [{ summary: 'By its server', line: 'heliograph hooks show supabase' }],
  async run(call) {
    const { output } = call;
    const { hook } = await findHook(call);
    if (output.isJson) {
      output.json(hook);
      return exit.done;
    }
    for (const line of factsOf(hook)) output.print(line);
    printSettings(call, hook);
    return exit.done;
  },
};

function factsOf({ kind, id, url, from, locale, pointers, secrets }: HookDetailRecord): Text[] {
  const ends = secrets.flatMap(({ ends_at }) => ends_at ?? []).toSorted();
  const last = ends.at(-1);
  const until = last === undefined ? '' : `, older ones until ${clockTime(last)}`;
  return [
    [bold(kind), `  ${id}`],
    ['Address   ', url],
    ...(from === null ? [] : [['Sender    ', from]]),
    ...(locale === null ? [] : [['Language  ', locale]]),
    ...Object.entries(pointers ?? {}).map(([name, path]): Text => [name.padEnd(10), path]),
    ['Secrets   ', `${secrets.length} in force${until}`],
  ];
}

export const listHookCalls: Command = {
  name: 'hooks calls',
  topic: 'account',
  summary: 'List the last 50 calls of a hook: what became of each, and why',
  arguments: [hookArgument],
  options: [],
  examples: [{ summary: 'Why no code arrives', line: 'heliograph hooks calls supabase' }],
  async run(call) {
    const { output } = call;
    const { session, hookPath } = await findHook(call);
    const { data } = await session.call<{ data: HookCallRecord[] }>('GET', `${hookPath}/calls`);
    if (output.isJson) {
      output.json({ data });
      return exit.done;
    }
    output.table(
      [{ title: 'Time' }, { title: 'Outcome' }, { title: 'Why', flexible: true }, { title: 'Record', optional: 1 }],
      data.map(({ at, outcome, detail, subject }) => [
        clockTime(at),
        outcomeText(outcome),
        detail ?? '',
        subject === null ? '' : dim(subject),
      ]),
    );
    if (data.length === 0)
      output.say('The hook has not been called yet. Make a test call with `heliograph hooks test`.');
    return exit.done;
  },
};

/** Shows the outcome by its name in the API, because the documents explain these names. */
export function outcomeText(outcome: string): Text {
  if (outcome === 'sent') return green(outcome);
  return outcome === 'repeated' ? outcome : red(outcome);
}
