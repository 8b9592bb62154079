import assert from 'node:assert/strict';
import { test } from 'node:test';
import { everyRight } from '../http/sending-rights.ts';
import { ApiError } from '../platform/errors.ts';
import { traceRow } from './trace-row.ts';

const caller = {
  kind: 'application',
  applicationId: 'app_1',
  applicationName: 'ACME',
  registrationId: 'reg_1',
  windowKey: 'app:sms',
  api: 'sms',
  highPriority: false,
  rights: everyRight,
} as const;

function rowOf(refusal: ApiError): string {
  const row = traceRow({
    caller,
    correlationId: 'req_1',
    decision: {
      admitted: true,
      limits: { perMinute: 60, burst: 20 },
      remaining: 59,
      resetMs: 60_000,
      nextFreeMs: 0,
      retryAfterMs: 0,
      refusedBy: undefined,
      chargedAtMs: undefined,
    },
    method: 'POST',
    path: '/sms/v1/messages',
    status: 400,
    isUnserved: false,
    refusal,
    outcome: undefined,
    durationMs: 1,
    id: undefined,
    location: undefined,
  });
  return row.join(' ');
}

test('a refusal does not repeat a phone number into a trace, in its message, its details or the name of a field', () => {
  const row = rowOf(
    new ApiError('INVALID_ARGUMENT', 'to must be like +447700900123; write +4915112345678', {
      details: [
        { field: 'to', message: 'must be like +447700900123; this has a trunk prefix, write +4915112345678' },
        { field: 'numbers.4915112345678', message: 'must be a string' },
      ],
    }),
  );
  assert.ok(!row.includes('4915112345678') && !row.includes('15112345678'), row);
  assert.ok(row.includes('+447700900123'), 'the example stays');
  assert.ok(row.includes('write +•••••••••••••'));
});
