import { PassThrough } from 'node:stream';
import type { LiveFeed, LiveItem, Piece } from './live-feed.ts';

export interface EventStreamOptions<Item, Filter> {
  feed: LiveFeed<Item, Filter>;
  applicationId: string;
  filter: Filter;
  /** The reader gets what follows this position. Undefined: what happens from now on. */
  after: number | undefined;
  /** Whether the reader may have missed something. A new reader gets events from the moment this resolves. */
  returning: boolean;
  /** What happened after a position, oldest first, in pieces. */
  readMissed(after: number): AsyncIterable<Piece<Item>>;
  /** Written now and then: everything up to this position was sent. */
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
  /** What the feed brings while missed items are being sent. */
  let held: Pushed<Item>[] | undefined = [];
  let heldItems = 0;

  function write(text: string): void {
    if (events.writable) events.write(text);
    if (events.writableLength > maxBehind) events.destroy();
  }

  /** The feed may repeat what was among the missed items. */
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

  /** Begins to listen. Returns whether something is missing between where the reader is and where the feed is. */
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
  // End the stream on failure: the reader reconnects and asks again, and would not notice a gap.
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
