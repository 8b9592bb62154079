import type { AnsweredText, UnsentEnd } from '../delivery/attempts/answered-text.ts';
import { type AttemptOutcome, outcomeOf } from '../delivery/attempts/attempt.ts';
import type { SubmitResult } from '../delivery/carrier/carrier.ts';
import { readCarrierWords } from '../delivery/carrier/words.ts';
import type { ChangedText } from '../delivery/receipts/changed-text.ts';
import { channelNames } from '../messages/channel.ts';
import type { Clock } from '../platform/clock.ts';
import type { Database } from '../platform/database/database.ts';
import { uuidTimeMs } from '../platform/ids.ts';
import type { Log } from '../platform/log.ts';
import { createPoller } from '../platform/work/poller.ts';
import { stepTimes } from './analytics/step-store.ts';
import { bucketOf } from './answer-times.ts';
import { arrivalBucketOf } from './arrival-times.ts';
import {
  type CountedText,
  createCountRows,
  dayIndex,
  type Rows,
  raise,
  raiseAll,
  type SharedColumn,
} from './count-rows.ts';
import { createCountries } from './country-of.ts';
import { minuteOf, minuteTimes } from './minute-store.ts';
import { createOutcomeCounts } from './outcome-counts.ts';
import { dayTimes } from './total-store.ts';

/**
 * Counts the answers and reports of carriers. No text waits for it: everything is counted in memory and written every 5
 * s.
 */
export interface Totals {
  noteAnswers(carrier: string, texts: readonly AnsweredText[]): void;
  noteReports(carrier: string, texts: readonly ChangedText[]): void;
  /** Counts texts that ended before a carrier had accepted them. */
  noteEnds(carrier: string, ends: readonly UnsentEnd[]): void;
  /** Writes everything that this node has counted. */
  flush(): Promise<void>;
  start(): void;
  stop(): Promise<void>;
}

/** An event for the metrics of this node, with the carrier's name and the country as labels. */
export type TextEvent = SubmitResult['outcome'] | 'delivered' | 'undelivered' | 'failed' | 'expired';

export interface TotalsOptions {
  database: Database;
  clock: Clock;
  log: Log;
  onEvent?: (carrier: string, country: string, event: TextEvent) => void;
  onAnswerTime?: (carrier: string, tookMs: number) => void;
}

