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

/** Where the code goes on to from `a`, and how often the country of its number was looked for. */
function next(routes: ReturnType<typeof routeRule>[], open: string[] = []) {
  let looks = 0;
  const found = findNextCarrier(text, 'a#1', {
    environment: 'production',
    table: { version: 1, routes },
    health: [carrierHealth('a', { up: false }), carrierHealth('b', { open }), carrierHealth('c')],
    countryOf() {
      looks++;
      return 'GB';
    },
    nowMs: 0,
  });
  return { carrier: found?.carrier, looks };
}

describe('the next carrier of a code', () => {
  test('no country is looked for where none matters: many codes move at once when a carrier dies', () => {
    assert.deepEqual(next([]), { carrier: 'b#1', looks: 0 });
    assert.deepEqual(next([routeRule(['a'], { failover: ['c'] })]), { carrier: 'c#1', looks: 0 });
  });

  test('a rule for countries and an open breaker look for it', () => {
    const britain = routeRule(['a'], { match: { countries: ['GB'] }, failover: ['c'] });
    assert.deepEqual(next([britain]), { carrier: 'c#1', looks: 1 });
    assert.deepEqual(next([], ['GB']), { carrier: 'c#1', looks: 1 });
  });
});
