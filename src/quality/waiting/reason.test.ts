import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type WaitFacts, waitOf } from './reason.ts';

const nowMs = Date.parse('2026-03-10T04:50:00Z');
const up = { paused: false, state: 'up', binds: [], downSinceMs: null } as const;
const facts: WaitFacts = {
  ...{ nowMs, place: 'queue', attempt: 0, inDoubt: false, sendAtMs: null, deferredUntilMs: null, zone: null },
  ...{ lastOutcome: null, carrierName: 'acme-uk', carrier: { ...up, binds: [] }, unroutable: false },
};

test('each reason has a sentence for operators, and one without the carrier’s name for developers', () => {
  const at = (time: string) => Date.parse(`2026-03-10T${time}:00Z`);
  const bind = { error: 'Connection refused.' } as NonNullable<WaitFacts['carrier']>['binds'][number];
  const cases: [Partial<WaitFacts>, string, string, string][] = [
    [{ place: 'wire' }, 'sending', 'Waiting for the answer of acme-uk.', 'Waiting for the carrier’s answer.'],
    [
      { carrier: { ...up, state: 'down', downSinceMs: at('04:38'), binds: [bind] } },
      ...(['down', 'Waiting for acme-uk, down since 4:38 UTC. Connection refused.'] as const),
      'Waiting for the carrier, down since 4:38 UTC.',
    ],
    [
      { deferredUntilMs: at('08:00'), zone: 'Europe/Paris', place: 'schedule' },
      ...(['hours', 'Waiting for 9:00 in Paris, when the hours of its route begin.'] as const),
      'Waiting for 9:00 in Paris, when the hours of its route begin.',
    ],
    [
      { sendAtMs: nowMs + 2 * 86_400_000, place: 'schedule' },
      ...(['scheduled', 'Scheduled for 12 Mar, 4:50 UTC.', 'Scheduled for 12 Mar, 4:50 UTC.'] as const),
    ],
    [
      { lastOutcome: 'throttled', attempt: 2, place: 'schedule' },
      ...(['throttled', 'Throttled by acme-uk (2 attempts so far).'] as const),
      'Throttled by the carrier (2 attempts so far).',
    ],
    [
      { carrier: { ...up, binds: [], paused: true } },
      ...(['paused', 'Waiting for acme-uk, which is paused.', 'The operator has paused sending.'] as const),
    ],
    [
      {},
      ...(['rate_limit', 'Waiting for its turn: acme-uk is at its rate limit.'] as const),
      'Waiting for its turn: the carrier is at its rate limit.',
    ],
    [
      { carrier: undefined },
      'deleted',
      'acme-uk is deleted. Waiting for another carrier.',
      'Waiting for another carrier.',
    ],
    [{ unroutable: true }, 'unroutable', 'No route matches its number.', 'No route matches its number.'],
  ];
  for (const [change, kind, forOperators, forDevelopers] of cases)
    assert.deepEqual(waitOf({ ...facts, ...change }), { kind, forOperators, forDevelopers });
});

test('no sentence for developers names a carrier', () => {
  for (const place of ['queue', 'schedule', 'wire'] as const)
    for (const inDoubt of [true, false])
      for (const lastOutcome of ['throttled', 'unavailable', null] as const)
        for (const state of ['up', 'down', 'not_running', 'degraded'] as const)
          for (const paused of [true, false]) {
            const carrier = { ...up, binds: [], state, paused };
            const { forDevelopers } = waitOf({ ...facts, place, inDoubt, lastOutcome, attempt: 1, carrier });
            assert.ok(!forDevelopers.includes('acme'), forDevelopers);
          }
});