const flushEveryMs = 5000;
export function createTotals(options: TotalsOptions): Totals {
  const { database, clock, log, onEvent = () => {}, onAnswerTime = () => {} } = options;
  const countryOf = createCountries();
  const counts = createCountRows(database, clock);
  const { rowsOf } = counts;
  const outcomes = createOutcomeCounts(database, clock);
  /** One flush at a time: two at once could write an older count after a newer one. */
  const flushes = createPoller({
    run: flush,
    pauseMs: flushEveryMs,
    onFailure: ({ message: reason }) => log.debug({ reason }, 'totals could not be written; will retry'),
  });

  /** Returns the rows it counted in. */
  function noteAnswer(
    carrier: string,
    nowMs: number,
    answered: AnsweredText,
    before: Rows | undefined,
  ): Rows | undefined {
    const { claimed, answer, tookMs, isLate } = answered;
    const outcome = outcomeOf(answer);
    const isSettled = outcome === 'accepted' || outcome === 'refused';
    if (answer?.outcome === 'not_sent' || (isLate && !isSettled)) return before;
    const rows = rowsOf(carrier, nowMs, countedText(claimed), before);
    const { country, day, minute } = rows;
    const isCode = claimed.message.api === 'verify';
    onEvent(carrier, country, answer?.outcome ?? 'in_doubt');
    if (!isLate) {
      raiseAll(rows, 'attempts', isCode ? 'code_attempts' : undefined);
      if (claimed.entry.inDoubt) raise(day, dayIndex.copies);
      if (tookMs !== undefined) {
        raise(minute, minuteTimes.took + bucketOf(tookMs));
        onAnswerTime(carrier, tookMs);
      }
    }
    raiseAll(rows, answerColumn[outcome], isCode ? codeAnswerColumn[outcome] : undefined);
    if (answer?.outcome === 'accepted') {
      raise(day, dayIndex.parts, partsOf(answer) ?? claimed.message.segmentCount);
      rows.accepted ??= outcomes.row({ carrier, country, outcome, words: '' });
      outcomes.note(rows.accepted, isCode);
    } else {
      const words = readCarrierWords(answer?.reported) ?? errorOf(answer);
      outcomes.note(outcomes.row({ carrier, country, outcome, words }), isCode);
    }
    return rows;
  }

  function countedText({ message, entry }: UnsentEnd['claimed']): CountedText {
    const { applicationId, messageId } = entry;
    const minuteMs = minuteOf(uuidTimeMs(messageId));
    return {
      country: countryOf(message.to),
      applicationId,
      sender: message.sender,
      minuteMs,
      channel: message.given?.channel ?? 'sms',
    };
  }

  function noteReport(carrier: string, report: ChangedText): void {
    const { id, applicationId, sender, to, sentAtMs, was, now, wasUnsent, isCode, channel } = report;
    const [before, after] = [columnOf(was), columnOf(now)];
    const isFirst = was === 'sent' || was === 'unknown' || wasUnsent;
    if (!isFirst && before === after) return;
    const country = countryOf(to);
    const minuteMs = minuteOf(uuidTimeMs(id));
    const text = { country, applicationId, sender, minuteMs, channel: channelNames[channel ?? 0] ?? 'sms' };
    const rows = rowsOf(carrier, sentAtMs ?? clock.nowMs(), text, undefined);
    // The answer to its submit never came, so the receipt is the first proof that the carrier had it.
    if (wasUnsent) raiseAll(rows, 'sent', isCode ? 'code_sent' : undefined);
    if (isFirst) raiseAll(rows, 'reported', undefined);
    if (before === after) return;
    if (before !== undefined) raiseAll(rows, before, isCode ? codeColumn[before] : undefined, -1);
    if (after === undefined) return;
    raiseAll(rows, after, isCode ? codeColumn[after] : undefined);
    onEvent(carrier, country, after);
    const outcome = after === 'delivered' ? after : 'undelivered';
    outcomes.note(outcomes.row({ carrier, country, outcome, words: report.reported ?? '' }), isCode);
    if (after === 'delivered') noteArrival(rows, report);
  }

  function noteArrival({ day, step, minute }: Rows, { id, dueAtMs, isCode }: ChangedText): void {
    const fromMs = Math.max(uuidTimeMs(id), dueAtMs ?? 0);
    const bucket = arrivalBucketOf(Math.max(0, clock.nowMs() - fromMs));
    raise(day, dayTimes.arrived + bucket);
    raise(step, stepTimes.arrived + bucket);
    raise(minute, minuteTimes.arrived + bucket);
    if (!isCode) return;
    raise(day, dayTimes.codeArrived + bucket);
    raise(step, stepTimes.codeArrived + bucket);
    raise(minute, minuteTimes.codeArrived + bucket);
  }

  function noteEnd(carrier: string, { claimed, status }: UnsentEnd): void {
    const rows = rowsOf(carrier, clock.nowMs(), countedText(claimed), undefined);
    raiseAll(rows, status, claimed.message.api === 'verify' ? 'code_failed' : undefined);
    onEvent(carrier, rows.country, status);
  }

  async function flush(): Promise<void> {
    await counts.flush();
    await outcomes.flush();
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
    noteEnds(carrier, ends) {
      for (const end of ends) noteEnd(carrier, end);
    },
    flush: flushes.poll,
    start: () => flushes.start(),
    async stop() {
      await flushes.stop();
      await flushes
        .poll()
        .catch(({ message: reason }: Error) =>
          log.warn({ reason }, 'the totals since the last flush could not be written and are lost'),
        );
    },
  };
}

const answerColumn = {
  accepted: 'sent',
  refused: 'refused',
  unavailable: 'unavailable',
  throttled: 'throttled',
  in_doubt: 'in_doubt',
} as const satisfies Record<AttemptOutcome, SharedColumn>;
const codeAnswerColumn: Partial<Record<AttemptOutcome, SharedColumn>> = {
  accepted: 'code_sent',
  refused: 'code_refused',
};
const codeColumn = { delivered: 'code_delivered', undelivered: 'code_failed', failed: 'code_failed' } as const;

/** Our code for an error, where the carrier gave no words. */
function errorOf(answer: SubmitResult | undefined): string {
  return answer !== undefined && 'error' in answer ? answer.error : '';
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
