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
  statesBefore,
} from './message.ts';

const anyStatus = fc.constantFrom(...messageStatuses);

/** What becomes of a message that is told, in any order and as often as one likes, that it should be in these states. */
function walk(start: MessageStatus, told: MessageStatus[]): MessageStatus[] {
  const been = [start];
  for (const next of told) if (mayBecome(been.at(-1) ?? start, next)) been.push(next);
  return been;
}

describe('the states of a message', () => {
  test('never backwards: no way leads to a state it has left', () => {
    fc.assert(
      fc.property(anyStatus, fc.array(anyStatus, { maxLength: 40 }), (start, told) => {
        const been = walk(start, told);
        assert.equal(new Set(been).size, been.length);
      }),
      { numRuns: inShort(500, 2000) },
    );
  });

  test('whatever is told twice, late or out of order, changes nothing more', () => {
    fc.assert(
      fc.property(anyStatus, fc.array(anyStatus, { maxLength: 20 }), (start, told) => {
        const been = walk(start, told);
        const end = been.at(-1) ?? start;
        for (const past of been) assert.ok(!mayBecome(end, past));
        assert.deepEqual(walk(end, been), [end]);
      }),
    );
  });

  test('an end is an end; only unknown may still become another, and delivered replaces what carriers correct', () => {
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
    assert.ok(!mayBecome('scheduled', 'sent'), 'what is sent was queued before');
    assert.ok(!mayBecome('scheduled', 'delivered'));
  });

  test('canceled: only scheduled or queued', () => {
    assert.deepEqual(statesBefore('canceled'), ['scheduled', 'queued']);
  });

  test('statesBefore is mayBecome seen from the other end', () => {
    fc.assert(
      fc.property(anyStatus, anyStatus, (from, to) => {
        assert.equal(statesBefore(to).includes(from), mayBecome(from, to));
      }),
    );
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
