import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createGuard, type GuardFacts } from './guard.ts';

function facts(of: {
  numberType?: string | undefined;
  startsForNumber?: number;
  startsForPrefix?: number;
}): GuardFacts {
  return {
    to: '+447400123456',
    country: () => 'GB',
    numberType: () => of.numberType,
    startsForNumber: of.startsForNumber ?? 0,
    startsForPrefix: of.startsForPrefix ?? 0,
    failuresToday: 0,
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

test('counts: 10 a number and 50 a prefix in production, none in the sandbox; explain looks a little further', () => {
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
