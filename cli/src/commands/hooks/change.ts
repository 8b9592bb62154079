import type { HookDetailRecord, NewHookSecretRecord } from '../../../../src/portal/developer/hook-record.ts';
import type { Command } from '../../command/command.ts';
import { exit, usageError } from '../../process/exit.ts';
import { overlapOption, readOverlap } from '../../syntax/overlap.ts';
import { bold, green, yellow } from '../../terminal/text.ts';
import { fieldOptions, findHook, hookArgument, keyOption, printSettings, readFields, readKey } from './hook.ts';

export const editHook: Command = {
  name: 'hooks edit',
  topic: 'account',
  summary: 'Change the sender, language or pointers of a hook',
  more: ['An empty value takes a field away.'],
  arguments: [hookArgument],
  options: fieldOptions,
  examples: [
    { summary: 'Another language', line: 'heliograph hooks edit supabase --locale fr' },
    { summary: 'No sender', line: 'heliograph hooks edit kratos --from ""' },
  ],
  async run(call) {
    const { output } = call;
    // Check the options before the hook is read.
    if (Object.keys(readFields(call)).length === 0)
      throw usageError('Nothing to change: give --from, --locale or --pointer.');
    const { session, hook, hookPath } = await findHook(call);
    const body = readFields(call, hook.pointers);
    const changed = await session.call<HookDetailRecord>('PATCH', hookPath, { body });
    if (output.isJson) output.json(changed);
    else output.say([green('✓ '), `${changed.id} is changed.`]);
    return exit.done;
  },
};

export const rotateHook: Command = {
  name: 'hooks rotate',
  topic: 'account',
  summary: 'Create a new secret for a hook; older ones expire after --overlap',
  arguments: [hookArgument],
  options: [overlapOption, keyOption],
  examples: [
    { summary: 'Allow a day to replace the secret', line: 'heliograph hooks rotate supabase --overlap 1d' },
    { summary: 'The secret has leaked', line: 'heliograph hooks rotate supabase --overlap 0' },
  ],
  async run(call) {
    const { output } = call;
    const seconds = readOverlap(call.values);
    const { session, hook, hookPath } = await findHook(call);
    const given = hook.kind === 'zitadel' ? await readKey(call) : call.values.text('signing-key');
    const body = { overlap_seconds: seconds, ...(given !== undefined && { secret: given }) };
    const made = await session.call<NewHookSecretRecord>('POST', `${hookPath}/secrets`, { body });
    if (output.isJson) {
      output.json(made);
      return exit.done;
    }
    if (made.secret === null) {
      output.say([green('✓ '), 'The new signing key is in force.']);
      return exit.done;
    }
    output.print(['Secret  ', bold(made.secret)]);
    printSettings(call, { ...made, kind: hook.kind });
    output.say(yellow('The secret will not be shown again.'));
    return exit.done;
  },
};

export const deleteHook: Command = {
  name: 'hooks delete',
  topic: 'account',
  summary: 'Delete a hook; its calls get a 404 at once',
  arguments: [hookArgument],
  options: [{ name: 'yes', short: 'y', summary: 'Do not ask for confirmation' }],
  examples: [{ summary: 'In a script', line: 'heliograph hooks delete supabase --yes' }],
  async run(call) {
    const { output, prompt, values } = call;
    const { session, hook, hookPath } = await findHook(call);
    if (!values.flag('yes')) {
      const effect = `Codes of ${hook.kind} will no longer be sent.`;
      if (!prompt.canAsk()) throw usageError(`${effect} Confirm with --yes.`);
      if (!(await prompt.confirm(`${effect} Delete it?`))) return exit.failed;
    }
    await session.call('DELETE', hookPath);
    if (output.isJson) output.json({ id: hook.id, deleted: true });
    else output.say([green('✓ '), `${hook.id} is deleted.`]);
    return exit.done;
  },
};
