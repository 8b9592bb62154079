import type { AnsweredText } from '../delivery/answered-text.ts';
import type { SubmitResult } from '../delivery/carrier.ts';
import type { ChangedText } from '../delivery/receipt-store.ts';
import { createBoundedMap } from '../platform/bounded-map.ts';
import { type Clock, dayMs } from '../platform/clock.ts';
import type { Database } from '../platform/database.ts';
import { newId, uuidTimeMs } from '../platform/ids.ts';
import type { Log } from '../platform/log.ts';
import { bucketOf } from './answer-times.ts';
import { createCountBook } from './count-book.ts';
import { createCountries } from './country-of.ts';
import {
  countedMinutesMs,
  type MinuteColumn,
  type MinuteKey,
  minuteColumns,
  minuteOf,
  tookColumns,
  writeMinutes,
} from './minute-store.ts';
import { countedDays, type DayColumn, type DayKey, dayColumns, writeDays } from './total-store.ts';

/** Counts what carriers do with texts. No text waits for it: everything is counted in memory and written every 5 s. */
export interface Totals {
  noteAnswers(carrier: string, texts: readonly AnsweredText[]): void;
  noteReports(carrier: string, texts: readonly ChangedText[]): void;
  /** Writes everything that this node has counted. */
  flush(): Promise<void>;
  start(): void;
  stop(): Promise<void>;
}

/** What happened, for the metrics of this node: the carrier's name and the country are labels. */
export type TextEvent = SubmitResult['outcome'] | 'delivered' | 'undelivered' | 'failed';

export interface TotalsOptions {
  database: Database;
  clock: Clock;
  log: Log;
  onEvent?: (carrier: string, country: string, event: TextEvent) => void;
  onAnswerTime?: (carrier: string, tookMs: number) => void;
}

const flushEveryMs = 5000;
/** Callers choose senders: those of an application beyond this count, in a day, are counted together. */
const mostSenders = 200;
const otherSenders = '(others)';
const mostApplications = 10_000;

const dayPlace = Object.fromEntries(dayColumns.map((name, place) => [name, place])) as Record<DayColumn, number>;
const minutePlace = Object.fromEntries(minuteColumns.map((name, place) => [name, place])) as Record<
  MinuteColumn,
  number
>;

