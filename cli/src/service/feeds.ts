import { type Event, type EventType, type Heliograph, HeliographError } from '../../../sdk/src/index.ts';
import { sleep } from '../../../sdk/src/waiting.ts';
import type { Call } from '../command/command.ts';
import { failure, noCredentials } from '../process/exit.ts';
import type { Api } from '../profile/caller.ts';
import { passes, pauseMs } from './patience.ts';

/** The feeds of an application's APIs, each with its own place. */
export interface Feeds {
  client: Heliograph;
  apis: readonly Api[];
  /** Named by the caller, or all that there are credentials for. */
  areNamed: boolean;
}

export interface FollowOptions {
  /** Where to go on in the feed of an API; undefined: from now. */
  cursorOf: (api: Api) => string | undefined;
  type: EventType | undefined;
  subject: string | undefined;
  signal: AbortSignal;
  /** The next event comes when this one is done. */
  onEvent: (api: Api, event: Event) => Promise<void>;
  /** Everything up to this place is done. */
  onPlace: (api: Api, cursor: string) => void;
  onState: (state: FeedState) => void;
}

export type FeedState =
  | { kind: 'open'; apis: readonly Api[] }
  | { kind: 'left out'; api: Api; why: string }
  | { kind: 'lost'; api: Api; why: string; waitMs: number }
  | { kind: 'back'; api: Api };

const waitSeconds = 20;

/** The feeds that --api names, or those of all APIs that there are credentials for. */
export async function openFeeds({ values, caller }: Call): Promise<Feeds> {
  const named = values.texts('api') as Api[];
  if (named.length > 0) return { client: await caller.clientFor(...named), apis: [...new Set(named)], areNamed: true };
  const bySms: Api[] = (await caller.findApiKey()) === undefined ? [] : ['sms'];
  const byToken: Api[] = caller.findClient() === undefined ? [] : ['verify', 'messaging'];
  const apis = [...bySms, ...byToken];
  if (apis.length === 0)
    throw noCredentials(
      `No credentials for ${caller.place().url}.`,
      'Run `heliograph login`, then `heliograph keys create`, or set HELIOGRAPH_API_KEY.',
    );
  return { client: await caller.clientFor(...apis), apis, areNamed: false };
}

/** Follows all feeds until the signal ends it. It goes on after lost connections, and never skips an event. */
export async function followFeeds({ client, apis, areNamed }: Feeds, options: FollowOptions): Promise<never> {
  const begun = await Promise.all(apis.map((api) => begin(client, api, areNamed, options)));
  const open = begun.filter((each) => each !== undefined);
  if (open.length === 0) throw noCredentials('The application is registered for no API that these credentials open.');
  options.onState({ kind: 'open', apis: open.map(({ api }) => api) });
  await Promise.all(open.map(({ api, cursor }) => followOne(client, api, cursor, options)));
  throw options.signal.reason;
}

/** Finds the place to begin at. An API that was not asked for, and that the credentials do not open, is left out. */
async function begin(client: Heliograph, api: Api, isNamed: boolean, options: FollowOptions) {
  const { cursorOf, type, subject, signal, onPlace, onState } = options;
  const cursor = cursorOf(api);
  try {
    const page = await client[api].events.read({ cursor, type, subject, limit: 1, signal });
    if (cursor !== undefined) return { api, cursor };
    onPlace(api, page.next_cursor);
    return { api, cursor: page.next_cursor };
  } catch (error) {
    signal.throwIfAborted();
    if (isExpired(error)) throw expired(error);
    const isClosed = error instanceof HeliographError && [400, 401, 403].includes(error.status);
    if (isNamed || !isClosed) throw error;
    onState({ kind: 'left out', api, why: error.message });
    return undefined;
  }
}

async function followOne(client: Heliograph, api: Api, from: string, options: FollowOptions): Promise<void> {
  const { signal, onEvent, onPlace } = options;
  let cursor = from;
  while (!signal.aborted) {
    const page = await readOn(client, api, cursor, options);
    for (const event of page.data) {
      await onEvent(api, event);
      onPlace(api, event.id);
    }
    if (page.next_cursor !== cursor) onPlace(api, page.next_cursor);
    cursor = page.next_cursor;
  }
}

/** One page, however long the service is away. */
async function readOn(client: Heliograph, api: Api, cursor: string, { type, subject, signal, onState }: FollowOptions) {
  for (let tries = 1; ; tries++) {
    try {
      const page = await client[api].events.read({ cursor, type, subject, limit: 100, waitSeconds, signal });
      if (tries > 1) onState({ kind: 'back', api });
      return page;
    } catch (error) {
      signal.throwIfAborted();
      if (isExpired(error)) throw expired(error);
      if (!passes(error)) throw error;
      const waitMs = pauseMs(tries, error);
      onState({ kind: 'lost', api, why: error instanceof Error ? error.message : String(error), waitMs });
      await sleep(waitMs, signal);
    }
  }
}

function isExpired(error: unknown): error is HeliographError {
  return error instanceof HeliographError && error.code === 'CURSOR_EXPIRED';
}

function expired(error: HeliographError): Error {
  return failure(
    `Events between the kept place and now are gone: ${error.message}`,
    '--from-now goes on with what happens from now on. The lists of messages and verifications show their states.',
  );
}
