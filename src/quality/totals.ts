import type { AnsweredText } from '../delivery/attempts/answered-text.ts';
import type { SubmitResult } from '../delivery/carrier/carrier.ts';
import type { ChangedText } from '../delivery/receipts/store.ts';
import { createBoundedMap } from '../platform/bounded-map.ts';
import { type Clock, dayMs } from '../platform/clock.ts';
import type { Database } from '../platform/database/database.ts';
import { newId, uuidTimeMs } from '../platform/ids.ts';
import type { Log } from '../platform/log.ts';
import { createCountBook } from '../platform/work/count-book.ts';
import { createPoller } from '../platform/work/poller.ts';
import { bucketOf } from './answer-times.ts';
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

/**
 * Counts the answers and reports of carriers. No text waits for it: everything is counted in memory and written every 5
 * s.
 */
export interface Totals {
  noteAnswers(carrier: string, texts: readonly AnsweredText[]): void;
  noteReports(carrier: string, texts: readonly ChangedText[]): void;
  /** Writes everything that this node has counted. */
  flush(): Promise<void>;
  start(): void;
  stop(): Promise<void>;
}

/** An event for the metrics of this node, with the carrier's name and the country as labels. */
export type TextEvent = SubmitResult['outcome'] | 'delivered' | 'undelivered' | 'failed';

export interface TotalsOptions {
  database: Database;
  clock: Clock;
  log: Log;
  onEvent?: (carrier: string, country: string, event: TextEvent) => void;
  onAnswerTime?: (carrier: string, tookMs: number) => void;
}

/** The key of a text's counts. */
interface CountedText extends Pick<DayKey, 'country' | 'applicationId' | 'sender'> {
  /** The minute in which it was accepted. */
  minuteMs: number;
}

/** The count rows of a text. The caller raises them at once, because a write may follow. */
interface Rows extends CountedText {
  day: Float64Array | undefined;
  minute: Float64Array | undefined;
}

const flushEveryMs = 5000;
/** Callers choose senders, so the senders of an application beyond this number, in a day, are counted together. */
const mostSenders = 200;
const otherSenders = '(others)';
const mostApplications = 10_000;

