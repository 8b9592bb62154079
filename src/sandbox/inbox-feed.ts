import type { Log } from '../platform/log.ts';
import type { Handsets, HandsetText } from './handsets.ts';

/** Tells whoever listens of texts as they arrive. One look at the database serves all listeners. */
export interface InboxFeed {
  /** Resolves when every text that arrives from now on will be told, to the way out again. */
  subscribe(listener: Listener): Promise<() => void>;
  /** Ends every subscription: the service is stopping. */
  stop(): void;
}

export interface Listener {
  onTexts(texts: HandsetText[]): void;
  onEnd(): void;
}

/** How far the feed has read, while somebody listens. */
interface Position {
  newest: number;
  /** What was told of the ids behind `newest`. */
  seen: Set<number>;
}

const lookEveryMs = 100;
/** Ids are given out before their rows are committed, so a lower one may become visible a little later. */
const overlap = 1000;

export function createInboxFeed(handsets: Handsets, log: Log): InboxFeed {
  const listeners = new Set<Listener>();
  let position: Promise<Position> | undefined;
  let stopped = false;

  /** What has arrived since the last look, and moves on behind it. */
  async function look(at: Position): Promise<HandsetText[]> {
    const fresh = await handsets.listAfter(at.newest - overlap, [...at.seen]);
    for (const { id } of fresh) {
      at.seen.add(id);
      at.newest = Math.max(at.newest, id);
    }
    for (const id of at.seen) if (id <= at.newest - overlap) at.seen.delete(id);
    return fresh;
  }

  /** What is there already is nobody's news. */
  async function begin(): Promise<Position> {
    const at = { newest: await handsets.newestId(), seen: new Set<number>() };
    while ((await look(at)).length > 0);
    return at;
  }

  async function follow(at: Position): Promise<void> {
    for (;;) {
      await new Promise((rise) => setTimeout(rise, lookEveryMs).unref());
      if (listeners.size === 0) break;
      try {
        // As long as there is more than fits into one look, nobody waits for the next.
        for (let fresh = await look(at); fresh.length > 0; fresh = await look(at)) {
          for (const listener of listeners) listener.onTexts(fresh);
        }
      } catch (error) {
        log.debug({ reason: (error as Error).message }, 'the inbox could not be read');
      }
    }
    position = undefined;
  }

  function start(): Promise<Position> {
    const beginning = begin();
    beginning.then(follow, () => {
      position = undefined;
    });
    return beginning;
  }

  return {
    async subscribe(listener) {
      const leave = () => void listeners.delete(listener);
      if (stopped) {
        listener.onEnd();
        return leave;
      }
      listeners.add(listener);
      try {
        position ??= start();
        await position;
      } catch (error) {
        leave();
        throw error;
      }
      return leave;
    },
    stop() {
      stopped = true;
      for (const listener of listeners) listener.onEnd();
      listeners.clear();
    },
  };
}
