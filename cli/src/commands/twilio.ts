import { hostOfTwilioNode } from '../../../portal/src/integrations/twilio/node-host.ts';
import { HeliographError } from '../../../sdk/src/index.ts';
import type { NewTwilioAccountRecord, TwilioAccountRecord } from '../../../src/portal/developer/twilio/account-api.ts';
import type { Call, Command } from '../command/command.ts';
import { exit, failure, usageError } from '../process/exit.ts';
import { openApplication } from '../service/application.ts';
import type { Session } from '../service/session.ts';
import { overlapOption, readOverlap } from '../syntax/overlap.ts';
import { bold, dim, green, red, type Text, yellow } from '../terminal/text.ts';
import { clockTime } from '../views/message.ts';

export const createTwilio: Command = {
  name: 'twilio create',
  topic: 'account',
  summary: "Create the credentials for Twilio's library",
  more: [
    "Set the base URL, sids and token in a program that uses Twilio's library: its verifications and messages then go through this service. The token is shown once.",
  ],
  arguments: [],
  options: [],
  examples: [{ summary: 'For the default application', line: 'heliograph twilio create' }],
  async run(call) {
    const { session, path } = await openApplication(call);
    const made = await session.call<NewTwilioAccountRecord>('POST', `${path}/twilio`).catch(explainExisting);
    showNew(call, made);
    return exit.done;
  },
};

export const showTwilio: Command = {
  name: 'twilio show',
  isDefault: true,
  topic: 'account',
  summary: "Show the sids and the base URL for Twilio's library, without the token",
  arguments: [],
  options: [],
  examples: [{ summary: 'What a program needs', line: 'heliograph twilio' }],
  async run(call) {
    const { output } = call;
    const { session, path } = await openApplication(call);
    const account = await readAccount(session, path);
    if (output.isJson) output.json(account);
    else {
      for (const line of linesOf(account)) output.print(line);
      for (const { created_at, ends_at } of account.tokens)
        output.print(['Token                  ', tokenText(created_at, ends_at)]);
      warn(call, account);
    }
    return exit.done;
  },
};

export const rotateTwilio: Command = {
  name: 'twilio rotate',
  topic: 'account',
  summary: "Create a new token for Twilio's library; older ones expire after --overlap",
  more: ['The new token signs the status callbacks at once.'],
  arguments: [],
  options: [overlapOption],
  examples: [{ summary: 'Allow a day to replace the token', line: 'heliograph twilio rotate --overlap 1d' }],
  async run(call) {
    const body = { overlap_seconds: readOverlap(call.values) };
    const { session, path } = await openApplication(call);
    await readAccount(session, path);
    showNew(call, await session.call<NewTwilioAccountRecord>('POST', `${path}/twilio/tokens`, { body }));
    return exit.done;
  },
};

export const deleteTwilio: Command = {
  name: 'twilio delete',
  topic: 'account',
  summary: "Delete the credentials for Twilio's library; its calls get a 401 at once",
  arguments: [],
  options: [{ name: 'yes', short: 'y', summary: 'Do not ask for confirmation' }],
  examples: [{ summary: 'In a script', line: 'heliograph twilio delete --yes' }],
  async run(call) {
    const { output, prompt, values } = call;
    const { session, id, path } = await openApplication(call);
    const account = await readAccount(session, path);
    if (!values.flag('yes')) {
      const effect = `Programs that use ${account.account_sid} fail immediately.`;
      if (!prompt.canAsk()) throw usageError(`${effect} Confirm with --yes.`);
      if (!(await prompt.confirm(`${effect} Delete its tokens?`))) return exit.failed;
    }
    await session.call('DELETE', `${path}/twilio`);
    if (output.isJson) output.json({ application_id: id, deleted: true });
    else output.say([green('✓ '), 'The credentials are deleted.']);
    return exit.done;
  },
};

function explainExisting(error: unknown): never {
  if (!(error instanceof HeliographError) || error.code !== 'ALREADY_EXISTS') throw error;
  throw failure(
    'The application has these credentials already.',
    '`heliograph twilio` shows them, `heliograph twilio rotate` makes a new token.',
  );
}

async function readAccount(session: Session, path: string): Promise<TwilioAccountRecord> {
  try {
    return await session.call<TwilioAccountRecord>('GET', `${path}/twilio`);
  } catch (error) {
    if (!(error instanceof HeliographError) || error.status !== 404) throw error;
    throw failure("The application has no credentials for Twilio's library.", 'Run `heliograph twilio create`.');
  }
}

function showNew(call: Call, made: NewTwilioAccountRecord): void {
  const { output } = call;
  if (output.isJson) {
    output.json(made);
    return;
  }
  for (const line of linesOf(made)) output.print(line);
  output.print(['Auth token             ', bold(made.auth_token)]);
  output.say(yellow('The token will not be shown again.'));
  output.say(dim(`Node: client.verify.baseUrl = client.api.baseUrl = '${made.base_url}';`));
  warn(call, made);
}

function linesOf({ base_url, account_sid, service_sid, messaging_service_sid }: TwilioAccountRecord): Text[] {
  return [
    ['Base URL               ', base_url],
    ['Account SID            ', account_sid],
    ['Verify service SID     ', service_sid],
    ['Messaging service SID  ', messaging_service_sid],
  ];
}

function tokenText(createdAt: string, endsAt: string | null): string {
  return `created ${clockTime(createdAt)}${endsAt === null ? '' : `, until ${clockTime(endsAt)}`}`;
}

/** Warns if twilio-node would send the token to another host. */
function warn({ output }: Call, { base_url }: TwilioAccountRecord): void {
  const { hostname } = new URL(base_url);
  const other = hostOfTwilioNode(hostname);
  if (other !== hostname)
    output.complain([
      red('Do not use twilio-node with this host name: '),
      `it would send calls and the token to ${other}. Set HELIOGRAPH_PUBLIC_URL to a name like sms.example.com.`,
    ]);
}
