import { Heliograph, type HeliographOptions } from '../../../sdk/src/index.ts';
import type { Environment } from '../process/environment.ts';
import { noCredentials, usageError } from '../process/exit.ts';
import type { Values } from '../syntax/values.ts';
import type { Prompt } from '../terminal/prompt.ts';
import { userAgent } from '../version.ts';
import { findPlace, type Place } from './place.ts';
import { realmOf } from './sandbox-file.ts';

export type Api = 'sms' | 'verify' | 'messaging';

/** A secret, and where it was found. */
export interface Found {
  value: string;
  found: string;
}

/** Which service this call goes to, and as whom. */
export interface Caller {
  place(): Place;
  /** Undefined if there is none. */
  findApiKey(): Promise<Found | undefined>;
  requireApiKey(): Promise<Found>;
  findClient(): (Found & { clientId: string }) | undefined;
  /** The client with what is needed for these APIs. */
  clientFor(...apis: Api[]): Promise<Heliograph>;
  /** The demo application of this folder's sandbox. */
  sandboxApplication(): DemoApplication | undefined;
}

type DemoApplication = NonNullable<Place['sandbox']>['applications'][number];

export function createCaller(values: Values, environment: Environment, prompt: Prompt): Caller {
  let place: Place | undefined;
  let key: Promise<Found | undefined> | undefined;
  const caller: Caller = {
    place: () => {
      place ??= findPlace(values, environment);
      return place;
    },

    sandboxApplication: () => {
      const { sandbox, profile } = caller.place();
      const wanted = values.text('app') ?? profile?.application_id;
      const found = sandbox?.applications.find(
        ({ application_id, plan }) => wanted === undefined || wanted === application_id || wanted === plan,
      );
      // Another application than the demo ones has keys of its own.
      return found;
    },

    findApiKey: () => {
      key ??= findApiKey();
      return key;
    },

    requireApiKey: async () => {
      const found = await caller.findApiKey();
      if (found === undefined) throw noApiKey(caller.place());
      return found;
    },

    findClient: () => {
      const [clientId, clientSecret] = ['HELIOGRAPH_CLIENT_ID', 'HELIOGRAPH_CLIENT_SECRET'].map(environment.read);
      if ((clientId === undefined) !== (clientSecret === undefined))
        throw usageError('HELIOGRAPH_CLIENT_ID and HELIOGRAPH_CLIENT_SECRET belong together: set both.');
      if (clientId !== undefined && clientSecret !== undefined) {
        refuseInFolder('HELIOGRAPH_CLIENT_SECRET', ({ client_secret }) => client_secret === clientSecret);
        return { clientId, value: clientSecret, found: 'HELIOGRAPH_CLIENT_SECRET' };
      }
      const { profile } = caller.place();
      if (profile?.client_id !== undefined && profile.client_secret !== undefined && isOfWantedApplication())
        return { clientId: profile.client_id, value: profile.client_secret, found: `the profile ${profile.name}` };
      const demo = caller.sandboxApplication();
      if (demo === undefined) return undefined;
      return { clientId: demo.client_id, value: demo.client_secret, found: 'the sandbox of this folder' };
    },

    clientFor: async (...apis) => {
      const { url, profile, sandbox } = caller.place();
      const apiKey = apis.includes('sms') ? (await caller.requireApiKey()).value : undefined;
      const byToken = apis.some((api) => api !== 'sms');
      const client = byToken ? caller.findClient() : undefined;
      if (byToken && client === undefined) throw noClient(caller.place(), apis);
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

  /** With --app, the keys of the profile's own application serve only that one. */
  function isOfWantedApplication(): boolean {
    const wanted = values.text('app');
    return wanted === undefined || wanted === caller.place().profile?.application_id;
  }

  /** A folder can come from others: it does not decide where secrets of the environment go. */
  function refuseInFolder(name: string, isItsOwn: (application: DemoApplication) => boolean): void {
    const { url, found, sandbox } = caller.place();
    if (found !== 'in the sandbox of this folder' || sandbox?.applications.some(isItsOwn)) return;
    throw usageError(
      `${name} is set, and the address ${url} comes from the sandbox of this folder. They may not belong together.`,
      `Give the address that ${name} is for (--url or HELIOGRAPH_URL), or unset ${name} to use the sandbox's own.`,
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
    const { profile } = caller.place();
    if (profile?.api_key !== undefined && isOfWantedApplication())
      return { value: profile.api_key, found: `the profile ${profile.name}` };
    const demo = caller.sandboxApplication();
    return demo === undefined ? undefined : { value: demo.api_key, found: 'the sandbox of this folder' };
  }
}

/** The client refuses what no header can hold, such as a key with a line break. */
function createClient(options: HeliographOptions): Heliograph {
  try {
    return new Heliograph(options);
  } catch (error) {
    if (error instanceof TypeError) throw usageError(`This is not a credential: ${error.message}`);
    throw error;
  }
}

function noApiKey(place: Place): Error {
  return noCredentials(
    `No API key for the SMS Messaging API of ${place.url}.`,
    ...(place.profile?.session === undefined
      ? ['Run `heliograph login`, then `heliograph keys create`,']
      : ['Run `heliograph keys create`,']),
    'or set HELIOGRAPH_API_KEY. In the folder of a sandbox that runs on this machine neither is needed.',
  );
}

function noClient({ url, profile }: Place, apis: readonly Api[]): Error {
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
