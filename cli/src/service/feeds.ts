import { type Event, type EventType, type Heliograph, HeliographError } from '../../../sdk/src/index.ts';
import { sleep } from '../../../sdk/src/waiting.ts';
import type { Call } from '../command/command.ts';
import { failure, noCredentials } from '../process/exit.ts';
import type { Api } from '../profile/caller.ts';
import { passes, pauseMs } from './patience.ts';

/** The feeds of an application's APIs, each with its own cursor. */
export interface Feeds {
  client: Heliograph;
  apis: readonly Api[];
  /** The APIs of --api, or all that have credentials. */
  areNamed: boolean;
}

export interface FollowOptions {
  /** The cursor to continue from in an API's feed; undefined starts now. */
  cursorOf: (api: Api) => string | undefined;
  type: EventType | undefined;
  subject: string | undefined;
  signal: AbortSignal;
  /** The next event waits until this one is handled. */
  onEvent: (api: Api, event: Event) => Promise<void>;
  /** Everything up to this cursor is handled. */
  onPosition: (api: Api, cursor: string) => void;
  onState: (state: FeedState) => void;
}

export type FeedState =
  | { kind: 'open'; apis: readonly Api[] }
  | { kind: 'left out'; api: Api; why: string }
  | { kind: 'lost'; api: Api; why: string; waitMs: number }
  | { kind: 'back'; api: Api };

const waitSeconds = 20;

/** The feeds of --api, or of all APIs that have credentials. */
export async function openFeeds({ values, caller }: Call): Promise<Feeds> {
  const named = values.texts('api') as Api[];
  if (named.length > 0) return { client: await caller.clientFor(...named), apis: [...new Set(named)], areNamed: true };
  const bySms: Api[] = (await caller.findApiKey()) === undefined ? [] : ['sms'];
  const byToken: Api[] = caller.findClient() === undefined ? [] : ['verify', 'messaging'];
  const apis = [...bySms, ...byToken];
  if (apis.length === 0)
    throw noCredentials(
      `No credentials for ${caller.target().url}.`,
      'Run `heliograph login`, then `heliograph keys create`, or set HELIOGRAPH_API_KEY.',
    );
  return { client: await caller.clientFor(...apis), apis, areNamed: false };
}

/** Follows all feeds until the signal aborts. It continues after lost connections and never skips an event. */
export async function followFeeds({ client, apis, areNamed }: Feeds, options: FollowOptions): Promise<never> {
  const begun = await Promise.all(apis.map((api) => begin(client, api, areNamed, options)));
  const open = begun.filter((each) => each !== undefined);
  if (open.length === 0)
    throw noCredentials('The application is not registered for any API that these credentials give access to.');
  options.onState({ kind: 'open', apis: open.map(({ api }) => api) });
  await Promise.all(open.map(({ api, cursor }) => followOne(client, api, cursor, options)));
  throw options.signal.reason;
}

/** Finds the cursor to start from. An API that --api does not name and the credentials give no access to is left out. */
async function begin(client: Heliograph, api: Api, isNamed: boolean, options: FollowOptions) {
  const { cursorOf, type, subject, signal, onPosition, onState } = options;
  const cursor = cursorOf(api);
  try {
    const page = await client[api].events.read({ cursor, type, subject, limit: 1, signal });
    if (cursor !== undefined) return { api, cursor };
    onPosition(api, page.next_cursor);
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
  const { signal, onEvent, onPosition } = options;
  let cursor = from;
  while (!signal.aborted) {
    const page = await readOn(client, api, cursor, options);
    for (const event of page.data) {
      await onEvent(api, event);
      onPosition(api, event.id);
    }
    if (page.next_cursor !== cursor) onPosition(api, page.next_cursor);
    cursor = page.next_cursor;
  }
}

/** Reads one page, and retries until the service is back. */
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
    `Events since the last run have expired: ${error.message}`,
    '--from-now continues with new events. The lists of messages and verifications show their current states.',
  );
}
