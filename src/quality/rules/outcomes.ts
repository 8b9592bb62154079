// Tests: test/contract/operator-alerts.test.ts, src/quality/rules/outcomes.test.ts
import { type AlertRule, type Condition, inCountry, nameOfCarrier, percent } from '../alerts/alert.ts';
import { refusedAdvice } from './refused-advice.ts';
import { findBad, type Judged, type Tally } from './tally.ts';

export const refused: AlertRule = (facts) =>
  findBad(facts, 'refused').map((tally) => {
    const { name, share, codes } = shown(tally);
    return condition('refused', tally, {
      forMs: 0,
      summary: `${name} refuses ${share} of ${tally.all} submits${inCountry(tally.country)}${codes}${said(tally)}.`,
      advice: refusedAdvice(name, tally.words),
    });
  });

export const undelivered: AlertRule = (facts) =>
  findBad(facts, 'undelivered').map((tally) => {
    const { name, share, codes } = shown(tally);
    return condition('undelivered', tally, {
      forMs: 0,
      summary: `${name} reports ${share} of ${tally.all} texts${inCountry(tally.country)} as not delivered${codes}${said(tally)}.`,
      advice: `Send a test to a phone of that country. If it does not arrive, route the country to another carrier, and ask the provider of ${name} what the error means.`,
    });
  });

/** Also found for a carrier that has backed off to a few submits a minute, because a share of the last submits decides. */
export const throttled: AlertRule = (facts) =>
  findBad(facts, 'throttled', true).map((tally) => {
    const { name, share } = shown(tally);
    return condition('throttled', tally, {
      forMs: 30_000,
      summary: `${name} throttled ${share} of ${tally.all} submits${said(tally)}.`,
      advice: `Set per_second of ${name} to the rate of your contract, or ask the provider for more. Until then, add another carrier to its routes.`,
    });
  });

/** A carrier that takes submits and does not answer. */
export const unanswered: AlertRule = (facts) =>
  findBad(facts, 'answers_slow', true).map((tally) => {
    const { name } = shown(tally);
    return condition('answers_slow', tally, {
      forMs: 0,
      summary: `${name} is connected and does not answer: ${tally.bad} of ${tally.all} submits had no answer.`,
      advice: `Pause ${name}, so that codes take another carrier, and ask the provider. Texts without an answer may have arrived.`,
    });
  });

function condition(
  kind: Judged,
  { carrier: key, country }: Tally,
  { forMs, summary, advice }: Pick<Condition, 'forMs' | 'summary' | 'advice'>,
): Condition {
  const about = { carrier: nameOfCarrier(key), country: country === '' ? null : country, applicationId: null };
  return { key: `${kind} ${key} ${country}`.trimEnd(), kind, ...about, forMs, summary, advice };
}

function shown({ carrier, bad, all, badCodes }: Tally) {
  const codes = badCodes === 0 ? '' : ` (${badCodes} ${badCodes === 1 ? 'code' : 'codes'})`;
  return { name: nameOfCarrier(carrier), share: percent(bad / all), codes };
}

function said({ words }: Tally): string {
  return words === '' ? '' : `: ${words}`;
}
