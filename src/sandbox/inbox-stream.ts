import { PassThrough } from 'node:stream';
import type { InboxEvent, InboxFeed } from './inbox-feed.ts';

export interface InboxStreamOptions {
  feed: InboxFeed;
  applicationId: string;
  /** Send only texts to this number. */
  to?: string | undefined;
  /** The last text that a returning reader was told: the feed may repeat it, and texts before it. */
  after?: number | undefined;
  /** Texts that a returning reader missed, oldest first, in pieces; undefined for a new reader. */
  missed?: (() => AsyncIterable<InboxEvent[]>) | undefined;
  /** Aborted when the reader disconnects. */
  signal: AbortSignal;
  /** Calls `act` when the reader's credential ends; the result stops watching. */
  onCredentialEnd: (act: () => void) => () => void;
  heartbeatMs?: number;
}

/** Proxies close connections that are idle for about a minute. */
const heartbeatEveryMs = 15_000;
/** Disconnect a reader this many bytes behind; it may reconnect and resume. */
const maxBehind = 1024 * 1024;
const maxHeld = 2000;

/** A reader's texts as server-sent events, from the moment this resolves. */
export async function openInboxStream(options: InboxStreamOptions): Promise<PassThrough> {
  const { feed, applicationId, to, after = 0, missed, signal, heartbeatMs = heartbeatEveryMs } = options;
  const events = new PassThrough();
  let newest = after;
  /** Texts that arrive while the missed ones are being sent. */
  let held: InboxEvent[] | undefined = missed === undefined ? undefined : [];

  function write(text: string): void {
    if (events.writable) events.write(text);
    if (events.writableLength > maxBehind) events.destroy();
  }

  /** Sends each text once: the feed repeats texts that were among the missed ones. */
  function tell(texts: InboxEvent[]): void {
    for (const event of texts) {
      if (event.id <= newest || (to !== undefined && event.to !== to)) continue;
      newest = event.id;
      write(event.written);
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
  // End the stream on failure: the reader reconnects and asks again, and would not notice a gap.
  if (missed !== undefined) tellMissed(missed()).catch(() => events.end());
  signal.addEventListener('abort', () => events.destroy());
  // The reader may have left while the feed was starting.
  if (signal.aborted) events.destroy();
  return events;
}

function drained(events: PassThrough): Promise<void> {
  return new Promise((resolve) => {
    events.once('drain', resolve);
    events.once('close', resolve);
  });
}
