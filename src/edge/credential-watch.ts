import type { OwnedText } from '../platform/owned-text.ts';
import { createPoller } from '../platform/work/poller.ts';
import type { CallerLookup } from './caller-lookup.ts';

/** Returns the given sessions that are still open. */
export type FindOpenSessions = (sessionHashes: Buffer[]) => Promise<Buffer[]>;

interface Watched {
  onEnd(): void;
  /** Consecutive checks without an answer, because the database is away. */
  doubts: number;
}

interface WatchedApplication extends Watched {
  lookup: CallerLookup;
  text: OwnedText;
  asking: boolean;
}

const pollEveryMs = 200;
/** While the database is away, a stream continues for one second and then ends. */
const mostDoubts = 4;

/**
 * Reports when the credential of an open stream ends on any node: revoked, deleted, rotated, expired or signed out. All
 * streams of this node share one timer, and all sessions one query.
 */
export function createCredentialWatch(findOpenSessions: FindOpenSessions) {
  const applications = new Set<WatchedApplication>();
  const sessions = new Map<Watched, Buffer>();
  const poller = createPoller({ run: pollAll, pauseMs: pollEveryMs });
  let askingSessions = false;

  function pollAll(): void {
    for (const watched of applications) check(watched);
    for (const watched of sessions.keys()) doubt(watched);
    if (!askingSessions) void askSessions();
    if (applications.size + sessions.size === 0) void poller.stop();
  }

  function check(watched: WatchedApplication): void {
    const { lookup, text } = watched;
    const found = lookup.remembered(text);
    if (found === null) end(watched);
    else if (found !== undefined) watched.doubts = 0;
    else {
      doubt(watched);
      if (!watched.asking) void ask(watched);
    }
  }

  /** Asks the database: something changed, or this node cannot follow changes. */
  async function ask(watched: WatchedApplication): Promise<void> {
    watched.asking = true;
    try {
      if ((await watched.lookup.lookUp(watched.text)) === null) end(watched);
      watched.doubts = 0;
    } catch {
      // The next check asks again, up to `mostDoubts`.
    }
    watched.asking = false;
  }

  async function askSessions(): Promise<void> {
    const asked = [...sessions];
    if (asked.length === 0) return;
    askingSessions = true;
    try {
      const open = new Set((await findOpenSessions(asked.map(([, hash]) => hash))).map((hash) => hash.toString('hex')));
      for (const [watched, hash] of asked) {
        if (open.has(hash.toString('hex'))) watched.doubts = 0;
        else end(watched);
      }
    } catch {
      // The next check asks again, up to `mostDoubts`.
    }
    askingSessions = false;
  }

  function doubt(watched: Watched): void {
    if (++watched.doubts > mostDoubts) end(watched);
  }

  function end(watched: Watched): void {
    if (forget(watched)) watched.onEnd();
  }

  function forget(watched: Watched): boolean {
    return applications.delete(watched as WatchedApplication) || sessions.delete(watched);
  }

  return {
    /** Calls `onEnd` once, when the key or token is no longer valid. The returned function stops watching. */
    application(lookup: CallerLookup, text: OwnedText, onEnd: () => void): () => void {
      const watched = { lookup, text, onEnd, doubts: 0, asking: false };
      applications.add(watched);
      poller.start();
      return () => void forget(watched);
    },
    session(sessionHash: Buffer, onEnd: () => void): () => void {
      const watched = { onEnd, doubts: 0 };
      sessions.set(watched, sessionHash);
      poller.start();
      return () => void forget(watched);
    },
  };
}
