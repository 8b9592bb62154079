import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createGuard, type GuardFacts } from './guard.ts';
import type { HeldNumber } from './held-number.ts';

function facts(of: {
  numberType?: string | undefined;
  startsForNumber?: number;
  startsForPrefix?: number;
  held?: HeldNumber;
  wasApproved?: boolean;
}): GuardFacts {
  return {
    to: '+447400123456',
    country: () => 'GB',
    numberType: () => of.numberType,
    startsForNumber: of.startsForNumber ?? 0,
    startsForPrefix: of.startsForPrefix ?? 0,
    failuresToday: 0,
    held: () => of.held,
    wasApproved: of.wasApproved ?? false,
  };
}

const others = [
  'FIXED_LINE',
  'VOIP',
  'PREMIUM_RATE',
  'SHARED_COST',
  'TOLL_FREE',
  'PAGER',
  'UAN',
  'VOICEMAIL',
  'PERSONAL_NUMBER',
];

test('production lets mobile, mobile-or-fixed and unknown types through and refuses the rest', () => {
  const guard = createGuard({}, 'production');
  for (const numberType of ['MOBILE', 'FIXED_LINE_OR_MOBILE', undefined]) {
    assert.equal(guard.refusal(facts({ numberType })), null, String(numberType));
  }
  for (const numberType of others) assert.equal(guard.refusal(facts({ numberType })), 'number_type', numberType);
  const shown = guard.findings(facts({ numberType: 'FIXED_LINE' })).find(({ rule }) => rule === 'number_type');
  assert.deepEqual(shown, {
    rule: 'number_type',
    limit: ['MOBILE', 'FIXED_LINE_OR_MOBILE', 'UNKNOWN'],
    seen: 'FIXED_LINE',
  });
});

test('number_types overrides it, in any case, in both environments; the sandbox asks for nothing by itself', () => {
  for (const environment of ['sandbox', 'production'] as const) {
    const guard = createGuard({ number_types: ['fixed_line', 'VOIP'] }, environment);
    assert.equal(guard.refusal(facts({ numberType: 'FIXED_LINE' })), null);
    assert.equal(guard.refusal(facts({ numberType: 'MOBILE' })), 'number_type');
    assert.equal(guard.refusal(facts({ numberType: undefined })), 'number_type');
    const open = createGuard({ number_types: ['UNKNOWN'] }, environment);
    assert.equal(open.refusal(facts({ numberType: undefined })), null);
  }
  for (const numberType of others) assert.equal(createGuard({}, 'sandbox').refusal(facts({ numberType })), null);
});

test('counts: 10 a number and 50 a prefix in production, none in the sandbox; explain counts a little further', () => {
  const production = createGuard({}, 'production');
  assert.deepEqual(production.countLimits, { perNumber: 10, perPrefix: 50 });
  assert.deepEqual(production.explainLimits, { perNumber: 100, perPrefix: 100 });
  assert.equal(production.refusal(facts({ startsForNumber: 9, startsForPrefix: 49 })), null);
  assert.equal(production.refusal(facts({ startsForNumber: 10 })), 'destination_limit');
  assert.equal(production.refusal(facts({ startsForPrefix: 50 })), 'prefix_velocity');
  const sandbox = createGuard({}, 'sandbox');
  assert.deepEqual([sandbox.countsStarts, sandbox.countLimits], [false, { perNumber: 0, perPrefix: 0 }]);
  const set = createGuard({ per_prefix: 200 }, 'sandbox');
  assert.deepEqual([set.countsStarts, set.explainLimits], [true, { perNumber: 100, perPrefix: 201 }]);
});

test('numbers held back are blocked; a sample of one an hour and prefix passes, and so do recently approved numbers; the sandbox holds none back', () => {
  const hold = { id: 'hld_1', scope: 'GB', beganAtMs: 0, untilMs: 1, numbers: 40, approved: 1, leastShare: 0.2571 };
  const [held, sample] = [false, true].map((isSample) => ({ hold, isSample }));
  assert.ok(held && sample, 'both');
  const guard = createGuard({}, 'production');
  const about = { numberType: 'MOBILE' };
  assert.equal(guard.refusal(facts({ ...about, held })), 'suspected_pumping');
  assert.equal(guard.refusal(facts({ ...about, held: sample, startsForPrefix: 0 })), null);
  assert.equal(guard.refusal(facts({ ...about, held: sample, startsForPrefix: 1 })), 'suspected_pumping');
  assert.equal(guard.refusal(facts({ ...about, held, wasApproved: true })), null);
  const often = { ...about, held, wasApproved: true, startsForNumber: 10 };
  assert.equal(guard.refusal(facts(often)), 'destination_limit', 'with the same limit as any number');
  assert.equal(
    guard.refusal(facts({ ...about, held, startsForNumber: 10 })),
    'destination_limit',
    'the other rules first',
  );
  const many = createGuard({ per_prefix: 200 }, 'production');
  assert.equal(many.refusal(facts({ ...about, held: sample, startsForPrefix: 3 })), null);
  assert.equal(many.refusal(facts({ ...about, held: sample, startsForPrefix: 4 })), 'suspected_pumping');
  const found = guard.findings(facts({ ...about, held })).at(-1);
  assert.deepEqual(found, { rule: 'suspected_pumping', limit: 0.257, seen: 0.025 });
  const sandbox = createGuard({}, 'sandbox');
  assert.equal(sandbox.refusal(facts({ ...about, held })), null);
  assert.ok(
    sandbox.findings(facts({ held })).every(({ rule }) => rule !== 'suspected_pumping'),
    'no such rule there',
  );
});
