import { ConnectionError, HeliographError } from './errors.ts';
import type { Event, EventType } from './event.ts';
import type { CallOptions, Transport } from './transport.ts';
import { nowMs, sleep } from './waiting.ts';

export interface ReadOptions extends CallOptions {
  /** The position to continue from: a `next_cursor`, or the `id` of the last event that you have handled. By default: now. */
  cursor?: string | undefined;
  type?: EventType | undefined;
  /** The id of a record. */
  subject?: string | undefined;
}

export interface ReadPageOptions extends ReadOptions {
  limit?: number | undefined;
  /** How long to wait for the first event, up to 25. */
  waitSeconds?: number | undefined;
}

export interface FollowOptions extends ReadOptions {
  /**
   * Called when the retries of a read have failed; the feed then continues as soon as the service
   * is back. Without it, the loop ends with the error.
   */
  onInterrupted?: ((error: ConnectionError | HeliographError) => void) | undefined;
}

/** A page of the feed. There is always a `next_cursor` to continue from. */
export interface EventPage {
  data: Event[];
  next_cursor: string;
}

const waitSeconds = 20;
const pauseMs = 5000;

/** The changes of an API's records, in order, none missing. */
export class Events {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Reads the events after a cursor; `wait` lets it wait for the first one. */
  read(options: ReadPageOptions = {}): Promise<EventPage> {
    const { cursor, type, subject, limit, waitSeconds: wait = 0, signal } = options;
    return this.#transport.call<EventPage>({
      method: 'GET',
      path: '/events/v1/events',
      query: { cursor, type, subject, limit, wait_seconds: wait },
      signal,
      waitMs: wait * 1000,
    });
  }

  /**
   * Follows the feed until you leave the loop or abort the signal. Keep the `id` of the last event that you have handled:
   * it is the cursor to go on from. A cursor that is too old throws a `HeliographError` with code `CURSOR_EXPIRED`.
   */
  async *follow(options: FollowOptions = {}): AsyncGenerator<Event, void, undefined> {
    const { type, subject, signal } = options;
    let { cursor } = options;
    for (;;) {
      const beganMs = nowMs();
      // The first read does not wait, because events before the first cursor could be missed.
      const wait = cursor === undefined ? 0 : waitSeconds;
      const page = await this.#readOn({ cursor, type, subject, signal, limit: 100, waitSeconds: wait }, options);
      if (page === undefined) continue;
      yield* page.data;
      // A proxy answers instead of letting the service wait.
      if (page.next_cursor === cursor && nowMs() - beganMs < 1000) await sleep(1000, signal);
      cursor = page.next_cursor;
    }
  }

  /** Undefined after an interruption. */
  async #readOn(read: ReadPageOptions, { onInterrupted }: FollowOptions): Promise<EventPage | undefined> {
    try {
      return await this.read(read);
    } catch (error) {
      if (onInterrupted === undefined || !isPassing(error)) throw error;
      onInterrupted(error);
      const seconds = error instanceof HeliographError ? (error.retryAfterSeconds ?? 0) : 0;
      await sleep(Math.max(pauseMs, seconds * 1000), read.signal);
      return undefined;
    }
  }
}

function isPassing(error: unknown): error is ConnectionError | HeliographError {
  if (error instanceof ConnectionError) return true;
  return error instanceof HeliographError && (error.status === 429 || error.status >= 500);
}
