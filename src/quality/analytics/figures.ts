// Tests: src/quality/analytics/figures.test.ts
import { arrivalBounds, arrivalQuantileOf } from '../arrival-times.ts';

/** Counts of texts by when they were sent. */
export interface TextCounts {
  sent: number;
  /** Of the sent ones, those that the carrier has reported on. */
  reported: number;
  delivered: number;
  undelivered: number;
  /** Submits that the carrier refused for good. */
  refused: number;
  /** Texts that ended as failed: before a carrier had accepted them, or by a report. */
  failed: number;
  expired: number;
}

/** Counts with the times to the phone: delivered texts by the bounds of `arrival-times.ts`, and the codes among them. */
export interface TextSums extends TextCounts {
  arrived: number[];
  codeArrived: number[];
}

export const noTexts: Readonly<TextSums> = {
  ...{ sent: 0, reported: 0, delivered: 0, undelivered: 0, refused: 0, failed: 0, expired: 0 },
  ...{ arrived: [], codeArrived: [] },
};

export function addTexts(a: Readonly<TextSums>, b: Readonly<TextSums>): TextSums {
  return {
    sent: a.sent + b.sent,
    reported: a.reported + b.reported,
    delivered: a.delivered + b.delivered,
    undelivered: a.undelivered + b.undelivered,
    refused: a.refused + b.refused,
    failed: a.failed + b.failed,
    expired: a.expired + b.expired,
    arrived: addBuckets(a.arrived, b.arrived),
    codeArrived: addBuckets(a.codeArrived, b.codeArrived),
  };
}

function addBuckets(a: readonly number[], b: readonly number[]): number[] {
  return Array.from({ length: Math.max(a.length, b.length) }, (_, index) => (a[index] ?? 0) + (b[index] ?? 0));
}

/** Each text counts once in one of the four outcomes. */
export interface Outcomes {
  texts: number;
  delivered: number;
  unreported: number;
  undelivered: number;
  failed: number;
}

/**
 * Each text by its outcome. With `ofCarrier`, a code that the carrier refused counts as failed, though another carrier may
 * have delivered it. Otherwise a text counts where it ended.
 */
export function outcomesOf(counts: TextCounts, ofCarrier: boolean): Outcomes {
  const { sent, delivered, undelivered, refused, failed, expired } = counts;
  // Totals of an older version have no count of reports.
  const reported = Math.max(counts.reported, delivered + undelivered);
  const unreported = Math.max(0, sent - reported);
  const ended = delivered + undelivered + unreported;
  const texts = Math.max(ended + failed + expired, ofCarrier ? sent + refused + expired : 0);
  return { texts, delivered, unreported, undelivered, failed: texts - ended };
}

/** The bound, in seconds, below which this fraction of the texts arrived; null without texts. */
export function secondsOf(arrived: readonly number[], share: number): number | null {
  const ms = arrivalQuantileOf(arrived, share);
  if (ms === undefined) return null;
  return Number.isFinite(ms) ? ms / 1000 : overSeconds;
}

/** Texts that took longer than the last bound are counted together. */
const overSeconds = (arrivalBounds.at(-1) ?? 0) / 1000 + 1;

export function shareOf(part: number, whole: number): number | null {
  return whole === 0 ? null : Math.round((10_000 * part) / whole) / 10_000;
}
