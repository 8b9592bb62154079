// Tests: test/contract/event-feed.test.ts, test/hostile/event-cursors.test.ts
import type { Piece } from '../http/streams/live-feed.ts';
import type { Clock } from '../platform/clock.ts';
import type { Database } from '../platform/database/database.ts';
import { migratedAtMs } from '../platform/database/migrate.ts';
import { ApiError, invalidField } from '../platform/errors.ts';
import type { AssembleEvents, StoredEvent } from './event.ts';
import type { EventCursors } from './event-cursor.ts';
import { type LiveEvent, renderEvents } from './event-feed.ts';
import { type EventIds, findOwnEvent } from './event-id.ts';
import { type EventFilter, readEvents, readLastEvents } from './event-store.ts';
import type { Horizon } from './horizon.ts';
import type { Listener } from './listener-store.ts';
import { dayOf, dayOfPosition, firstOfDay } from './position.ts';

/** A span of the feed to read: after the reader's position, up to the horizon. */
export interface FeedSpan {
  after: number;
  upTo: number;
}

/** Reads the events of an application, starting at a cursor. */
export interface EventReads {
  /** The position of a cursor, or of an event of the application. Throws a 400 that names `field`. */
  readCursor(applicationId: string, cursor: string, field: string): Promise<number>;
  cursorAt(applicationId: string, position: number): string;
  /** Throws a 410 if events after the position may be missing. */
  spanAfter(listener: Listener, position: number): Promise<FeedSpan>;
  spanFromNow(): Promise<FeedSpan>;
  /** Starts at the oldest event that is kept. */
  spanFromOldest(listener: Listener): Promise<FeedSpan>;
  /** The first events that match. It may stop before the end of the span, even without an event. */
  readPage(applicationId: string, span: FeedSpan, filter: EventFilter, limit: number): Promise<Piece<LiveEvent>>;
  /** The newest events that match, oldest first. It reads a bounded number, so a rare match may be missing. */
  readNewest(applicationId: string, span: FeedSpan, filter: EventFilter, limit: number): Promise<LiveEvent[]>;
  /** The event with this id, if it is the application's and still kept. */
  readOne(applicationId: string, id: string): Promise<LiveEvent | undefined>;
  /** All readable events after a position, in batches. */
  readMissed(applicationId: string, after: number, filter: EventFilter): AsyncIterable<Piece<LiveEvent>>;
}

export interface EventReadsOptions {
  database: Database;
  clock: Clock;
  horizon: Horizon;
  ids: EventIds;
  cursors: EventCursors;
  assembleEvents: AssembleEvents;
  eventDays: number;
}

/** Migration that introduced authenticated cursors. */
const authenticSince = 24;
/** Maximum bounded reads for one page, in search of events that match. */
const mostReads = 5;
const missedPerPiece = 100;

export function createEventReads(options: EventReadsOptions): EventReads {
  const { database, clock, horizon, ids, cursors, assembleEvents, eventDays } = options;
  const oldestDay = () => dayOf(clock.nowMs()) - eventDays;
  let authenticFromMs: number | undefined;

  const readPage: EventReads['readPage'] = async (applicationId, { after, upTo }, filter, limit) => {
    let readTo = after;
    for (let reads = 0; reads < mostReads; reads++) {
      const page = await readEvents(database, { applicationId, after: readTo, upTo }, filter, limit);
      readTo = page.readTo;
      const more = readTo < upTo;
      if (page.events.length > 0 || !more)
        return { items: await renderEvents(database, assembleEvents, page.events), readTo, more };
    }
    return { items: [], readTo, more: true };
  };

  /**
   * Whether the cursor predates authenticated cursors, or is too old. Its time may be forged: it only selects the
   * error.
   */
  async function isOld(cursor: string): Promise<boolean> {
    const timeMs = ids.timeOf(cursor) ?? 0;
    if (dayOf(timeMs) < oldestDay()) return true;
    authenticFromMs ??= await migratedAtMs(database, authenticSince);
    return timeMs < (authenticFromMs ?? 0);
  }

  return {
    async readCursor(applicationId, cursor, field) {
      const position =
        cursors.positionOf(applicationId, cursor) ??
        (await findOwnEvent({ database, ids }, applicationId, cursor))?.position;
      if (position !== undefined) return position;
      if (ids.positionOf(cursor) !== undefined && (await isOld(cursor)))
        throw cursorExpired('The cursor is from an earlier version, or from an event that is no longer kept.');
      throw invalidField(field, 'must be a next_cursor of this feed, or the id of an event of this application');
    },
    cursorAt: cursors.cursorAt,
    async spanAfter({ since }, after) {
      if (dayOfPosition(after) < oldestDay())
        throw cursorExpired(`The cursor is older than the ${eventDays} days for which events are kept.`);
      if (after < since)
        throw cursorExpired('Events were not recorded for the application all the time since this cursor.');
      const upTo = await horizon.read();
      // Another node may have read further than this one, but none past the newest position.
      if (after > upTo && after > (await horizon.reachNow()))
        throw cursorExpired('The cursor is from another database, or from before a restore.');
      return { after, upTo };
    },
    async spanFromNow() {
      const now = await horizon.reachNow();
      return { after: now, upTo: now };
    },
    async spanFromOldest({ since }) {
      return { after: Math.max(since, firstOfDay(oldestDay())), upTo: await horizon.read() };
    },
    readPage,
    async readNewest(applicationId, { after, upTo }, filter, limit) {
      const found: StoredEvent[] = [];
      for (let reads = 0, end = upTo; reads < mostReads && end > after && found.length < limit; reads++) {
        const span = { applicationId, after, upTo: end };
        const page = await readLastEvents(database, span, filter, limit - found.length);
        found.unshift(...page.events);
        end = page.readTo;
      }
      return renderEvents(database, assembleEvents, found);
    },
    async readOne(applicationId, id) {
      const event = await findOwnEvent({ database, ids }, applicationId, id);
      return (await renderEvents(database, assembleEvents, event === undefined ? [] : [event]))[0];
    },
    async *readMissed(applicationId, after, filter) {
      for (let readTo = after; ; ) {
        const span = { after: readTo, upTo: await horizon.read() };
        const piece = await readPage(applicationId, span, filter, missedPerPiece);
        readTo = piece.readTo;
        yield piece;
        if (!piece.more) return;
      }
    },
  };
}

function cursorExpired(why: string): ApiError {
  return new ApiError('CURSOR_EXPIRED', `${why} Events after it may be missing. Start again without a cursor.`);
}
