import { PassThrough } from 'node:stream';
import type { InboxEvent, InboxFeed } from './inbox-feed.ts';

export interface InboxStreamOptions {
  feed: InboxFeed;
  applicationId: string;
  /** Only texts to this number. */
  to?: string | undefined;
  /** What a reader that comes back has missed, oldest first, in pieces; undefined for one that is new. */
  missed?: (() => AsyncIterable<InboxEvent[]>) | undefined;
  /** Aborted when the reader has gone. */
  signal: AbortSignal;
  /** Calls back when the reader may no longer read; the result stops watching. */
  onCredentialEnd: (act: () => void) => () => void;
  heartbeatMs?: number;
}

/** Proxies cut a connection on which nothing moves for a minute or so. */
const heartbeatEveryMs = 15_000;
/** A reader that is so far behind is cut off. It may come back and go on where it was. */
const maxBehind = 1024 * 1024;
const maxHeld = 2000;

/** The texts that concern a reader, as server-sent events, from the moment this resolves. */
export async function openInboxStream(options: InboxStreamOptions): Promise<PassThrough> {
  const { feed, applicationId, to, missed, signal, heartbeatMs = heartbeatEveryMs } = options;
  const events = new PassThrough();
  let newest = 0;
  /** What arrives while the missed texts are told. */
  let held: InboxEvent[] | undefined = missed === undefined ? undefined : [];

  function write(text: string): void {
    if (events.writable) events.write(text);
    if (events.writableLength > maxBehind) events.destroy();
  }

  /** A text that was among the missed ones comes again from the feed, and is told once. */
  function tell(texts: InboxEvent[]): void {
    for (const { id, recipient, written } of texts) {
      if (id <= newest || (to !== undefined && recipient !== to)) continue;
      newest = id;
      write(written);
    }
  }

  async function tellMissed(pieces: AsyncIterable<InboxEvent[]>): Promise<void> {
    for await (const piece of pieces) {
      tell(piece);
      if (events.destroyed) return;
      if (events.writableNeedDrain) await drained(events);
    }
    const waiting = held ?? [];
    held = undefined;
    tell(waiting);
  }

  write('retry: 1000\n\n');
  const unsubscribe = await feed.subscribe({
    applicationId,
    onTexts(texts) {
      if (held === undefined) tell(texts);
      else if (held.push(...texts) > maxHeld) events.destroy();
    },
    onEnd: () => events.end(),
  });
  const stopWatching = options.onCredentialEnd(() => events.end());
  const heartbeat = setInterval(() => write(': still here\n\n'), heartbeatMs).unref();
  events.on('close', () => {
    clearInterval(heartbeat);
    unsubscribe();
    stopWatching();
  });
  // A reader that comes back asks again; one that was told half of it would never know.
  if (missed !== undefined) tellMissed(missed()).catch(() => events.end());
  signal.addEventListener('abort', () => events.destroy());
  // It may have gone while the feed was getting ready.
  if (signal.aborted) events.destroy();
  return events;
}

function drained(events: PassThrough): Promise<void> {
  return new Promise((resolve) => {
    events.once('drain', resolve);
    events.once('close', resolve);
  });
}
