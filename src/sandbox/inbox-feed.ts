import type { Log } from '../platform/log.ts';
import type { Handsets, HandsetText } from './handsets.ts';
import type { InboxText, RenderArrivals } from './inbox-text.ts';

/** A text rendered and serialised once for all its readers. */
export interface InboxEvent {
  id: number;
  to: string;
  /** The serialised server-sent event. */
  written: string;
}

/** Pushes arriving texts to listeners. One query and one rendering serve all of them. */
export interface InboxFeed {
  /** Resolves when the listener will get every text that arrives from now on. The result unsubscribes. */
  subscribe(listener: InboxListener): Promise<() => void>;
  /** Ends every subscription, when the service stops. */
  stop(): void;
}

export interface InboxListener {
  applicationId: string;
  /** In order of arrival, which is the order of ids. */
  onTexts(events: InboxEvent[]): void;
  onEnd(): void;
}

export interface InboxFeedOptions {
  handsets: Pick<Handsets, 'listAfter' | 'newestId'>;
  renderArrivals: RenderArrivals;
  log: Log;
}

/** How far the feed has read; it exists while there are listeners. */
interface Position {
  newest: number;
}

const pollEveryMs = 100;

export function createInboxFeed({ handsets, renderArrivals, log }: InboxFeedOptions): InboxFeed {
  const listeners = new Map<string, Set<InboxListener>>();
  let position: Promise<Position> | undefined;
  let stopped = false;

  /** Pushes texts that arrived since the last read. After a failure the next read starts at the same place. */
  async function poll(at: Position): Promise<number> {
    const fresh = await handsets.listAfter(at.newest);
    const texts = await renderArrivals(fresh.filter(({ applicationId }) => listeners.has(applicationId)));
    at.newest = fresh.at(-1)?.id ?? at.newest;
    for (const [applicationId, events] of byApplication(texts)) {
      for (const listener of listeners.get(applicationId) ?? []) listener.onTexts(events);
    }
    return fresh.length;
  }

  async function follow(at: Position): Promise<void> {
    for (;;) {
      await new Promise((rise) => setTimeout(rise, pollEveryMs).unref());
      if (listeners.size === 0) break;
      try {
        // Read again at once until there are no more.
        while ((await poll(at)) > 0);
      } catch (error) {
        log.debug({ reason: (error as Error).message }, 'the inbox could not be read');
      }
    }
    position = undefined;
  }

  function start(): Promise<Position> {
    const beginning = handsets.newestId().then((newest) => ({ newest }));
    beginning.then(follow, () => {
      position = undefined;
    });
    return beginning;
  }

  function add(listener: InboxListener): () => void {
    const { applicationId } = listener;
    const others = listeners.get(applicationId) ?? new Set();
    listeners.set(applicationId, others.add(listener));
    return () => {
      others.delete(listener);
      if (others.size === 0 && listeners.get(applicationId) === others) listeners.delete(applicationId);
    };
  }

  return {
    async subscribe(listener) {
      if (stopped) {
        listener.onEnd();
        return () => {};
      }
      const leave = add(listener);
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
      for (const each of [...listeners.values()].flatMap((set) => [...set])) each.onEnd();
      listeners.clear();
    },
  };
}

export function toEvent({ arrival, item }: InboxText): InboxEvent {
  const { id, to } = arrival;
  return { id, to, written: `event: text\nid: ${id}\ndata: ${JSON.stringify(item)}\n\n` };
}

function byApplication(texts: InboxText[]): Map<HandsetText['applicationId'], InboxEvent[]> {
  const events = new Map<string, InboxEvent[]>();
  for (const text of texts) {
    const { applicationId } = text.arrival;
    const others = events.get(applicationId);
    if (others === undefined) events.set(applicationId, [toEvent(text)]);
    else others.push(toEvent(text));
  }
  return events;
}
