// Tests: test/contract/operator-alerts.test.ts
import { minuteMs } from '../../platform/clock.ts';
import { type AlertRule, type Condition, inCountry, nameOfCarrier, percent } from '../alerts/alert.ts';
import { quantileOf } from '../answer-times.ts';
import { isDown } from './connections.ts';
import { unanswered } from './outcomes.ts';

/** Fewer submits are not significant. */
const enoughAnswers = 50;
const slowMs = 5000;
const enoughSent = 100;
const missingShare = 0.3;
const mostUnmatched = 20;

/** One submit in twenty takes longer than five seconds, or many are not answered at all. */
export const answersSlow: AlertRule = (facts) => {
  const silent = unanswered(facts);
  const others = slowToAnswer(facts).filter(({ carrier }) => !silent.some((each) => each.carrier === carrier));
  return [...silent, ...others];
};

const slowToAnswer: AlertRule = ({ answers, carriers }) =>
  answers.flatMap(({ carrier: key, took }): Condition[] => {
    const carrier = carriers.find((each) => each.key === key);
    if (carrier !== undefined && isDown(carrier)) return [];
    const count = took.reduce((sum, each) => sum + each, 0);
    const p95Ms = quantileOf(took, 0.95);
    if (count < enoughAnswers || p95Ms === undefined || p95Ms <= slowMs) return [];
    const name = nameOfCarrier(key);
    const limit = Number.isFinite(p95Ms) ? `more than ${slowMs / 1000} s` : 'more than 30 s';
    return [
      {
        key: `answers_slow ${key}`,
        kind: 'answers_slow',
        carrier: name,
        country: null,
        applicationId: null,
        forMs: minuteMs,
        summary: `${name} takes ${limit} to answer 1 submit in 20 (of ${count} in 5 minutes).`,
        advice: 'Ask the provider. A smaller window may help. Codes that wait 5 s for an answer go to another carrier.',
      },
    ];
  });

/** A carrier with receipts stops sending them: it may have lost the texts. */
export const receiptsMissing: AlertRule = ({ settled, carriers }) =>
  settled.flatMap(({ carrier: key, country, sent, reported }): Condition[] => {
    const reports = carriers.find((carrier) => carrier.key === key)?.reports ?? false;
    const share = sent === 0 ? 0 : 1 - reported / sent;
    if (!reports || sent < enoughSent || share <= missingShare) return [];
    const name = nameOfCarrier(key);
    return [
      {
        key: `receipts_missing ${key} ${country}`,
        kind: 'receipts_missing',
        carrier: name,
        country: country === '' ? null : country,
        applicationId: null,
        forMs: 5 * minuteMs,
        summary: `${name} has not reported on ${percent(share)} of ${sent} texts${inCountry(country)} after half an hour.`,
        advice:
          'Send a test to a phone of yours. If it does not arrive, pause the carrier or route the country elsewhere.',
      },
    ];
  });

export const receiptsUnmatched: AlertRule = ({ unmatched, carriers }) =>
  unmatched
    .filter(({ carrier, count }) => count >= mostUnmatched && carriers.some(({ key }) => key === carrier))
    .map(({ carrier: key, count }): Condition => {
      const name = nameOfCarrier(key);
      return {
        key: `receipts_unmatched ${key}`,
        kind: 'receipts_unmatched',
        carrier: name,
        country: null,
        applicationId: null,
        forMs: 0,
        summary: `${count} receipts of ${name} match no text.`,
        advice:
          'Compare ids in the carrier’s log and correct its message_id setting; or another system uses the account.',
      };
    });
