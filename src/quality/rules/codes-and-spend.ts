// Tests: test/contract/operator-alerts.test.ts
import { type AlertRule, type Condition, inCountry, percent } from '../alerts/alert.ts';
import { enoughCodes } from '../alerts/facts.ts';
import { wilson } from '../conversion/wilson.ts';

/** Significantly fewer codes are typed in than before. */
export const conversionDrop: AlertRule = ({ codes }) =>
  codes.flatMap(({ carrier, country, lately, before }): Condition[] => {
    const now = wilson(lately.approved, lately.codes);
    const then = wilson(before.approved, before.codes);
    if (now === undefined || then === undefined || lately.codes < enoughCodes || now.high >= then.low) return [];
    return [
      {
        key: `conversion_drop ${carrier} ${country}`,
        kind: 'conversion_drop',
        carrier,
        country: country === '' ? null : country,
        applicationId: null,
        forMs: 0,
        summary: `${percent(now.value)} of ${lately.codes} codes${inCountry(country)} by ${carrier} were entered, down from ${percent(then.value)}.`,
        advice:
          'Test the carrier with a phone of that country. Route the country to another carrier if texts are lost; check for pumping if they are not.',
      },
    ];
  });

const levels = [50, 80, 100];

/** Each level is raised once a day. */
export const spend: AlertRule = ({ spend: applications }) =>
  applications.flatMap(({ applicationId, percent: reached, segments, most }) =>
    levels
      .filter((level) => level <= reached)
      .map(
        (level): Condition => ({
          key: `spend ${applicationId} ${level}`,
          kind: 'spend',
          carrier: null,
          country: null,
          applicationId,
          forMs: 0,
          summary:
            level === 100
              ? `Application ${applicationId} has used its ${most} segments of today. Further texts are refused.`
              : `Application ${applicationId} has used ${level} % of its ${most} segments of today (${segments}).`,
          advice:
            'Check its totals by country. If this is expected, raise segments_per_day. Otherwise, revoke its keys.',
        }),
      ),
  );