export function createTotals(options: TotalsOptions): Totals {
  const { database, clock, log, onEvent = () => {}, onAnswerTime = () => {} } = options;
  const countryOf = createCountries();
  const newName = () => newId('nod', clock);
  const days = createCountBook<DayKey>({
    columns: dayColumns.length,
    newName,
    write: (name, rows) => writeDays(database, name, rows),
  });
  const minutes = createCountBook<MinuteKey>({
    columns: minuteColumns.length + tookColumns,
    newName,
    write: (name, rows) => writeMinutes(database, name, rows),
  });
  /** By day and application: the senders that are counted one by one. */
  const senders = createBoundedMap<string, Set<string>>(mostApplications);
  let flushing: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;

  function senderOf(day: number, applicationId: string, sender: string): string {
    const id = `${day} ${applicationId}`;
    const known = senders.get(id) ?? new Set();
    if (known.size === 0) senders.set(id, known);
    if (known.has(sender)) return sender;
    if (known.size >= mostSenders) return otherSenders;
    known.add(sender);
    return sender;
  }

  /** Counts in the row of the day on which the text was sent. */
  function inDay(atMs: number, text: Omit<DayKey, 'dayMs'>): (column: DayColumn, by?: number) => void {
    const day = atMs - (atMs % dayMs);
    // The rows of older days may have been added up already.
    if (day < clock.nowMs() - countedDays * dayMs) return () => {};
    const { carrier, country, applicationId } = text;
    const sender = senderOf(day, applicationId, text.sender);
    const id = `${day} ${carrier} ${country} ${applicationId} ${sender}`;
    const open = () => ({ dayMs: day, carrier, country, sender, applicationId });
    let counts: Float64Array | undefined;
    return (column, by = 1) => {
      counts ??= days.counts(id, open);
      raise(counts, dayPlace[column], by);
    };
  }

  /** Counts in the row of the minute in which the text was accepted. */
  function inMinute(messageUuid: string, carrier: string, country: string): (place: number) => void {
    const minute = minuteOf(uuidTimeMs(messageUuid));
    if (minute < clock.nowMs() - countedMinutesMs) return () => {};
    const id = `${minute} ${carrier} ${country}`;
    let counts: Float64Array | undefined;
    return (place) => {
      counts ??= minutes.counts(id, () => ({ minuteMs: minute, carrier, country }));
      raise(counts, place, 1);
    };
  }

  function noteAnswer(carrier: string, { claimed, answer, tookMs, isLate }: AnsweredText): void {
    const { message, entry } = claimed;
    const country = countryOf(message.to);
    const { applicationId } = entry;
    const day = inDay(clock.nowMs(), { carrier, country, sender: message.sender, applicationId });
    const minute = inMinute(entry.messageId, carrier, country);
    const outcome = answer?.outcome ?? 'in_doubt';
    const isSettled = outcome === 'accepted' || outcome === 'never';
    if (outcome === 'not_sent' || (isLate && !isSettled)) return;
    onEvent(carrier, country, outcome);
    if (!isLate) {
      day('attempts');
      minute(minutePlace.attempts);
      if (entry.inDoubt) day('copies');
      minute(minuteColumns.length + bucketOf(tookMs));
      onAnswerTime(carrier, tookMs);
    }
    if (answer?.outcome === 'accepted') {
      day('sent');
      day('parts', partsOf(answer) ?? message.segmentCount);
      minute(minutePlace.sent);
    } else if (outcome === 'never') day('failed');
    else if (outcome === 'throttled' || outcome === 'in_doubt') {
      day(outcome);
      minute(minutePlace[outcome]);
    }
  }

  function noteReport(carrier: string, text: ChangedText): void {
    const { id, applicationId, sender, to, sentAtMs, was, now, wasUnsent } = text;
    const country = countryOf(to);
    const day = inDay(sentAtMs ?? clock.nowMs(), { carrier, country, sender, applicationId });
    const minute = inMinute(id, carrier, country);
    // The answer to its submit never came, so the receipt is the first that says that the carrier had it.
    if (wasUnsent) {
      day('sent');
      minute(minutePlace.sent);
    }
    if (was === 'sent' || was === 'unknown' || wasUnsent) minute(minutePlace.reported);
    const before = columnOf(was);
    const after = columnOf(now);
    if (before === after) return;
    if (before !== undefined) day(before, -1);
    if (after === undefined) return;
    day(after);
    onEvent(carrier, country, after);
  }

  /** One flush at a time: two at once could write an older count after a newer one. */
  function flush(): Promise<void> {
    const next = flushing
      .catch(() => {})
      .then(async () => {
        const nowMs = clock.nowMs();
        await days.flush();
        await minutes.flush();
        days.forget((key) => key.dayMs < nowMs - countedDays * dayMs);
        minutes.forget((key) => key.minuteMs < nowMs - countedMinutesMs);
      });
    flushing = next;
    return next;
  }

  return {
    noteAnswers(carrier, texts) {
      for (const text of texts) noteAnswer(carrier, text);
    },
    noteReports(carrier, texts) {
      for (const text of texts) noteReport(carrier, text);
    },
    flush,
    start() {
      timer = setInterval(() => {
        flush().catch(({ message: reason }: Error) => log.debug({ reason }, 'totals not written; will retry'));
      }, flushEveryMs).unref();
    },
    async stop() {
      clearInterval(timer);
      await flush().catch(({ message: reason }: Error) => log.warn({ reason }, 'the last totals were not written'));
    },
  };
}

function raise(counts: Float64Array, place: number, by: number): void {
  counts[place] = (counts[place] ?? 0) + by;
}

const mostParts = 255;

/** What the provider says of the parts that it bills, or how many we made. */
function partsOf({ told, long }: Extract<SubmitResult, { outcome: 'accepted' }>): number | undefined {
  const parts = told?.parts;
  const isUsable = parts !== undefined && Number.isInteger(parts) && parts > 0 && parts <= mostParts;
  return isUsable ? parts : long?.total;
}

/** An expired text was not delivered; one whose outcome is unknown counts in no column. */
function columnOf(status: ChangedText['now']): 'delivered' | 'undelivered' | 'failed' | undefined {
  if (status === 'expired') return 'undelivered';
  return status === 'delivered' || status === 'undelivered' || status === 'failed' ? status : undefined;
}
