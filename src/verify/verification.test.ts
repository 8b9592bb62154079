import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { asOf, continuation, mostSends, resendAtMs, type Verification, verificationStatuses } from './verification.ts';
import { toVerificationRecord } from './verification-record.ts';

const nowMs = Date.parse('2026-01-31T12:00:00.000Z');
const anySpan = fc.integer({ min: -1_200_000, max: 1_200_000 });

/** Every status, number of sends and order of now, the next send and the expiry. */
const anyVerification: fc.Arbitrary<Verification> = fc
  .record({
    status: fc.constantFrom(...verificationStatuses),
    sends: fc.integer({ min: 0, max: mostSends }),
    resendInMs: anySpan,
    expiresInMs: anySpan,
    attempts: fc.integer({ min: 0, max: 5 }),
  })
  .map(({ status, sends, resendInMs, expiresInMs, attempts }) => ({
    ...{ id: 'ver_01jcq5v0n8g3x7k2m9p4r6t1wz', applicationId: 'app_01jcq5v0n8g3x7k2m9p4r6t1wz', channel: 'sms' },
    ...{ to: '+447700900123', status, reason: null, codeLength: 6, ringVersion: 1 },
    ...{ codeHash: null, payment: null, precheck: null, inbound: null, testNumber: false },
    ...{
      attempts,
      maxAttempts: 5,
      sends,
      reference: null,
      correlationId: 'req_01jcq5v0n8g3x7k2m9p4r6t1wz',
      textIds: [],
    },
    resendAvailableAtMs: status === 'blocked' ? null : nowMs + resendInMs,
    ...{ createdAtMs: nowMs - 1_200_000, updatedAtMs: nowMs - 1_200_000, expiresAtMs: nowMs + expiresInMs },
    approvedAtMs: status === 'approved' ? nowMs : null,
    outcome: null,
  }));

const sameAgain = { isSameCode: true, isNewWay: false };

test('resend_available_at is the first moment at which a start sends again, and null if there is none', () => {
  fc.assert(
    fc.property(anyVerification, (verification) => {
      const shownAt = resendAtMs(asOf(verification, nowMs));
      const sendsAt = (atMs: number) => {
        const then = asOf(verification, atMs);
        return then.status === 'pending' && continuation(then, sameAgain, atMs) === 'send_again';
      };
      if (shownAt === null) {
        const moments = [nowMs, verification.expiresAtMs - 1, verification.expiresAtMs, nowMs + 3_600_000];
        if (verification.resendAvailableAtMs !== null) moments.push(verification.resendAvailableAtMs);
        for (const atMs of moments.filter((each) => each >= nowMs)) assert.equal(sendsAt(atMs), false);
      } else {
        assert.equal(sendsAt(Math.max(shownAt, nowMs)), true);
        if (shownAt > nowMs) assert.equal(sendsAt(shownAt - 1), false);
      }
    }),
    { numRuns: 2000 },
  );
});

test('resend_available_at is null after every end, after the fifth send, and when the expiry comes first', () => {
  fc.assert(
    fc.property(anyVerification, (verification) => {
      const record = toVerificationRecord(asOf(verification, nowMs), undefined);
      const shown = record.resend_available_at;
      if (record.status !== 'pending' || record.sends === mostSends) assert.equal(shown, null);
      if (shown !== null) assert.ok(shown < record.expires_at, 'before the expiry');
    }),
    { numRuns: 1000 },
  );
});
