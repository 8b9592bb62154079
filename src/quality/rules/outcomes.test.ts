import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Condition } from '../alerts/alert.ts';
import type { AlertFacts, CarrierFacts } from '../alerts/facts.ts';
import type { Outcome, RecentOutcome } from '../outcome-store.ts';
import { answersSlow } from './answers.ts';
import { nameCauses } from './causes.ts';
import { refused, throttled, unanswered } from './outcomes.ts';

const carrier: CarrierFacts = {
  key: 'acme#1',
  name: 'acme',
  paused: false,
  reports: true,
  binds: [],
  certificates: [],
};
const nowMs = 1_000_000;
/** By default, a row whose outcomes came during the whole time, and not as a run. */
const row = (outcome: Outcome, total: number, more: Partial<RecentOutcome> = {}): RecentOutcome => {
  const times = { run: 0, runCodes: 0, runSinceMs: nowMs - 100_000, lastMs: nowMs };
  return { carrier: 'acme#1', country: 'GB', outcome, words: '', total, codes: 0, ...times, ...more };
};

function factsOf(lately: RecentOutcome[], longer = lately, changes: Partial<AlertFacts> = {}): AlertFacts {
  const none = { queues: [], answers: [], settled: [], unmatched: [], codes: [], spend: [], holds: [] };
  return { nowMs, carriers: [carrier], outcomes: { lately, longer }, ...none, ...changes };
}

const refusals = (lately: RecentOutcome[], longer?: RecentOutcome[]) =>
  refused(factsOf(lately, longer)).map(({ country }) => country);

test('few texts count if there are three codes among them, and half are refused', () => {
  assert.deepEqual(refusals([row('refused', 2, { codes: 2 })]), []);
  assert.deepEqual(refusals([row('refused', 3, { codes: 3 })]), ['GB']);
  assert.deepEqual(refusals([row('refused', 3, { codes: 3 }), row('accepted', 4, { codes: 4 })]), []);
  assert.deepEqual(refusals([row('refused', 9)]), [], 'plain texts: ten');
  assert.deepEqual(refusals([row('refused', 10)]), ['GB']);
  assert.deepEqual(refusals([row('accepted', 80), row('refused', 20)]), [], 'some numbers are always wrong');
  assert.deepEqual(refusals([row('accepted', 70), row('unavailable', 30)]), ['GB']);
});

test('at low traffic the last quarter of an hour counts, until a text gets through', () => {
  const night = [row('refused', 3, { codes: 3 })];
  assert.deepEqual(refusals([], night), ['GB']);
  assert.deepEqual(refusals([row('refused', 1, { codes: 1 })], night), ['GB']);
  assert.deepEqual(refusals([row('accepted', 1, { codes: 1 })], [...night, row('accepted', 1, { codes: 1 })]), []);
});

test('one country of several has an alert of its own; all together have one', () => {
  const bad = (country: string) => row('refused', 5, { country, codes: 5 });
  assert.deepEqual(refusals([bad('GB'), bad('DE'), row('accepted', 5, { country: 'FR' })]), ['GB', 'DE']);
  assert.deepEqual(refusals([bad('GB'), bad('DE')]), [null]);
});

test('a throttled carrier that has backed off counts by its last submits, over all countries', () => {
  const seen = (rows: RecentOutcome[]) => throttled(factsOf(rows)).map(({ summary }) => summary);
  assert.deepEqual(seen([row('throttled', 2)]), []);
  assert.deepEqual(seen([row('throttled', 2, { words: '0x58: throttled' }), row('throttled', 1, { country: 'DE' })]), [
    'acme throttled 100 % of 3 submits: 0x58: throttled.',
  ]);
});

const secondsAgo = (seconds: number) => nowMs - seconds * 1000;
/** Bad answers alone, since a time. */
const run = (outcome: Outcome, total: number, { since = 12, last = 1, codes = 0 }) =>
  row(outcome, total, { codes, run: total, runCodes: codes, runSinceMs: secondsAgo(since), lastMs: secondsAgo(last) });
const goodUntil = (seconds: number, total = 600) => row('accepted', total, { lastMs: secondsAgo(seconds) });

test('a run of bad answers counts at once, however many texts got through before', () => {
  assert.deepEqual(refusals([goodUntil(15), run('refused', 3, { codes: 3 })]), ['GB']);
  assert.deepEqual(refusals([goodUntil(15), run('refused', 9, {})]), [], 'plain texts: ten');
  assert.deepEqual(refusals([goodUntil(15), run('refused', 2, { codes: 2 })]), []);
  assert.deepEqual(refusals([goodUntil(9), run('refused', 3, { codes: 3, since: 8 })]), [], 'a good one may follow');
  assert.deepEqual(refusals([goodUntil(0), run('refused', 30, { codes: 30 })]), [], 'one got through since');
  const rows = [goodUntil(40), run('throttled', 2, { since: 35, last: 20 }), run('throttled', 1, { since: 5 })];
  assert.equal(throttled(factsOf(rows)).length, 1, 'the run goes on in the next minute');
  const [silent] = unanswered(factsOf([goodUntil(40), run('in_doubt', 3, {})]));
  assert.equal(silent?.summary, 'acme is connected and does not answer: 3 of 3 submits had no answer.');
});

test('it is over a minute after the last bad answer, if enough texts got through since', () => {
  const refused = row('refused', 60, { lastMs: secondsAgo(70) });
  const good = (total: number) => row('accepted', total, { run: total, runSinceMs: secondsAgo(65) });
  assert.deepEqual(refusals([refused, good(9)]), ['GB']);
  assert.deepEqual(refusals([refused, good(10)]), []);
  assert.deepEqual(refusals([{ ...refused, lastMs: secondsAgo(50) }, good(10)]), ['GB']);
});

test('a carrier without a connection has no alert about its answers', () => {
  const bind = { slot: 0, state: 'waiting', mode: 'transceiver', host: null, error: null, nextTryAtMs: null } as const;
  const down = { ...carrier, binds: [{ ...bind, carrierId: 1, node: 'nod_a', sinceMs: 0 }] };
  for (const [rule, outcome] of [
    [refused, 'refused'],
    [throttled, 'throttled'],
    [answersSlow, 'in_doubt'],
  ] as const) {
    const rows = [row(outcome, 30, { codes: 30 })];
    assert.equal(rule(factsOf(rows)).length, 1, outcome);
    assert.deepEqual(rule(factsOf(rows, rows, { carriers: [down] })), [], outcome);
  }
});

test('a symptom names the cause that its carrier has, and takes its advice', () => {
  const about = { country: null, applicationId: null, forMs: 0 };
  const condition = (kind: Condition['kind'], name: string): Condition => {
    return { ...about, key: kind, kind, carrier: name, summary: `${kind} of ${name}.`, advice: `Mend ${kind}.` };
  };
  const named = nameCauses([
    condition('throttled', 'acme'),
    condition('bind_down', 'acme'),
    condition('codes_waiting', 'acme'),
    condition('codes_waiting', 'other'),
  ]);
  assert.deepEqual(
    named.slice(2).map(({ summary, advice }) => [summary, advice]),
    [
      ['codes_waiting of acme. bind_down of acme.', 'Mend bind_down.'],
      ['codes_waiting of other.', 'Mend codes_waiting.'],
    ],
  );
});
