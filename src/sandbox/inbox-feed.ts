import type { Log } from '../platform/log.ts';
import type { Handsets, HandsetText } from './handsets.ts';

/** Tells whoever listens of texts as they arrive. One look at the database serves all listeners. */
export interface InboxFeed {
  subscribe(listener: Listener): () => void;
  /** Ends every subscription: the service is stopping. */
  stop(): void;
}

export interface Listener {
  onTexts(texts: HandsetText[]): void;
  onEnd(): void;
}

const lookEveryMs = 100;
/** Ids are given out before their rows are committed, so a lower one may become visible a little later. */
const overlap = 1000;

export function createInboxFeed(handsets: Handsets, log: Log): InboxFeed {
  const listeners = new Set<Listener>();
  let timer: NodeJS.Timeout | undefined;
  let newest: number | undefined;
  let seen = new Set<number>();

  async function look(): Promise<void> {
    try {
      if (newest === undefined) {
        newest = await handsets.newestId();
        seen = new Set((await handsets.listAfter(newest - overlap)).map(({ id }) => id));
      }
      const fresh = (await handsets.listAfter(newest - overlap)).filter(({ id }) => !seen.has(id));
      for (const { id } of fresh) {
        seen.add(id);
        newest = Math.max(newest, id);
      }
      for (const id of seen) if (id < newest - 2 * overlap) seen.delete(id);
      if (fresh.length > 0) for (const listener of listeners) listener.onTexts(fresh);
    } catch (error) {
      log.debug({ reason: (error as Error).message }, 'the inbox could not be read');
    }
    if (listeners.size > 0) timer = setTimeout(() => void look(), lookEveryMs).unref();
    else newest = undefined;
  }

  return {
    subscribe(listener) {
      listeners.add(listener);
      if (listeners.size === 1) {
        clearTimeout(timer);
        newest = undefined;
        void look();
      }
      return () => listeners.delete(listener);
    },
    stop() {
      clearTimeout(timer);
      for (const listener of listeners) listener.onEnd();
      listeners.clear();
    },
  };
}
