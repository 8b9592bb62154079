import { HeliographError } from '../../../sdk/src/index.ts';
import type { AccountRecord } from '../../../src/accounts/account-record.ts';
import type { Call, Command } from '../command/command.ts';
import { CommandError, exit } from '../process/exit.ts';
import { openSession } from '../service/session.ts';
import { bold, dim, type Text } from '../terminal/text.ts';

export const whoami: Command = {
  name: 'whoami',
  topic: 'begin',
  summary: 'Show which service, account, application and credentials are used',
  more: ['Only the last four characters of secrets are shown. The exit code is 3 if there is no credential.'],
  arguments: [],
  options: [],
  examples: [{ summary: 'Check before you send', line: 'heliograph whoami' }],
  async run(call) {
    const { caller, output } = call;
    const { url, found, profile } = caller.target();
    const account = await findAccount(call);
    const key = await caller.findApiKey();
    const client = caller.findClient();
    const demo = caller.sandboxApplication();
    const facts = {
      url,
      url_found: found,
      profile: profile?.name ?? null,
      email: account?.email ?? null,
      operator: account?.operator ?? false,
      application_id: call.values.text('app') ?? profile?.application_id ?? demo?.application_id ?? null,
      api_key: key === undefined ? null : { ends: endOf(key.value), found: key.found },
      client:
        client === undefined ? null : { client_id: client.clientId, ends: endOf(client.value), found: client.found },
    };
    if (output.isJson) output.json(facts);
    else for (const line of linesOf(facts)) output.print(line);
    const isAnyone = facts.email !== null || facts.api_key !== null || facts.client !== null;
    if (!isAnyone)
      output.say('No credentials. Run `heliograph login`, or `heliograph start` for a sandbox in this folder.');
    return isAnyone ? exit.done : exit.noCredentials;
  },
};

/** Undefined when signed out, which is no error here. */
async function findAccount(call: Call): Promise<AccountRecord | undefined> {
  try {
    return await openSession(call).call<AccountRecord>('GET', '/portal/v1/me');
  } catch (error) {
    const isSignedOut =
      (error instanceof CommandError && error.exitCode === exit.noCredentials) ||
      (error instanceof HeliographError && error.status === 401);
    if (isSignedOut) return undefined;
    throw error;
  }
}

interface Facts {
  url: string;
  url_found: string;
  profile: string | null;
  email: string | null;
  operator: boolean;
  application_id: string | null;
  api_key: { ends: string; found: string } | null;
  client: { client_id: string; ends: string; found: string } | null;
}

function linesOf(facts: Facts): Text[] {
  const { url, email, api_key: key, client } = facts;
  const row = (name: string, value: Text, more = ''): Text => [
    dim(name.padEnd(14)),
    value,
    more === '' ? '' : dim(`  ${more}`),
  ];
  return [
    row('Service', bold(url), facts.url_found),
    row('Profile', facts.profile ?? '–'),
    row('Account', email ?? 'not signed in', email !== null && facts.operator ? 'operator' : ''),
    row('Application', facts.application_id ?? '–'),
    row('API key', key === null ? '–' : `…${key.ends}`, key === null ? '' : `from ${key.found}`),
    row('Client', client?.client_id ?? '–', client === null ? '' : `secret …${client.ends}, from ${client.found}`),
  ];
}

function endOf(secret: string): string {
  return secret.length < 16 ? '' : secret.slice(-4);
}
