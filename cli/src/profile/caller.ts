import { Heliograph, type HeliographOptions } from '../../../sdk/src/index.ts';
import type { Environment } from '../process/environment.ts';
import { noCredentials, usageError } from '../process/exit.ts';
import type { Values } from '../syntax/values.ts';
import type { Prompt } from '../terminal/prompt.ts';
import { userAgent } from '../version.ts';
import { realmOf } from './sandbox-file.ts';
import { findTarget, type Target } from './target.ts';

export type Api = 'sms' | 'verify' | 'messaging';

/** A secret, and where it was found. */
export interface Found {
  value: string;
  found: string;
}

/** The service of this call, and the credentials for it. */
export interface Caller {
  target(): Target;
  /** Undefined if there is none. */
  findApiKey(): Promise<Found | undefined>;
  requireApiKey(): Promise<Found>;
  findClient(): (Found & { clientId: string }) | undefined;
  /** The client with the credentials for these APIs. */
  clientFor(...apis: Api[]): Promise<Heliograph>;
  /** The demo application of this folder's sandbox. */
  sandboxApplication(): DemoApplication | undefined;
}

type DemoApplication = NonNullable<Target['sandbox']>['applications'][number];

export function createCaller(values: Values, environment: Environment, prompt: Prompt): Caller {
  let target: Target | undefined;
  let key: Promise<Found | undefined> | undefined;
  const caller: Caller = {
    target: () => {
      target ??= findTarget(values, environment);
      return target;
    },

    sandboxApplication: () => {
      const { sandbox, profile } = caller.target();
      const wanted = values.text('app') ?? profile?.application_id;
      const found = sandbox?.applications.find(
        ({ application_id, plan }) => wanted === undefined || wanted === application_id || wanted === plan,
      );
      // An application that is not a demo has its own keys.
      return found;
    },

    findApiKey: () => {
      key ??= findApiKey();
      return key;
    },

    requireApiKey: async () => {
      const found = await caller.findApiKey();
      if (found === undefined) throw noApiKey(caller.target());
      return found;
    },

    findClient: () => {
      const [clientId, clientSecret] = ['HELIOGRAPH_CLIENT_ID', 'HELIOGRAPH_CLIENT_SECRET'].map(environment.read);
      if ((clientId === undefined) !== (clientSecret === undefined))
        throw usageError('HELIOGRAPH_CLIENT_ID and HELIOGRAPH_CLIENT_SECRET are both needed: set both.');
      if (clientId !== undefined && clientSecret !== undefined) {
        refuseInFolder('HELIOGRAPH_CLIENT_SECRET', ({ client_secret }) => client_secret === clientSecret);
        return { clientId, value: clientSecret, found: 'HELIOGRAPH_CLIENT_SECRET' };
      }
      const { profile } = caller.target();
      if (profile?.client_id !== undefined && profile.client_secret !== undefined && isOfWantedApplication())
        return { clientId: profile.client_id, value: profile.client_secret, found: `the profile ${profile.name}` };
      const demo = caller.sandboxApplication();
      if (demo === undefined) return undefined;
      return { clientId: demo.client_id, value: demo.client_secret, found: 'the sandbox of this folder' };
    },

    clientFor: async (...apis) => {
      const { url, profile, sandbox } = caller.target();
      const apiKey = apis.includes('sms') ? (await caller.requireApiKey()).value : undefined;
      const byToken = apis.some((api) => api !== 'sms');
      const client = byToken ? caller.findClient() : undefined;
      if (byToken && client === undefined) throw noClient(caller.target(), apis);
      const realm =
        environment.read('HELIOGRAPH_REALM') ?? profile?.realm ?? (sandbox && realmOf(sandbox.token_url)) ?? undefined;
      return createClient({
        baseUrl: url,
        userAgent,
        apiKey,
        clientId: client?.clientId,
        clientSecret: client?.value,
        realm,
      });
    },
  };
  return caller;

  /** The profile's keys are only for its own application, so another --app must not use them. */
  function isOfWantedApplication(): boolean {
    const wanted = values.text('app');
    return wanted === undefined || wanted === caller.target().profile?.application_id;
  }

  /** A folder can come from others, so its file must not decide where secrets of the environment are sent. */
  function refuseInFolder(name: string, isItsOwn: (application: DemoApplication) => boolean): void {
    const { url, found, sandbox } = caller.target();
    if (found !== 'in the sandbox of this folder' || sandbox?.applications.some(isItsOwn)) return;
    throw usageError(
      `${name} is set, and the address ${url} comes from the sandbox of this folder. They may belong to different services.`,
      `Set the address for ${name} (--url or HELIOGRAPH_URL), or unset ${name} to use the sandbox's credentials.`,
    );
  }

  async function findApiKey(): Promise<Found | undefined> {
    const option = values.text('api-key');
    if (option === '-') return { value: (await prompt.readPiped('API key', 4096)).trim(), found: 'stdin' };
    if (option !== undefined) return { value: option, found: '--api-key' };
    const variable = environment.read('HELIOGRAPH_API_KEY');
    if (variable !== undefined) {
      refuseInFolder('HELIOGRAPH_API_KEY', ({ api_key }) => api_key === variable);
      return { value: variable, found: 'HELIOGRAPH_API_KEY' };
    }
    const { profile } = caller.target();
    if (profile?.api_key !== undefined && isOfWantedApplication())
      return { value: profile.api_key, found: `the profile ${profile.name}` };
    const demo = caller.sandboxApplication();
    return demo === undefined ? undefined : { value: demo.api_key, found: 'the sandbox of this folder' };
  }
}

/** The client refuses values that are invalid in a header, such as a key with a line break. */
function createClient(options: HeliographOptions): Heliograph {
  try {
    return new Heliograph(options);
  } catch (error) {
    if (error instanceof TypeError) throw usageError(`This is not a credential: ${error.message}`);
    throw error;
  }
}

function noApiKey(target: Target): Error {
  return noCredentials(
    `No API key for the SMS Messaging API of ${target.url}.`,
    ...(target.profile?.session === undefined
      ? ['Run `heliograph login`, then `heliograph keys create`,']
      : ['Run `heliograph keys create`,']),
    'or set HELIOGRAPH_API_KEY. In the folder of a local sandbox you need neither.',
  );
}

function noClient({ url, profile }: Target, apis: readonly Api[]): Error {
  const names = { sms: 'SMS Messaging API', verify: 'Verification API', messaging: 'Messaging API' };
  const wanted = apis.filter((api) => api !== 'sms').map((api) => names[api]);
  return noCredentials(
    `No client id and secret for the ${wanted.join(' and the ')} of ${url}.`,
    ...(profile?.session === undefined
      ? ['Run `heliograph login`, then `heliograph keys create --client`,']
      : ['Run `heliograph keys create --client`,']),
    'or set HELIOGRAPH_CLIENT_ID and HELIOGRAPH_CLIENT_SECRET.',
  );
}
