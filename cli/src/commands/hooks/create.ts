import type { NewHookRecord } from '../../../../src/portal/developer/hook-record.ts';
import type { Command } from '../../command/command.ts';
import { exit, usageError } from '../../process/exit.ts';
import { openApplication } from '../../service/application.ts';
import { bold, dim, green, yellow } from '../../terminal/text.ts';
import { fieldOptions, hookKinds, keyOption, printSettings, readFields, readKey } from './hook.ts';

export const createHook: Command = {
  name: 'hooks create',
  topic: 'account',
  summary: 'Create a hook for an identity server, and show what to paste there',
  more: [
    'The server makes the codes and posts them to the hook. The secret is shown once.',
    'ZITADEL makes its signing key itself: add an HTTP SMS provider there first, with any endpoint. Any other server is generic, with --pointer.',
  ],
  arguments: [{ name: 'server', summary: 'Which server', choices: hookKinds }],
  options: [...fieldOptions, keyOption],
  examples: [
    { summary: 'For Supabase Auth, with German texts', line: 'heliograph hooks create supabase --locale de' },
    {
      summary: 'For ZITADEL, with its key on stdin',
      line: 'heliograph hooks create zitadel --signing-key - < key.txt',
    },
    {
      summary: 'For a server with a payload of its own',
      line: 'heliograph hooks create generic --pointer to=/phone --pointer code=/otp',
    },
  ],
  async run(call) {
    const { output, values } = call;
    const [kind = ''] = values.arguments;
    const makesOwn = kind === 'zitadel';
    if (!makesOwn && values.text('signing-key') !== undefined)
      throw usageError(`--signing-key is for zitadel: ${kind} gets a secret of ours.`);
    const fields = readFields(call);
    const opened = await openApplication(call);
    const secret = makesOwn ? await readKey(call) : undefined;
    const body = { kind, ...fields, ...(secret !== undefined && { secret }) };
    const made = await opened.session.call<NewHookRecord>('POST', `${opened.path}/hooks`, { body });
    if (output.isJson) {
      output.json(made);
      return exit.done;
    }
    output.print([green('✓ '), bold(made.kind), `  ${made.id}`]);
    if (made.secret !== null) output.print(['Secret  ', bold(made.secret)]);
    printSettings(call, made);
    if (made.secret !== null) output.say(yellow('The secret will not be shown again.'));
    output.say(dim(`Next: heliograph hooks test ${made.id} +447700900123`));
    return exit.done;
  },
};
