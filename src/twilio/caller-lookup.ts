// Tests: test/twilio/account.test.ts
import type { KnownCaller } from '../http/admission.ts';
import type { Api } from '../http/route.ts';
import { createBoundedMap } from '../platform/bounded-map.ts';
import type { Clock } from '../platform/clock.ts';
import { sameBytes } from '../platform/crypto/secrets.ts';
import type { Database } from '../platform/database/database.ts';
import type { ChangeFeed } from '../registry/change-feed.ts';
import { createCredentialCache, type Finding } from '../registry/credential-cache.ts';
import { callerOf, type Directory } from '../registry/directory.ts';
import { idOf } from './sid.ts';
import type { TwilioTokens } from './token.ts';
import { listTokens } from './token-store.ts';

export interface TwilioLookupOptions {
  database: Database;
  clock: Clock;
  feed: ChangeFeed;
  directory: Directory;
  tokens: TwilioTokens;
  /** Credentials to remember. */
  most?: number;
}

/** The base64 text of `AC` and 32 digits, a colon and a token. */
const form = /^[A-Za-z0-9+/]{90}[=]{0,2}$/;

const dead: Finding<KnownCaller> = { value: null, application: undefined, endsAtMs: Number.POSITIVE_INFINITY };

/** Finds the caller of an account sid and its token, for one API. The credential is the text after `Basic`. */
export function createTwilioLookup(api: Api, options: TwilioLookupOptions) {
  const { database, clock, feed, directory, tokens, most = 50_000 } = options;
  /** Credentials of applications that are not registered for this API: their callers get a 403. */
  const unregistered = createBoundedMap<string, true>(10_000);
  const cache = createCredentialCache<KnownCaller>({ read, feed, applications: directory, clock, most });

  async function read(text: string): Promise<Finding<KnownCaller> | undefined> {
    const given = readPair(text);
    if (given === undefined) return undefined;
    const inForce = await listTokens(database, given.applicationId, clock.nowMs());
    const sent = Buffer.from(given.token);
    const found = inForce.find((each) => sameBytes(Buffer.from(tokens.derive(each)), sent));
    const application = found && (await directory.readApplication(given.applicationId));
    // A version is random and none is used twice: a token that is not in force never will be.
    if (found === undefined || application === undefined) return dead;
    const value = callerOf(application, api, undefined);
    if (value === null && !application.disabled) unregistered.set(text, true);
    else unregistered.delete(text);
    return { value, application, endsAtMs: found.endsAtMs ?? Number.POSITIVE_INFINITY };
  }

  return {
    isWellFormed: (text: string) => form.test(text),
    isPlausible(text: string): boolean {
      const given = readPair(text);
      return given !== undefined && tokens.isPlausible(given.applicationId, given.token);
    },
    remembered: cache.remembered,
    wasKnown: cache.wasKnown,
    isUnregistered: (text: string) => unregistered.get(text) === true,
    lookUp: cache.lookUp,
  };
}

/** Code that used an API key sends `SK` instead of `AC`; the token is the same. */
function readPair(text: string): { applicationId: string; token: string } | undefined {
  const pair = Buffer.from(text, 'base64').toString('latin1');
  const colon = pair.indexOf(':');
  const sid = pair.slice(0, Math.max(0, colon));
  const applicationId = idOf('AC', sid) ?? idOf('SK', sid);
  return applicationId === undefined ? undefined : { applicationId, token: pair.slice(colon + 1) };
}
