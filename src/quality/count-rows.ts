// Tests: test/parts/totals.test.ts
import type { Channel } from '../messages/channel.ts';
import { createBoundedMap } from '../platform/bounded-map.ts';
import { type Clock, dayMs } from '../platform/clock.ts';
import type { Database } from '../platform/database/database.ts';
import { newId } from '../platform/ids.ts';
import { createCountBook } from '../platform/work/count-book.ts';
import {
  countedStepsMs,
  type StepKey,
  stepBookColumns,
  stepColumns,
  stepMs,
  writeSteps,
} from './analytics/step-store.ts';
import { countedCarrier } from './channel-key.ts';
import {
  countedMinutesMs,
  type MinuteColumn,
  type MinuteKey,
  minuteBookColumns,
  minuteColumns,
  writeMinutes,
} from './minute-store.ts';
import type { OutcomeRow } from './outcome-counts.ts';
import { countedDays, type DayColumn, type DayKey, dayBookColumns, dayColumns, writeDays } from './total-store.ts';

/** The key of a text's counts. */
export interface CountedText extends Pick<DayKey, 'country' | 'applicationId' | 'sender'> {
  /** The minute in which it was accepted. */
  minuteMs: number;
  channel: Channel;
}

/** The count rows of a text. The caller raises them at once, because a write may follow. */
export interface Rows extends CountedText {
  day: Float64Array | undefined;
  step: Float64Array | undefined;
  minute: Float64Array | undefined;
  /** The row of the outcome `accepted`: most texts of a batch count in it. */
  accepted?: OutcomeRow | undefined;
}

/** Columns that days and minutes have. */
export type SharedColumn = DayColumn & MinuteColumn;

/** Callers choose senders, so the senders of an application beyond this number, in a day, are counted together. */
const mostSenders = 200;
const otherSenders = '(others)';
const mostApplications = 10_000;

export const dayIndex = Object.fromEntries(dayColumns.map((name, index) => [name, index])) as Record<DayColumn, number>;
export const minuteIndex = Object.fromEntries(minuteColumns.map((name, index) => [name, index])) as Record<
  MinuteColumn,
  number
>;

/** Undefined for a count that steps do not have. */
const stepIndex: Partial<Record<DayColumn, number>> = Object.fromEntries(
  stepColumns.map((name, index) => [name, index]),
);

/** The rows of days, steps and minutes that texts count in. */
export interface CountRows {
  /** The rows of a text: those of the text before it, if their keys are equal. A claim has few applications. */
  rowsOf(carrier: string, sentAtMs: number, text: CountedText, before: Rows | undefined): Rows;
  flush(): Promise<void>;
}

export function createCountRows(database: Database, clock: Clock): CountRows {
  const newName = () => newId('nod', clock);
  const days = createCountBook<DayKey>({
    columns: dayBookColumns,
    newName,
    write: (name, rows) => writeDays(database, name, rows),
  });
  const steps = createCountBook<StepKey>({
    columns: stepBookColumns,
    newName,
    write: (name, rows) => writeSteps(database, name, rows),
  });
  const minutes = createCountBook<MinuteKey>({
    columns: minuteBookColumns,
    newName,
    write: (name, rows) => writeMinutes(database, name, rows),
  });
  /** By day and application: the senders that are counted one by one. */
  const senders = createBoundedMap<string, Set<string>>(mostApplications);
  function senderOf(day: number, applicationId: string, sender: string): string {
    const id = `${day} ${applicationId}`;
    const known = senders.get(id) ?? new Set();
    if (known.size === 0) senders.set(id, known);
    if (known.has(sender)) return sender;
    if (known.size >= mostSenders) return otherSenders;
    known.add(sender);
    return sender;
  }

  /** The rows of a day and of a step; undefined for those whose rows may have been added up already. */
  function datedRowsOf(atMs: number, carrier: string, { country, applicationId, sender: given }: CountedText) {
    const day = atMs - (atMs % dayMs);
    const nowMs = clock.nowMs();
    if (day < nowMs - countedDays * dayMs) return { day: undefined, step: undefined };
    const sender = senderOf(day, applicationId, given);
    const id = `${carrier} ${country} ${applicationId} ${sender}`;
    const key = { carrier, country, sender, applicationId };
    const step = atMs - (atMs % stepMs);
    return {
      day: days.counts(`${day} ${id}`, () => ({ ...key, dayMs: day })),
      step: step < nowMs - countedStepsMs ? undefined : steps.counts(`${step} ${id}`, () => ({ ...key, atMs: step })),
    };
  }

  /** The row of a minute; undefined for one that is too old to be counted. */
  function minuteRowOf(minute: number, carrier: string, country: string) {
    if (minute < clock.nowMs() - countedMinutesMs) return undefined;
    return minutes.counts(`${minute} ${carrier} ${country}`, () => ({ minuteMs: minute, carrier, country }));
  }

  function rowsOf(carrier: string, sentAtMs: number, text: CountedText, before: Rows | undefined): Rows {
    const { country, applicationId, sender, minuteMs, channel } = text;
    const agrees =
      before !== undefined &&
      before.applicationId === applicationId &&
      before.sender === sender &&
      before.country === country &&
      before.channel === channel &&
      before.minuteMs === minuteMs;
    if (agrees) return before;
    const minute = minuteRowOf(minuteMs, carrier, country);
    const dated = datedRowsOf(sentAtMs, countedCarrier(carrier, channel), text);
    return { country, applicationId, sender, minuteMs, channel, ...dated, minute };
  }

  return {
    rowsOf,
    async flush() {
      const nowMs = clock.nowMs();
      await days.flush();
      await steps.flush();
      await minutes.flush();
      days.forget((key) => key.dayMs < nowMs - countedDays * dayMs);
      steps.forget((key) => key.atMs < nowMs - countedStepsMs);
      minutes.forget((key) => key.minuteMs < nowMs - countedMinutesMs);
    },
  };
}

export function raise(counts: Float64Array | undefined, index: number | undefined, by = 1): void {
  if (counts !== undefined && index !== undefined) counts[index] = (counts[index] ?? 0) + by;
}

/** Raises a count of the day, the step and the minute, and that of codes if it is given. */
export function raiseAll(
  { day, step, minute }: Rows,
  column: SharedColumn,
  ofCodes: SharedColumn | undefined,
  by = 1,
): void {
  raise(day, dayIndex[column], by);
  raise(step, stepIndex[column], by);
  raise(minute, minuteIndex[column], by);
  if (ofCodes === undefined) return;
  raise(day, dayIndex[ofCodes], by);
  raise(minute, minuteIndex[ofCodes], by);
}
