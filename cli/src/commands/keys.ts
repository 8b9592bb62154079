import type { ApplicationDetail } from '../../../src/portal/developer/application-api.ts';
import type { ApiKeyRecord, NewApiKeyRecord } from '../../../src/portal/developer/credential-api.ts';
import type { ClientCredential, RegisteredRecord } from '../../../src/portal/developer/registration-api.ts';
import type { Call, Command } from '../command/command.ts';
import { exit, failure, usageError } from '../process/exit.ts';
import { type OpenedApplication, openApplication } from '../service/application.ts';
import type { Option } from '../syntax/option.ts';
import { overlapOption, readOverlap } from '../syntax/overlap.ts';
import { green, yellow } from '../terminal/text.ts';
import { clockTime } from '../views/message.ts';
import { listClientKeys, nameOfClientKey } from './client-keys.ts';
import { handOver, planOption, saveOption } from './new-credential.ts';

const clientOption: Option = {
  name: 'client',
  summary: 'The client id and secret of the Verification and Messaging APIs, instead of the API key',
};

const nameOption: Option = {
  name: 'name',
  value: '<name>',
  summary: 'A name for the API key, 1 to 64 characters',
};

export const listKeys: Command = {
  name: 'keys list',
  isDefault: true,
  topic: 'account',
  summary: 'List the active API keys, client secrets and public keys of an application',
  arguments: [],
  options: [],
  examples: [{ summary: 'Show when each was last used', line: 'heliograph keys' }],
  async run(call) {
    const { session, path } = await openApplication(call);
    const { data: keys } = await session.call<{ data: ApiKeyRecord[] }>('GET', `${path}/keys`);
    const { client } = await session.call<ApplicationDetail>('GET', path);
    const clientKeys = await listClientKeys({ session, path });
    if (call.output.isJson) {
      call.output.json({ keys, client, client_keys: clientKeys });
      return exit.done;
    }
    const when = (time: string | null) => (time === null ? '–' : clockTime(time));
    const rows = [
      ...keys.map((key) => [
        nameOfKey(key),
        key.id,
        when(key.created_at),
        when(key.last_used_at),
        when(key.expires_at),
      ]),
      ...(client?.secrets ?? []).map((secret) => [
        nameOfSecret(secret),
        secret.id,
        when(secret.created_at),
        when(secret.last_used_at),
        when(secret.expires_at),
      ]),
      ...clientKeys.map((key) => [
        nameOfClientKey(key),
        key.id,
        when(key.created_at),
        when(key.last_used_at),
        when(null),
      ]),
    ];
    call.output.table(
      [
        { title: 'Key' },
        { title: 'Id' },
        { title: 'Made', optional: 2 },
        { title: 'Last used', optional: 1 },
        { title: 'Ends' },
      ],
      rows,
    );
    if (rows.length === 0) call.output.say('There are no active keys. Run `heliograph keys create`.');
    return exit.done;
  },
};

export const createKey: Command = {
  name: 'keys create',
  topic: 'account',
  summary: 'Create an API key or a client secret; existing ones keep working',
  more: ['It registers the application for the API if needed. The key is shown once, or saved in your profile.'],
  arguments: [],
  options: [nameOption, clientOption, planOption, saveOption],
  examples: [
    { summary: 'For the SMS Messaging API', line: 'heliograph keys create' },
    { summary: 'Another one, with a name', line: 'heliograph keys create --name "Billing server"' },
    { summary: 'For the Verification and Messaging APIs', line: 'heliograph keys create --client' },
    { summary: 'In a script: saved, not shown', line: 'heliograph keys create --save' },
  ],
  async run(call) {
    const { values } = call;
    if (values.flag('client') && values.text('name') !== undefined)
      throw usageError('--name is for API keys: client secrets have no name.');
    const subject = await openApplication(call);
    return values.flag('client') ? createClient(call, subject) : createApiKey(call, subject);
  },
};

async function createApiKey(call: Call, { session, id, path }: OpenedApplication) {
  const name = call.values.text('name');
  const registered = await register(call, { session, path, id }, 'sms');
  const { credential, ...record } = registered;
  if (credential !== null && name === undefined) await handOver(call, id, credential, record);
  // The key that a registration comes with has no name: replace it.
  else
    await makeApiKey(
      call,
      { session, id, path },
      { name: name ?? null, overlapSeconds: credential === null ? null : 0 },
    );
  sayIfPending(call, [registered]);
  return exit.done;
}

async function createClient(call: Call, { session, id, path }: OpenedApplication) {
  const first = await register(call, { session, path, id }, 'verify');
  const second = await register(call, { session, path, id }, 'messaging');
  const credential = first.credential ?? second.credential;
  if (credential === null) return makeSecret(call, { session, id, path }, null);
  await handOver(call, id, credential, {
    registrations: [first, second].map(({ credential: _, ...record }) => record),
  });
  sayIfPending(call, [first, second]);
  return exit.done;
}