const dayIndex = Object.fromEntries(dayColumns.map((name, index) => [name, index])) as Record<DayColumn, number>;
const minuteIndex = Object.fromEntries(minuteColumns.map((name, index) => [name, index])) as Record<
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
  /** One flush at a time: two at once could write an older count after a newer one. */
  const flushes = createPoller({
    run: flush,
    pauseMs: flushEveryMs,
    onFailure: ({ message: reason }) => log.debug({ reason }, 'totals not written; will retry'),
  });

  function senderOf(day: number, applicationId: string, sender: string): string {
    const id = `${day} ${applicationId}`;
    const known = senders.get(id) ?? new Set();
    if (known.size === 0) senders.set(id, known);
    if (known.has(sender)) return sender;
    if (known.size >= mostSenders) return otherSenders;
    known.add(sender);
    return sender;
  }

  /** The row of a day; undefined for a day whose rows may have been added up already. */
  function dayRowOf(atMs: number, carrier: string, { country, applicationId, sender: given }: CountedText) {
    const day = atMs - (atMs % dayMs);
    if (day < clock.nowMs() - countedDays * dayMs) return undefined;
    const sender = senderOf(day, applicationId, given);
    const id = `${day} ${carrier} ${country} ${applicationId} ${sender}`;
    return days.counts(id, () => ({ dayMs: day, carrier, country, sender, applicationId }));
  }

  /** The row of a minute; undefined for one that is too old to be counted. */
  function minuteRowOf(minute: number, carrier: string, country: string) {
    if (minute < clock.nowMs() - countedMinutesMs) return undefined;
    return minutes.counts(`${minute} ${carrier} ${country}`, () => ({ minuteMs: minute, carrier, country }));
  }

  /** The rows of a text: those of the text before it, if their keys are equal. A claim has few applications. */
  function rowsOf(carrier: string, sentAtMs: number, text: CountedText, before: Rows | undefined): Rows {
    const { country, applicationId, sender, minuteMs } = text;
    const agrees =
      before !== undefined &&
      before.applicationId === applicationId &&
      before.sender === sender &&
      before.country === country &&
      before.minuteMs === minuteMs;
    if (agrees) return before;
    const day = dayRowOf(sentAtMs, carrier, text);
    return { country, applicationId, sender, minuteMs, day, minute: minuteRowOf(minuteMs, carrier, country) };
  }

  /** Returns the rows it counted in. */
  function noteAnswer(
    carrier: string,
    nowMs: number,
    answered: AnsweredText,
    before: Rows | undefined,
  ): Rows | undefined {
    const { claimed, answer, tookMs, isLate } = answered;
    const { message, entry } = claimed;
    const outcome = answer?.outcome ?? 'in_doubt';
    const isSettled = outcome === 'accepted' || outcome === 'never';
    if (outcome === 'not_sent' || (isLate && !isSettled)) return before;
    const country = countryOf(message.to);
    const minuteMs = minuteOf(uuidTimeMs(entry.messageId));
    const text = { country, applicationId: entry.applicationId, sender: message.sender, minuteMs };
    const rows = rowsOf(carrier, nowMs, text, before);
    const { day, minute } = rows;
    onEvent(carrier, country, outcome);
    if (!isLate) {
      raise(day, dayIndex.attempts);
      raise(minute, minuteIndex.attempts);
      if (entry.inDoubt) raise(day, dayIndex.copies);
      if (tookMs !== undefined) {
        raise(minute, minuteColumns.length + bucketOf(tookMs));
        onAnswerTime(carrier, tookMs);
      }
    }
    if (answer?.outcome === 'accepted') {
      raise(day, dayIndex.sent);
      raise(day, dayIndex.parts, partsOf(answer) ?? message.segmentCount);
      raise(minute, minuteIndex.sent);
    } else if (outcome === 'never') raise(day, dayIndex.failed);
    else if (outcome === 'throttled' || outcome === 'in_doubt') {
      raise(day, dayIndex[outcome]);
      raise(minute, minuteIndex[outcome]);
    }
    return rows;
  }

  function noteReport(carrier: string, report: ChangedText): void {
    const { id, applicationId, sender, to, sentAtMs, was, now, wasUnsent } = report;
    const [before, after] = [columnOf(was), columnOf(now)];
    const isFirst = was === 'sent' || was === 'unknown' || wasUnsent;
    if (!isFirst && before === after) return;
    const country = countryOf(to);
    const text = { country, applicationId, sender, minuteMs: minuteOf(uuidTimeMs(id)) };
    const { day, minute } = rowsOf(carrier, sentAtMs ?? clock.nowMs(), text, undefined);
    // The answer to its submit never came, so the receipt is the first proof that the carrier had it.
    if (wasUnsent) {
      raise(day, dayIndex.sent);
      raise(minute, minuteIndex.sent);
    }
    if (isFirst) raise(minute, minuteIndex.reported);
    if (before === after) return;
    if (before !== undefined) raise(day, dayIndex[before], -1);
    if (after === undefined) return;
    raise(day, dayIndex[after]);
    onEvent(carrier, country, after);
  }

  async function flush(): Promise<void> {
    const nowMs = clock.nowMs();
    await days.flush();
    await minutes.flush();
    days.forget((key) => key.dayMs < nowMs - countedDays * dayMs);
    minutes.forget((key) => key.minuteMs < nowMs - countedMinutesMs);
  }

  return {
    noteAnswers(carrier, texts) {
      const nowMs = clock.nowMs();
      let rows: Rows | undefined;
      for (const text of texts) rows = noteAnswer(carrier, nowMs, text, rows);
    },
    noteReports(carrier, texts) {
      for (const text of texts) noteReport(carrier, text);
    },
    flush: flushes.poll,
    start: () => flushes.start(),
    async stop() {
      await flushes.stop();
      await flushes
        .poll()
        .catch(({ message: reason }: Error) => log.warn({ reason }, 'the last totals were not written'));
    },
  };
}

function raise(counts: Float64Array | undefined, index: number, by = 1): void {
  if (counts !== undefined) counts[index] = (counts[index] ?? 0) + by;
}

const mostParts = 255;

/** The number of parts that the provider bills, or the number that we made. */
function partsOf({ details, long }: Extract<SubmitResult, { outcome: 'accepted' }>): number | undefined {
  const parts = details?.parts;
  const isUsable = parts !== undefined && Number.isInteger(parts) && parts > 0 && parts <= mostParts;
  return isUsable ? parts : long?.total;
}

/** An expired text was not delivered; one whose outcome is unknown counts in no column. */
function columnOf(status: ChangedText['now']): 'delivered' | 'undelivered' | 'failed' | undefined {
  if (status === 'expired') return 'undelivered';
  return status === 'delivered' || status === 'undelivered' || status === 'failed' ? status : undefined;
}
