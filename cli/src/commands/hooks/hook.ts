import type { HookDetailRecord, HookRecord } from '../../../../src/portal/developer/hook-record.ts';
import type { Call } from '../../command/command.ts';
import { failure, usageError } from '../../process/exit.ts';
import { type OpenedApplication, openApplication } from '../../service/application.ts';
import type { Argument, Option } from '../../syntax/option.ts';
import { bold, dim, type Text } from '../../terminal/text.ts';

export const hookKinds = [
  'supabase',
  'keycloak',
  'auth0',
  'logto',
  'zitadel',
  'authentik',
  'kratos',
  'generic',
] as const;
type Pointers = NonNullable<HookRecord['pointers']>;

export const hookArgument: Argument = {
  name: 'hook',
  summary: 'Its id; or its server, like supabase, if only one has it',
};

export const fieldOptions: readonly Option[] = [
  { name: 'from', value: '<sender>', summary: 'The sender of texts that come without a code' },
  { name: 'locale', value: '<language>', summary: 'The language of codes whose call names none, like de' },
  {
    name: 'pointer',
    value: '<field=path>',
    summary: 'Where the payload has to, code, text, locale or ip, like to=/data/phone',
    many: true,
  },
];

export const keyOption: Option = {
  name: 'signing-key',
  value: '<key>',
  summary: 'The key that ZITADEL made; - reads it from stdin. Other users of this machine can see this option',
};

export interface FoundHook extends OpenedApplication {
  hook: HookDetailRecord;
  /** Its path in the portal's API. */
  hookPath: string;
}

/** The hook that an argument names. */
export async function findHook(call: Call): Promise<FoundHook> {
  const [wanted = ''] = call.values.arguments;
  const opened = await openApplication(call);
  const { data } = await opened.session.call<{ data: HookRecord[] }>('GET', `${opened.path}/hooks`);
  const [found, second] = data.filter(({ id, kind }) => id === wanted || kind === wanted);
  if (found === undefined)
    throw failure(`The application ${opened.id} has no hook ${wanted}.`, '`heliograph hooks` lists them.');
  if (second !== undefined)
    throw usageError(`Several hooks are for ${wanted}: which one?`, '`heliograph hooks` shows ids.');
  const hookPath = `${opened.path}/hooks/${encodeURIComponent(found.id)}`;
  return { ...opened, hookPath, hook: await opened.session.call<HookDetailRecord>('GET', hookPath) };
}

/** The fields that options give; an empty value takes a field away. */
export function readFields({ values }: Call, before: Pointers | null = null) {
  const [from, locale] = ['from', 'locale'].map((name) => values.text(name));
  const given = values.texts('pointer').map(readPointer);
  const pointers = Object.fromEntries(
    Object.entries({ ...before, ...Object.fromEntries(given) }).filter(([, path]) => path !== ''),
  );
  return {
    ...(from !== undefined && { from: from || null }),
    ...(locale !== undefined && { locale: locale || null }),
    ...(given.length > 0 && { pointers: Object.keys(pointers).length === 0 ? null : pointers }),
  };
}

function readPointer(text: string): [string, string] {
  const [, name = '', path = ''] = /^(to|code|text|locale|ip)=(.*)$/.exec(text) ?? [];
  if (name === '') throw usageError('--pointer must be a field and its path, like to=/data/phone.');
  return [name, path];
}

/** Reads the signing key of an identity server that generates its own. */
export async function readKey({ values, prompt }: Call): Promise<string | undefined> {
  const given = values.text('signing-key');
  if (given === '-') return (await prompt.readPiped('signing key', 1024)).trim();
  return given ?? (prompt.canAsk() ? prompt.askSecret('Signing key of the HTTP SMS provider') : undefined);
}

/** What to paste at the server, each value on a line of its own so that it can be copied. */
export function printSettings({ output }: Call, { kind, settings }: Pick<HookDetailRecord, 'kind' | 'settings'>): void {
  const lines = settings.flatMap(({ name, value }): Text[] => [
    ['  ', dim(name)],
    ['    ', value],
  ]);
  if (output.isTerminal) {
    output.print(['Settings at ', bold(kind === 'generic' ? 'your server' : kind)]);
    for (const line of lines) output.print(line);
  } else {
    output.table(
      [],
      settings.map(({ name, value }) => [name, value]),
    );
  }
}