function sayIfPending({ output }: Call, registrations: readonly RegisteredRecord[]): void {
  const pending = registrations.filter(({ status }) => status === 'pending').map(({ api }) => api);
  if (pending.length > 0) output.say(yellow(`An operator must approve ${pending.join(' and ')} first.`));
}

/** An existing registration keeps its plan. */
async function register(
  { values }: Call,
  { session, path }: OpenedApplication,
  api: string,
): Promise<RegisteredRecord> {
  const { data } = await session.call<{ data: RegisteredRecord[] }>('GET', `${path}/registrations`);
  const found = data.find((each) => each.api === api);
  if (found !== undefined) return { ...found, credential: null };
  const body = { api, plan: values.text('plan') ?? 'free' };
  return session.call<RegisteredRecord>('POST', `${path}/registrations`, { body });
}

export const rotateKey: Command = {
  name: 'keys rotate',
  topic: 'account',
  summary: 'Create an API key or client secret; older ones expire after --overlap',
  arguments: [],
  options: [clientOption, overlapOption, saveOption],
  examples: [
    { summary: 'Allow a day to replace the old key', line: 'heliograph keys rotate --overlap 1d' },
    { summary: 'The old key has leaked', line: 'heliograph keys rotate --overlap 0' },
  ],
  async run(call) {
    const subject = await openApplication(call);
    const seconds = readOverlap(call.values);
    return call.values.flag('client')
      ? makeSecret(call, subject, seconds)
      : makeApiKey(call, subject, { name: null, overlapSeconds: seconds });
  },
};

interface Wanted {
  name: string | null;
  /** How long older keys keep working; null leaves them unchanged. */
  overlapSeconds: number | null;
}

async function makeApiKey(call: Call, { session, id, path }: OpenedApplication, { name, overlapSeconds }: Wanted) {
  const body = { name, overlap_seconds: overlapSeconds };
  const { api_key, ...record } = await session.call<NewApiKeyRecord>('POST', `${path}/keys`, { body });
  await handOver(call, id, { type: 'api_key', id: record.id, api_key }, record);
  return exit.done;
}

async function makeSecret(call: Call, { session, id, path }: OpenedApplication, overlapSeconds: number | null) {
  const body = { overlap_seconds: overlapSeconds };
  const credential = await session.call<ClientCredential>('POST', `${path}/client-secrets`, { body });
  await handOver(call, id, credential, {});
  return exit.done;
}

export const revokeKey: Command = {
  name: 'keys revoke',
  topic: 'account',
  summary: 'Revoke an API key, a client secret or a public key immediately',
  more: ['Revoking a client secret or a public key also revokes all tokens of the client.'],
  arguments: [{ name: 'key id', summary: 'Its id; `heliograph keys` shows it' }],
  options: [{ name: 'yes', short: 'y', summary: 'Do not ask for confirmation' }],
  examples: [
    { summary: 'A key that is no longer used', line: 'heliograph keys revoke key_01m7jf89400004ebep147c97t8' },
  ],
  async run(call) {
    const { output, prompt, values } = call;
    const [key = ''] = values.arguments;
    const subject = await openApplication(call);
    const { shown, path } = await findSecret(subject, key);
    if (!values.flag('yes')) {
      const effect = `Anything using ${shown} fails immediately.`;
      if (!prompt.canAsk()) throw usageError(`${effect} Confirm with --yes.`);
      if (!(await prompt.confirm(`${effect} Revoke it?`))) return exit.failed;
    }
    await subject.session.call('DELETE', path);
    if (output.isJson) output.json({ id: key, revoked: true });
    else output.say([green('✓ '), `${key} is revoked.`]);
    return exit.done;
  },
};

/** Finds the secret before asking for confirmation, so that a typing error fails first. */
async function findSecret(
  { session, path, id }: OpenedApplication,
  wanted: string,
): Promise<{ shown: string; path: string }> {
  const { data: keys } = await session.call<{ data: ApiKeyRecord[] }>('GET', `${path}/keys`);
  const key = keys.find((each) => each.id === wanted);
  if (key !== undefined) return { shown: nameOfKey(key), path: `${path}/keys/${encodeURIComponent(wanted)}` };
  const { client } = await session.call<ApplicationDetail>('GET', path);
  const secret = client?.secrets.find((each) => each.id === wanted);
  if (secret === undefined) {
    const publicKey = (await listClientKeys({ session, path })).find((each) => each.id === wanted);
    if (publicKey !== undefined)
      return { shown: nameOfClientKey(publicKey), path: `${path}/client-keys/${encodeURIComponent(wanted)}` };
    throw failure(`The application ${id} has no active key or secret ${wanted}.`, '`heliograph keys` lists them.');
  }
  return { shown: nameOfSecret(secret), path: `${path}/client-secrets/${encodeURIComponent(wanted)}` };
}

function nameOfKey({ name, prefix, last_four }: ApiKeyRecord): string {
  return `${name === null ? '' : `${name} `}${prefix}…${last_four}`;
}

function nameOfSecret({ last_four }: { last_four: string }): string {
  return `client secret …${last_four}`;
}
