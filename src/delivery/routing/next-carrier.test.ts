import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { carrierHealth, routeRule } from '../../../test/support/routes.ts';
import { findNextCarrier } from './next-carrier.ts';

const text = {
  id: 'msg_a',
  applicationId: 'app_a',
  api: 'verify',
  to: '+447700900123',
  sender: 'ACME',
  given: null,
} as const;

/** The carrier that takes the code over from `a`, and how many times the country of its number was determined. */
function next(routes: ReturnType<typeof routeRule>[], open: string[] = []) {
  let countryCalls = 0;
  const found = findNextCarrier(text, 'a#1', {
    environment: 'production',
    table: { version: 1, routes },
    health: [carrierHealth('a', { up: false }), carrierHealth('b', { open }), carrierHealth('c')],
    countryOf() {
      countryCalls++;
      return 'GB';
    },
    nowMs: 0,
  });
  return { carrier: found?.carrier, countryCalls };
}

describe('the next carrier of a code', () => {
  test('the country is not determined where none matters: many codes move at once when a carrier dies', () => {
    assert.deepEqual(next([]), { carrier: 'b#1', countryCalls: 0 });
    assert.deepEqual(next([routeRule(['a'], { failover: ['c'] })]), { carrier: 'c#1', countryCalls: 0 });
  });

  test('a rule for countries and an open breaker need it', () => {
    const britain = routeRule(['a'], { match: { countries: ['GB'] }, failover: ['c'] });
    assert.deepEqual(next([britain]), { carrier: 'c#1', countryCalls: 1 });
    assert.deepEqual(next([], ['GB']), { carrier: 'c#1', countryCalls: 1 });
  });
});
