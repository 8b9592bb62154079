import type { Answer } from '../../../sdk/src/errors.ts';
import { HeliographError } from '../../../sdk/src/index.ts';
import type { AccountRecord, Challenge } from '../../../src/accounts/account-record.ts';
import type { Call } from '../command/command.ts';
import { noCredentials } from '../process/exit.ts';
import { changeProfiles, findByUrl, nameFor, type Profile } from '../profile/profiles.ts';
import type { Target } from '../profile/target.ts';
import { type Request, request } from './request.ts';

/** The portal's API, signed in as a developer. */
export interface Session {
  call<Body>(method: Request['method'], path: string, given?: { query?: Query; body?: unknown }): Promise<Body>;
  /** The cookie, for calls of other APIs. */
  cookie(): Promise<string>;
}

type Query = Record<string, string | number | boolean | undefined>;

/** Opens a session by email and password, and returns its cookie. `askCode` is called for a person with a second factor. */
export async function signIn(
  url: string,
  account: { email: string; password: string },
  { askCode, signal }: { askCode?: () => Promise<string>; signal: AbortSignal },
): Promise<{ cookie: string; account: AccountRecord }> {
  const post = (path: string, body: unknown) =>
    request({ method: 'POST', url: new URL(`${url}/portal/v1/${path}`), headers: {}, body, signal });
  const first = await post('sessions', account);
  const { challenge } = first.body as Partial<Challenge>;
  if (challenge !== undefined && askCode === undefined) throw new Error('This account has a second factor.');
  const answer =
    challenge === undefined ? first : await post('sessions/second-factor', { challenge, code: await askCode?.() });
  return { cookie: cookieOf(answer), account: answer.body as AccountRecord };
}

function cookieOf({ headers }: Answer): string {
  const [cookie = ''] = headers.getSetCookie().map((each) => each.split(';')[0] ?? '');
  if (!/^[\w-]+=[\w-]+$/.test(cookie)) throw new Error('The service returned no session.');
  return cookie;
}

/** Saves data of the service in the current profile, or in a new one. */
export async function keepInProfile(
  { caller, environment }: Pick<Call, 'caller' | 'environment'>,
  change: { [Field in keyof Profile]?: Profile[Field] | undefined },
): Promise<string> {
  const { url, profile } = caller.target();
  let name = profile?.name ?? nameFor(url);
  await changeProfiles(environment, (all) => {
    name = profile?.name ?? findByUrl(all, url) ?? name;
    const changed = Object.entries({ ...all.profiles[name], ...change, url });
    all.profiles[name] = { url, ...Object.fromEntries(changed.filter(([, value]) => value !== undefined)) };
  });
  return name;
}

/** The session of the profile, or of the demo account of this folder's sandbox. */
export function openSession(call: Pick<Call, 'caller' | 'environment' | 'signal'>): Session {
  const target = call.caller.target();
  return createSession({ url: target.url, cookie: target.profile?.session, signal: call.signal, open });

  /** The demo account needs no login. */
  async function open(): Promise<string> {
    const portal = target.sandbox?.portal;
    if (portal === undefined || (target.profile?.email ?? portal.email) !== portal.email) throw signedOut(target);
    const opened = await signIn(target.url, portal, { signal: call.signal });
    await keepInProfile(call, { email: portal.email, session: opened.cookie });
    return opened.cookie;
  }
}

export function createSession(options: {
  url: string;
  cookie: string | undefined;
  signal: AbortSignal;
  /** Opens a new session if there is none or it has expired. */
  open?: () => Promise<string>;
}): Session {
  const { signal, open } = options;
  let cookie = options.cookie === undefined ? undefined : Promise.resolve(options.cookie);
  const requireCookie = () => {
    cookie ??= open?.() ?? Promise.reject(new Error('There is no session.'));
    return cookie;
  };
  return {
    cookie: requireCookie,
    async call<Body>(method: Request['method'], path: string, given: { query?: Query; body?: unknown } = {}) {
      const { query = {}, body } = given;
      const url = new URL(`${options.url}${path}`);
      for (const [name, value] of Object.entries(query))
        if (value !== undefined) url.searchParams.set(name, String(value));
      const send = async (sessionCookie: string) =>
        (await request({ method, url, headers: { cookie: sessionCookie }, body, signal })).body as Body;
      const used = await requireCookie();
      try {
        return await send(used);
      } catch (error) {
        if (open === undefined || !(error instanceof HeliographError) || error.status !== 401) throw error;
        cookie = open();
        return send(await cookie);
      }
    },
  };
}

function signedOut({ url, profile }: Target): Error {
  const problem =
    profile?.session === undefined
      ? `You are not signed in to ${url}.`
      : `Your session at ${url} has expired: it lasts at most 12 hours, or 30 minutes without a call.`;
  return noCredentials(problem, 'Run `heliograph login`.');
}
