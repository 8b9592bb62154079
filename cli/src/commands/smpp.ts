import type { NewSmppAccountRecord, SmppAccountRecord } from '../../../src/portal/developer/smpp/account-record.ts';
import type { OperatorSmppBindRecord } from '../../../src/portal/operator/smpp-bind-api.ts';
import type { Call, Command } from '../command/command.ts';
import { exit, usageError } from '../process/exit.ts';
import { openApplication } from '../service/application.ts';
import { overlapOption, readOverlap } from '../syntax/overlap.ts';
import { bold, dim, green, type Text, yellow } from '../terminal/text.ts';
import { clockTime } from '../views/message.ts';
import { asOperator } from './carriers.ts';

const accountArgument = { name: 'account', summary: 'The id of the SMPP account, or its system_id' };

export const listSmpp: Command = {
  name: 'smpp list',
  isDefault: true,
  topic: 'account',
  summary: 'List the SMPP accounts of the application with their binds and what was refused',
  arguments: [],
  options: [],
  examples: [{ summary: 'Is my gateway bound?', line: 'heliograph smpp' }],
  async run(call) {
    const { output } = call;
    const data = await readAccounts(call);
    if (output.isJson) {
      output.json({ data });
      return exit.done;
    }
    if (data.length === 0) output.say(dim('No SMPP accounts. `heliograph smpp create` makes one.'));
    for (const account of data) showAccount(call, account);
    return exit.done;
  },
};

export const createSmpp: Command = {
  name: 'smpp create',
  topic: 'account',
  summary: 'Create an SMPP account; the password is shown once',
  arguments: [],
  options: [
    { name: 'binds', value: '<number>', summary: 'How many binds it may have at a time (default 2)' },
    { name: 'address', value: '<cidr>', many: true, summary: 'Where it may bind from; give it once for each' },
  ],
  examples: [{ summary: 'For one gateway', line: 'heliograph smpp create --address 203.0.113.0/28' }],
  async run(call) {
    const { session, path } = await openApplication(call);
    const binds = call.values.text('binds');
    const addresses = [...call.values.texts('address')];
    const body = { addresses, ...(binds !== undefined && { binds: Number(binds) }) };
    showNew(call, await session.call<NewSmppAccountRecord>('POST', `${path}/smpp-accounts`, { body }));
    return exit.done;
  },
};

export const rotateSmpp: Command = {
  name: 'smpp rotate',
  topic: 'account',
  summary: 'Create a new password for an SMPP account; older ones expire after --overlap',
  arguments: [accountArgument],
  options: [overlapOption],
  examples: [{ summary: 'Allow a day to replace it', line: 'heliograph smpp rotate hg0c4k1x9a2pmv7 --overlap 1d' }],
  async run(call) {
    const body = { overlap_seconds: readOverlap(call.values) };
    const { session, path } = await openApplication(call);
    const { id } = await findAccount(call);
    const made = await session.call<NewSmppAccountRecord>('POST', `${path}/smpp-accounts/${id}/passwords`, { body });
    showNew(call, made);
    return exit.done;
  },
};

export const deleteSmpp: Command = {
  name: 'smpp delete',
  topic: 'account',
  summary: 'Delete an SMPP account; its binds end at once',
  arguments: [accountArgument],
  options: [{ name: 'yes', short: 'y', summary: 'Do not ask for confirmation' }],
  examples: [{ summary: 'In a script', line: 'heliograph smpp delete hg0c4k1x9a2pmv7 --yes' }],
  async run(call) {
    const { output, prompt, values } = call;
    const { session, path } = await openApplication(call);
    const account = await findAccount(call);
    if (!values.flag('yes')) {
      const effect = `The programs bound as ${account.system_id} are cut off.`;
      if (!prompt.canAsk()) throw usageError(`${effect} Confirm with --yes.`);
      if (!(await prompt.confirm(`${effect} Delete the account?`))) return exit.failed;
    }
    await session.call('DELETE', `${path}/smpp-accounts/${account.id}`);
    if (output.isJson) output.json({ id: account.id, deleted: true });
    else output.say([green('✓ '), 'The account is deleted.']);
    return exit.done;
  },
};

export const listSmppBinds: Command = {
  name: 'smpp binds',
  topic: 'operator',
  summary: 'List the programs that are bound by SMPP now, on all nodes',
  arguments: [],
  options: [],
  examples: [{ summary: 'Who is bound?', line: 'heliograph smpp binds' }],
  async run(call) {
    const { output } = call;
    const { data } = await asOperator(
      (session) =>
        session.call<{ data: OperatorSmppBindRecord[] }>('GET', '/portal/v1/operator/smpp-binds', {
          query: { limit: 100 },
        }),
      call,
    );
    if (output.isJson) {
      output.json({ data });
      return exit.done;
    }
    output.table(
      [
        { title: 'Application' },
        { title: 'Account' },
        { title: 'Kind' },
        { title: 'From', optional: 2 },
        { title: 'Since', optional: 1 },
        { title: 'Last minute' },
        { title: 'Submitted' },
      ],
      data.map((bind) => [
        bold(bind.application_name),
        bind.system_id,
        bind.mode,
        bind.address,
        clockTime(bind.bound_at),
        String(bind.per_minute),
        String(bind.submits),
      ]),
    );
    return exit.done;
  },
};

async function readAccounts(call: Call): Promise<SmppAccountRecord[]> {
  const { session, path } = await openApplication(call);
  return (await session.call<{ data: SmppAccountRecord[] }>('GET', `${path}/smpp-accounts`)).data;
}

async function findAccount(call: Call): Promise<SmppAccountRecord> {
  const given = call.values.arguments[0] ?? '';
  const found = (await readAccounts(call)).find(({ id, system_id }) => id === given || system_id === given);
  if (found === undefined) throw usageError(`The application has no SMPP account ${given}.`);
  return found;
}

function showNew(call: Call, made: NewSmppAccountRecord): void {
  const { output } = call;
  if (output.isJson) {
    output.json(made);
    return;
  }
  for (const line of settingsOf(made)) output.print(line);
  output.print(['Password    ', bold(made.password)]);
  output.say(yellow('The password will not be shown again.'));
}

function settingsOf({ system_id, settings }: SmppAccountRecord): Text[] {
  const { host, port, tls_port } = settings;
  return [
    ['Host        ', host],
    ...(tls_port === null ? [] : [['Port (TLS)  ', String(tls_port)]]),
    ...(port === null ? [] : [['Port        ', String(port)]]),
    ['System id   ', system_id],
  ];
}

function showAccount({ output }: Call, account: SmppAccountRecord): void {
  const { system_id, bound, binds, waiting, problems } = account;
  output.print([bold(system_id), `  ${bound.length} of ${binds} binds, ${waiting.count} receipts wait`]);
  for (const { mode, address, tls, bound_at, submits, per_minute } of bound)
    output.print(
      `  ${mode} from ${address}${tls ? ' by TLS' : ''} since ${clockTime(bound_at)}: ${submits} submits, ${per_minute} in the last minute`,
    );
  for (const { at, command, status_name, why } of problems.slice(0, 5))
    output.print(dim(`  ${clockTime(at)} ${command} ${status_name}: ${why}`));
}
