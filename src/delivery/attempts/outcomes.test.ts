import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createTestClock } from '../../../test/support/clock.ts';
import type { SubmitResult } from '../carrier/carrier.ts';
import { createCopyBudget } from '../carrier/copy-budget.ts';
import { createCarrierOutcomes } from './outcomes.ts';
import type { ClaimedText } from './queued-text.ts';

function text(to: string, api: 'sms' | 'verify' = 'sms', applicationId = 'app_1'): ClaimedText {
  return { message: { to, api, applicationId } } as ClaimedText;
}

const works: SubmitResult = { outcome: 'accepted', carrierMessageId: '1' };
const busy: SubmitResult = { outcome: 'retry', error: 'carrier_unavailable' };

function create() {
  const clock = createTestClock();
  const lookups: string[] = [];
  let changes = 0;
  const outcomes = createCarrierOutcomes({
    clock,
    countryOf(to) {
      lookups.push(to);
      return to.startsWith('+44') ? 'GB' : 'FR';
    },
    onChange: () => changes++,
  });
  return { clock, outcomes, lookups, changes: () => changes };
}

describe('what answers say about a carrier', () => {
  test('no country is determined for a carrier that works', () => {
    const { outcomes, lookups } = create();
    for (let n = 0; n < 5000; n++) outcomes.note(text('+447700900123'), works);
    assert.equal(outcomes.admits(text('+447700900123')), true);
    assert.equal(lookups.length, 0);
  });

  test('texts that got through in the minute before count when others begin to fail', () => {
    const { outcomes, clock } = create();
    for (let n = 0; n < 30; n++) outcomes.note(text('+447700900123'), works);
    clock.advance(1000);
    for (let n = 0; n < 29; n++) outcomes.note(text('+447700900123'), busy);
    assert.deepEqual(outcomes.open(), []);
    outcomes.note(text('+447700900123'), busy);
    assert.deepEqual(outcomes.open(), ['GB']);
  });

  test('texts in doubt, unanswered, and not taken count; refused numbers, senders and contents do not', () => {
    const { outcomes, changes } = create();
    const bad: (SubmitResult | undefined)[] = [undefined, { outcome: 'in_doubt' }, busy];
    const good: SubmitResult[] = [
      { outcome: 'never', error: 'invalid_destination' },
      { outcome: 'never', error: 'content_rejected' },
      { outcome: 'retry', error: 'sender_rejected', elsewhere: true },
      { outcome: 'throttled' },
      { outcome: 'not_sent' },
    ];
    for (let n = 0; n < 40; n++) outcomes.note(text('+33612345678'), good[n % good.length]);
    assert.deepEqual(outcomes.open(), []);
    for (let n = 0; n < 27; n++) outcomes.note(text('+447700900123'), bad[n % bad.length]);
    assert.deepEqual([outcomes.open(), changes()], [['GB'], 1]);
    for (let n = 0; n < 60; n++) outcomes.noteUnanswered(text('+33612345678'));
    assert.deepEqual(new Set(outcomes.open()), new Set(['GB', 'FR']));
  });

  test('a refused account opens the breaker for all countries', () => {
    const { outcomes } = create();
    outcomes.note(text('+447700900123'), { outcome: 'retry', error: 'carrier_unavailable', account: true });
    assert.deepEqual(outcomes.open(), ['*']);
  });

  test('a silent carrier causes 50 copies in its last 1,000 codes, and any number once its breaker is open', () => {
    const { outcomes } = create();
    const code = text('+447700900123', 'verify');
    for (let n = 0; n < 1000; n++) outcomes.note(code, works);
    const copied = Array.from({ length: 60 }, () => outcomes.mayCopy(code));
    assert.deepEqual([copied.indexOf(false), copied.lastIndexOf(true)], [50, 49]);
    for (let n = 0; n < 2000; n++) outcomes.note(code, { outcome: 'in_doubt', silent: true });
    assert.equal(outcomes.mayCopy(code), true);
  });

  test('copies that are older than 1,000 codes are forgotten', () => {
    const budget = createCopyBudget();
    for (let n = 0; n < 50; n++) budget.note(true);
    assert.equal(budget.mayCopy, false);
    for (let n = 0; n < 950; n++) budget.note(false);
    assert.equal(budget.mayCopy, false);
    budget.note(false);
    assert.equal(budget.mayCopy, true);
  });
});
