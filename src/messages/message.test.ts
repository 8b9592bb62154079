import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { inShort } from '../../test/support/effort.ts';
import {
  correctedEnds,
  type MessageErrorCode,
  type MessageStatus,
  mayBecome,
  messageError,
  messageStatuses,
} from './message.ts';

const anyStatus = fc.constantFrom(...messageStatuses);

/** The states that a message enters if these are reported in this order. */
function walk(start: MessageStatus, reported: MessageStatus[]): MessageStatus[] {
  const been = [start];
  for (const next of reported) if (mayBecome(been.at(-1) ?? start, next)) been.push(next);
  return been;
}

describe('the states of a message', () => {
  test('a message never returns to a state that it has left', () => {
    fc.assert(
      fc.property(anyStatus, fc.array(anyStatus, { maxLength: 40 }), (start, reported) => {
        const been = walk(start, reported);
        assert.equal(new Set(been).size, been.length);
      }),
      { numRuns: inShort(500, 2000) },
    );
  });

  test('repeated, late or out-of-order reports change nothing more', () => {
    fc.assert(
      fc.property(anyStatus, fc.array(anyStatus, { maxLength: 20 }), (start, reported) => {
        const been = walk(start, reported);
        const end = been.at(-1) ?? start;
        for (const past of been) assert.ok(!mayBecome(end, past));
        assert.deepEqual(walk(end, been), [end]);
      }),
    );
  });

  test('ends are final; only unknown may still change, and delivered replaces the ends that carriers correct', () => {
    const following = (end: MessageStatus) => messageStatuses.filter((to) => mayBecome(end, to));
    for (const end of ['delivered', 'canceled'] as const) assert.deepEqual(following(end), []);
    for (const end of correctedEnds) assert.deepEqual(following(end), ['delivered']);
    assert.deepEqual(
      messageStatuses.filter((to) => mayBecome('unknown', to)),
      ['delivered', 'undelivered', 'failed', 'expired'],
    );
  });

  test('scheduled → queued → sent → delivered | undelivered, and failed, expired, canceled, unknown', () => {
    for (const way of [
      ['scheduled', 'queued', 'sent', 'delivered'],
      ['scheduled', 'queued', 'sent', 'undelivered'],
      ['queued', 'failed'],
      ['queued', 'expired'],
      ['queued', 'sent', 'unknown', 'delivered'],
      ['scheduled', 'canceled'],
      // A receipt may come before the carrier's own answer.
      ['queued', 'delivered'],
    ] as MessageStatus[][]) {
      assert.deepEqual(walk(way[0] ?? 'queued', way.slice(1)), way);
    }
    assert.ok(!mayBecome('scheduled', 'sent'), 'a message is queued before it is sent');
    assert.ok(!mayBecome('scheduled', 'delivered'));
  });

  test('only scheduled or queued messages can be canceled', () => {
    const canceled = messageStatuses.filter((from) => mayBecome(from, 'canceled'));
    assert.deepEqual(canceled, ['scheduled', 'queued']);
  });
});

describe('the error of a message', () => {
  test('{code, message, permanent} for every code of the contract', () => {
    const codes =
      'invalid_destination unreachable blocked_by_carrier blocked_by_recipient content_rejected sender_rejected carrier_unavailable expired unknown';
    for (const code of codes.split(' ') as MessageErrorCode[]) {
      const error = messageError(code);
      assert.deepEqual(Object.keys(error ?? {}), ['code', 'message', 'permanent']);
      assert.equal(error?.code, code);
      assert.match(error?.message ?? '', /^[A-Z].*\.$/);
    }
    assert.equal(messageError(null), null);
  });
});
