import type { FindCaller } from './find-caller.ts';

/**
 * Tells when the credential of an open stream ends: revoked, deleted, rotated, expired, signed out, on whatever node. One
 * timer and one query for all sessions serve every stream of this node.
 */
export interface CredentialWatch {
  /** Calls back once when the key or token no longer opens anything. The result stops watching. */
  application(find: FindCaller, text: string, onEnd: () => void): () => void;
  session(sessionHash: Buffer, onEnd: () => void): () => void;
}

/** Of these sessions, those that are still open. */
export type FindOpenSessions = (sessionHashes: Buffer[]) => Promise<Buffer[]>;

interface Watched {
  onEnd(): void;
  /** How many looks in a row have not said whether it still holds: the database is away. */
  doubts: number;
}

interface WatchedApplication extends Watched {
  find: FindCaller;
  text: string;
  asking: boolean;
}

const lookEveryMs = 200;
/** With the database away a stream goes on for a second, and then ends. */
const mostDoubts = 4;

export function createCredentialWatch(findOpenSessions: FindOpenSessions): CredentialWatch {
  const applications = new Set<WatchedApplication>();
  const sessions = new Map<Watched, Buffer>();
  let timer: NodeJS.Timeout | undefined;
  let askingSessions = false;

  function lookAtAll(): void {
    for (const watched of applications) lookAt(watched);
    for (const watched of sessions.keys()) doubt(watched);
    if (!askingSessions) void askSessions();
    if (applications.size + sessions.size === 0) {
      clearInterval(timer);
      timer = undefined;
    }
  }

  function lookAt(watched: WatchedApplication): void {
    const { find, text } = watched;
    const found = find.remembered(text);
    if (found === null) end(watched);
    else if (found !== undefined) watched.doubts = 0;
    else {
      doubt(watched);
      if (!watched.asking) void ask(watched);
    }
  }

  /** Something has changed, or changes cannot be followed. */
  async function ask(watched: WatchedApplication): Promise<void> {
    watched.asking = true;
    try {
      if ((await watched.find.lookUp(watched.text)) === null) end(watched);
      watched.doubts = 0;
    } catch {
      // The next look asks again, until there are too many doubts.
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
      // As above.
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

  function start(): void {
    timer ??= setInterval(lookAtAll, lookEveryMs).unref();
  }

  return {
    application(find, text, onEnd) {
      const watched = { find, text, onEnd, doubts: 0, asking: false };
      applications.add(watched);
      start();
      return () => void forget(watched);
    },
    session(sessionHash, onEnd) {
      const watched = { onEnd, doubts: 0 };
      sessions.set(watched, sessionHash);
      start();
      return () => void forget(watched);
    },
  };
}
