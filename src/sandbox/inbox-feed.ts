import type { Log } from '../platform/log.ts';
import type { Handsets, HandsetText } from './handsets.ts';
import type { InboxText, ReadTexts } from './inbox-text.ts';

/** A text as all of its readers are told it: rendered and written once. */
export interface InboxEvent {
  id: number;
  recipient: string;
  /** As server-sent events are written. */
  written: string;
}

/** Tells listeners of texts as they arrive. One look at the database, and one rendering, serves all of them. */
export interface InboxFeed {
  /** Resolves when every text that arrives from now on will be told. The result ends the subscription. */
  subscribe(listener: Listener): Promise<() => void>;
  /** Ends every subscription: the service is stopping. */
  stop(): void;
}

export interface Listener {
  applicationId: string;
  /** In the order of arrival, which is the order of the ids. */
  onTexts(events: InboxEvent[]): void;
  onEnd(): void;
}

export interface InboxFeedOptions {
  handsets: Pick<Handsets, 'listAfter' | 'newestId'>;
  readTexts: ReadTexts;
  log: Log;
}

/** How far the feed has read, while there is a listener. */
interface Position {
  newest: number;
}

const lookEveryMs = 100;

export function createInboxFeed({ handsets, readTexts, log }: InboxFeedOptions): InboxFeed {
  const listeners = new Map<string, Set<Listener>>();
  let position: Promise<Position> | undefined;
  let stopped = false;

  /** Tells what has arrived since the last look. After a failure the next look reads the same again. */
  async function look(at: Position): Promise<number> {
    const fresh = await handsets.listAfter(at.newest);
    const texts = await readTexts(fresh.filter(({ applicationId }) => listeners.has(applicationId)));
    at.newest = fresh.at(-1)?.id ?? at.newest;
    for (const [applicationId, events] of byApplication(texts)) {
      for (const listener of listeners.get(applicationId) ?? []) listener.onTexts(events);
    }
    return fresh.length;
  }

  async function follow(at: Position): Promise<void> {
    for (;;) {
      await new Promise((rise) => setTimeout(rise, lookEveryMs).unref());
      if (listeners.size === 0) break;
      try {
        // A look that is full is followed by another at once.
        while ((await look(at)) > 0);
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

  function add(listener: Listener): () => void {
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
  const { id, recipient } = arrival;
  return { id, recipient, written: `event: text\nid: ${id}\ndata: ${JSON.stringify(item)}\n\n` };
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
