// Tests: test/contract/analytics.test.ts
import { type Static, Type } from 'typebox';
import { nullable } from '../../http/list-page.ts';
import { toTimestamp } from '../../platform/clock.ts';
import { outcomesOf, secondsOf, shareOf, type TextSums } from '../../quality/analytics/figures.ts';
import {
  type Analytics,
  type AnalyticsGroup,
  type SpanName,
  type Sums,
  spanNames,
} from '../../quality/analytics/read.ts';
import { wilson } from '../../quality/conversion/wilson.ts';

const share = (description: string) => nullable(Type.Number({ description, examples: [0.97] }));
const seconds = (description: string) =>
  nullable(
    Type.Number({ description: `${description}: an upper bound; 1801 means more than 30 minutes`, examples: [3] }),
  );

export const figures = {
  texts: Type.Integer({ description: 'delivered + unreported + undelivered + failed' }),
  delivered: Type.Integer(),
  unreported: Type.Integer({ description: 'Sent, and not reported on yet' }),
  undelivered: Type.Integer(),
  failed: Type.Integer({ description: 'The carrier refused it, it failed, or it expired before it was sent' }),
  delivered_share: share('delivered ÷ texts'),
  seconds_median: seconds('Half of the delivered texts took at most this long to the phone'),
  seconds_p95: seconds('19 of 20 delivered texts took at most this long to the phone'),
  code_seconds_median: seconds('Half of the delivered codes took at most this long to the phone'),
  code_seconds_p95: seconds('19 of 20 delivered codes took at most this long to the phone'),
};
const withConversion = {
  ...figures,
  verifications: Type.Integer({ description: 'Verifications that were started then and have ended' }),
  approved: Type.Integer({ description: 'Verifications whose code was entered' }),
  conversion: share('approved ÷ verifications'),
  conversion_low: share('Lower bound of the 95 % interval of conversion (Wilson)'),
  conversion_high: share('Upper bound of that interval'),
};
const totalSchema = Type.Object(withConversion, { title: 'DeliveryFigures' });
const steps = Type.Array(totalSchema, { description: 'One for each time of `at`' });

export const analyticsSchema = Type.Object(
  {
    span: Type.Unsafe<SpanName>({ type: 'string', enum: [...spanNames] }),
    by: Type.String({ examples: ['country'] }),
    step_seconds: Type.Integer({ examples: [300] }),
    at: Type.Array(Type.String(), { description: 'The begin of each step, oldest first; days are UTC' }),
    all: Type.Object({ total: totalSchema, steps }),
    data: Type.Array(
      Type.Object({
        name: nullable(Type.String({ description: 'Null for numbers of no country', examples: ['GB'] })),
        total: totalSchema,
        steps: Type.Array(totalSchema, { description: 'Only for the first five groups; empty for the others' }),
      }),
      { description: 'The groups with the most texts first' },
    ),
    truncated: Type.Boolean({ description: 'There are more than 100 groups' }),
  },
  { title: 'DeliveryAnalytics' },
);
export type AnalyticsRecord = Static<typeof analyticsSchema>;

export const spanQuery = Type.Unsafe<SpanName>({
  type: 'string',
  enum: [...spanNames],
  default: 'day',
  expected: `one of ${spanNames.join(', ')}`,
  description: 'The last hour by 5 minutes, day by hour, 7 days by day, or 30 days by day',
});

export const analyticsDescription =
  'Counts texts by when they were sent, and verifications by when they were started, about 11 minutes later: when they ' +
  'have ended. It reads sums, never records. In the last hour and day, a report later than 3 hours does not count.';

export function toAnalytics(found: Analytics, span: SpanName, by: AnalyticsGroup): AnalyticsRecord {
  const ofCarrier = by === 'carrier';
  return {
    span,
    by,
    step_seconds: found.stepMs / 1000,
    at: found.stepsMs.map(toTimestamp),
    all: { total: toFigures(found.all.total, false), steps: found.all.steps.map((sums) => toFigures(sums, false)) },
    data: found.groups.map(({ name, total, steps: ofGroup }) => ({
      name: name === '' ? null : name,
      total: toFigures(total, ofCarrier),
      steps: ofGroup.map((sums) => toFigures(sums, ofCarrier)),
    })),
    truncated: found.truncated,
  };
}

/** Outcomes and times to the phone, without verifications. */
export function toTextFigures(sums: TextSums, ofCarrier: boolean) {
  const outcomes = outcomesOf(sums, ofCarrier);
  return {
    ...outcomes,
    delivered_share: shareOf(outcomes.delivered, outcomes.texts),
    seconds_median: secondsOf(sums.arrived, 0.5),
    seconds_p95: secondsOf(sums.arrived, 0.95),
    code_seconds_median: secondsOf(sums.codeArrived, 0.5),
    code_seconds_p95: secondsOf(sums.codeArrived, 0.95),
  };
}

function toFigures(sums: Sums, ofCarrier: boolean): Static<typeof totalSchema> {
  const { verifications, approved } = sums;
  const interval = wilson(approved, verifications);
  return {
    ...toTextFigures(sums, ofCarrier),
    verifications,
    approved,
    conversion: shareOf(approved, verifications),
    conversion_low: interval === undefined ? null : shareOf(interval.low, 1),
    conversion_high: interval === undefined ? null : shareOf(interval.high, 1),
  };
}
