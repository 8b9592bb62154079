import { PassThrough, type Readable } from 'node:stream';
import type { HandsetText } from './handsets.ts';
import type { InboxFeed } from './inbox-feed.ts';

export interface InboxStreamOptions {
  feed: InboxFeed;
  /** Aborted when the reader has gone. */
  signal: AbortSignal;
  concerns: (text: HandsetText) => boolean;
  toItems: (texts: HandsetText[]) => Promise<{ id: number; item: object }[]>;
  heartbeatMs?: number;
}

/** Proxies cut a connection on which nothing moves for a minute or so. */
const heartbeatEveryMs = 15_000;
/** A reader that is so far behind is cut off: it may come back, and the list has all it missed. */
const maxBehind = 1024 * 1024;

/** The texts that concern a reader, as server-sent events, from the moment this resolves. */
export async function openInboxStream(options: InboxStreamOptions): Promise<Readable> {
  const { feed, signal, concerns, toItems, heartbeatMs = heartbeatEveryMs } = options;
  const events = new PassThrough();
  let written: Promise<void> = Promise.resolve();

  function write(text: string): void {
    if (events.writable) events.write(text);
    if (events.writableLength > maxBehind) events.destroy();
  }

  async function tell(texts: HandsetText[]): Promise<void> {
    try {
      for (const { id, item } of await toItems(texts)) {
        write(`event: text\nid: ${id}\ndata: ${JSON.stringify(item)}\n\n`);
      }
    } catch {
      // A reader that comes back has lost nothing; one that was told half of it would never know.
      events.end();
    }
  }

  write('retry: 1000\n\n');
  const unsubscribe = await feed.subscribe({
    onTexts(texts) {
      const mine = texts.filter(concerns);
      // One after another, so that they are told in the order in which they arrived.
      if (mine.length > 0) written = written.then(() => tell(mine));
    },
    onEnd: () => events.end(),
  });
  const heartbeat = setInterval(() => write(': still here\n\n'), heartbeatMs).unref();
  events.on('close', () => {
    clearInterval(heartbeat);
    unsubscribe();
  });
  signal.addEventListener('abort', () => events.destroy());
  // It may have gone while the feed was getting ready.
  if (signal.aborted) events.destroy();
  return events;
}
