import { PassThrough } from 'node:stream';
import type { LiveFeed, LiveItem, Piece } from './live-feed.ts';

export interface EventStreamOptions<Item, Filter> {
  feed: LiveFeed<Item, Filter>;
  applicationId: string;
  filter: Filter;
  /** The reader gets items after this position; undefined for new items only. */
  after: number | undefined;
  /** Whether the reader may have missed something. A new reader gets events from the moment this resolves. */
  returning: boolean;
  /** Reads the items after a position from storage, oldest first, in batches. */
  readMissed(after: number): AsyncIterable<Piece<Item>>;
  /** Written regularly: up to this position, everything was sent. */
  heartbeat(reached: number, applicationId: string): string;
  /** Aborted when the reader disconnects. */
  signal: AbortSignal;
  /** Calls `act` when the reader's credential ends; the result stops watching. */
  onCredentialEnd: (act: () => void) => () => void;
  heartbeatMs?: number;
}

type Pushed<Item> = Pick<Piece<Item>, 'items' | 'readTo'>;

/** Proxies close connections that are idle for about a minute. */
const heartbeatEveryMs = 15_000;
/** Disconnect a reader this many bytes behind; it may reconnect and resume. */
const maxBehind = 1024 * 1024;
const maxHeld = 2000;

/** A reader's items as server-sent events: first what it missed, then what happens, each once. */
export async function openEventStream<Item extends LiveItem, Filter>(
  options: EventStreamOptions<Item, Filter>,
): Promise<PassThrough> {
  const { feed, applicationId, filter, after, returning, signal, heartbeat, heartbeatMs = heartbeatEveryMs } = options;
  const events = new PassThrough();
  let reached = after ?? 0;
  /** New items from the feed, held while missed items are being sent. */
  let held: Pushed<Item>[] | undefined = [];
  let heldItems = 0;

  function write(text: string): void {
    if (events.writable) events.write(text);
    if (events.writableLength > maxBehind) events.destroy();
  }

  /** Skips items that were sent already: the feed may repeat some of the missed ones. */
  function sendPiece({ items, readTo }: Pushed<Item>): void {
    for (const { position, written } of items) {
      if (position <= reached) continue;
      reached = position;
      write(written);
    }
    reached = Math.max(reached, readTo);
  }

  function hold(pushed: Pushed<Item>): void {
    held?.push(pushed);
    heldItems += pushed.items.length;
    if (heldItems > maxHeld) events.destroy();
  }

  async function sendMissed(): Promise<void> {
    for await (const piece of options.readMissed(reached)) {
      sendPiece(piece);
      if (!events.writable) return;
      if (events.writableNeedDrain) await drained(events);
    }
  }

  /** Subscribes to the feed. Returns whether the reader lacks items before the feed's position. */
  async function join(): Promise<boolean> {
    const onItems = (items: Item[], readTo: number) => {
      if (held === undefined) sendPiece({ items, readTo });
      else hold({ items, readTo });
    };
    const listener = { applicationId, filter, onItems, onEnd: () => events.end() };
    const { from, leave } = await feed.subscribe(listener, after === undefined ? undefined : reached);
    if (events.destroyed) leave();
    else events.once('close', leave);
    if (after === undefined) reached = from;
    return from > reached;
  }

  function goLive(): void {
    const waiting = held ?? [];
    held = undefined;
    for (const piece of waiting) sendPiece(piece);
  }

  async function returnLive(): Promise<void> {
    await sendMissed();
    if (!events.writable) return;
    if (await join()) await sendMissed();
    goLive();
  }

  write('retry: 1000\n\n');
  const beat = setInterval(() => write(heartbeat(reached, applicationId)), heartbeatMs).unref();
  const stopWatching = options.onCredentialEnd(() => events.end());
  events.once('close', () => {
    clearInterval(beat);
    stopWatching();
  });
  signal.addEventListener('abort', () => events.destroy());
  // End the stream on failure, so that the reader reconnects and resumes; it could not notice a gap.
  const endOnFailure = (done: Promise<void>) => done.catch(() => events.end());
  if (returning) void endOnFailure(returnLive());
  else {
    try {
      const isBehind = await join();
      write(heartbeat(reached, applicationId));
      if (isBehind) void endOnFailure(sendMissed().then(goLive));
      else goLive();
    } catch (error) {
      events.destroy();
      throw error;
    }
  }
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
