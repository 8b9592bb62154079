import { checkCredential, readBaseUrl } from './options.ts';

/** The options that can come from the environment, and their settings there. */
const settings = {
  baseUrl: 'HELIOGRAPH_URL',
  apiKey: 'HELIOGRAPH_API_KEY',
  clientId: 'HELIOGRAPH_CLIENT_ID',
  clientSecret: 'HELIOGRAPH_CLIENT_SECRET',
} as const;

type Name = keyof typeof settings;
type Environment = Record<string, string | undefined>;

/** The address and the credentials of a client. */
export interface Connection {
  baseUrl: string;
  apiKey: string | undefined;
  clientId: string | undefined;
  clientSecret: string | undefined;
  /** The error for a call without its credentials; it names those of `names` that are missing. */
  missing(...names: Name[]): TypeError;
}

/**
 * Without `baseUrl` what is not given comes from the environment. With it nothing does: credentials of the environment
 * are for its own service, and must not go to another.
 */
export function readConnection(
  given: { [Each in Name]?: string | undefined },
  readAll: () => Environment = readEnvironment,
): Connection {
  const fromEnvironment = given.baseUrl === undefined;
  const environment = fromEnvironment ? readAll() : {};
  const nameOf = (name: Name) => (given[name] === undefined && fromEnvironment ? settings[name] : name);
  const settingOf = (name: Name) => given[name] ?? (environment[settings[name]] || undefined);
  const credential = (name: Name) => checkCredential(nameOf(name), settingOf(name));
  const baseUrl = settingOf('baseUrl');
  if (baseUrl === undefined)
    throw new TypeError(
      'HELIOGRAPH_URL is not set. Set it to the address of the service, or pass baseUrl to new Heliograph({ … }).',
    );
  const found = {
    baseUrl: readBaseUrl(baseUrl, nameOf('baseUrl')),
    apiKey: credential('apiKey'),
    clientId: credential('clientId'),
    clientSecret: credential('clientSecret'),
  };
  return {
    ...found,
    missing(...names) {
      const absent = names.filter((name) => found[name] === undefined);
      const options = `pass ${absent.join(' and ')} to new Heliograph({ … })`;
      const set = `set ${absent.map((name) => settings[name]).join(' and ')}, or `;
      return new TypeError(`This API needs ${names.join(' and ')}: ${fromEnvironment ? set : ''}${options}.`);
    },
  };
}

/** Empty in browsers, which have no environment. */
function readEnvironment(): Environment {
  const { process } = globalThis as { process?: { env?: Environment } };
  return process?.env ?? {};
}
