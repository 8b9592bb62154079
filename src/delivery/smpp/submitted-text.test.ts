import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { outgoingText } from '../../../test/support/outgoing-texts.ts';
import type { PartState, SubmitResult } from '../carrier/carrier.ts';
import { createSubmittedText } from './submitted-text.ts';

const inDoubt = (part: number): PartState => ({ part, state: 'in_doubt', carrierMessageId: null, receiptKey: null });
const acceptedPart = (part: number): PartState => ({
  part,
  state: 'accepted',
  carrierMessageId: 'id',
  receiptKey: 'id',
});

/** A text of three parts that was submitted before. */
function submitAgain(parts: PartState[]) {
  const results: SubmitResult[] = [];
  const states: string[] = [];
  const submitted = createSubmittedText({
    text: outgoingText({ attempt: 2, parts, form: 'udh16' }),
    index: 0,
    total: 3,
    form: 'udh16',
    needed: 3,
    answer: (_, result) => void results.push(result),
    progress: (_, state) => void states.push(state),
    onAnswered: () => {},
  });
  return { submitted, results, states };
}

describe('a long text that is sent again', () => {
  test('is not_sent if no part leaves: earlier doubt does not count now', () => {
    const { submitted, results } = submitAgain([acceptedPart(1), inDoubt(2), inDoubt(3)]);
    assert.deepEqual(submitted.partsToSend, [2, 3]);
    for (const part of [2, 3]) submitted.noteUnsent(part);
    assert.deepEqual(results, [{ outcome: 'not_sent' }]);
  });

  test('reports a part that leaves, and is not in doubt because of the other', () => {
    const { submitted, results } = submitAgain([acceptedPart(1), inDoubt(2), inDoubt(3)]);
    submitted.noteAccepted(2, 'id', 'id');
    submitted.noteUnsent(3);
    const parts = [acceptedPart(1), acceptedPart(2), inDoubt(3)];
    assert.deepEqual(results, [{ outcome: 'not_sent', long: { total: 3, form: 'udh16', needed: 3, parts } }]);
  });

  test('is in doubt without an answer for a part', () => {
    const { submitted, results } = submitAgain([acceptedPart(1), inDoubt(2), inDoubt(3)]);
    submitted.noteInDoubt(2, true);
    submitted.noteUnsent(3);
    assert.deepEqual(
      results.map(({ outcome }) => outcome),
      ['in_doubt'],
    );
  });
});

test('a long text is the carrier\u2019s while one of its parts is out, and ours while the others only wait', () => {
  const { submitted, states } = submitAgain([]);
  submitted.noteWritten(1);
  submitted.noteWritten(2);
  submitted.noteAccepted(1, 'id', 'id');
  assert.deepEqual(states, ['written', 'written']);
  submitted.noteWaits(2, '0x58: throttled');
  assert.deepEqual(states.slice(2), ['throttled', 'waits']);
  submitted.noteWritten(2);
  submitted.noteAccepted(2, 'id', 'id');
  assert.deepEqual(states.slice(4), ['written', 'waits']);
  submitted.noteWritten(3);
  submitted.noteAccepted(3, 'id', 'id');
  assert.deepEqual(states.slice(6), ['written']);
});
