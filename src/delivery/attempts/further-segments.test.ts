import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PartState, SubmitResult } from '../carrier/carrier.ts';
import type { AnsweredText } from './answered-text.ts';
import { furtherSegments, furtherSegmentsOf } from './further-segments.ts';

type Changes = {
  inDoubt?: boolean;
  duplicates?: number;
  status?: 'queued' | 'sent';
  parts?: PartState[];
  late?: boolean;
};

/** A submit of a text of three segments. */
function submitted(answer: SubmitResult | undefined, changes: Changes = {}): AnsweredText {
  const { inDoubt = false, duplicates = 0, status = 'queued', parts = [], late = false } = changes;
  const entry = { inDoubt, possibleDuplicates: duplicates };
  const message = { applicationId: 'app_1', segmentCount: 3, status };
  return { claimed: { message, entry, parts, form: null }, answer, tookMs: 0, isLate: late } as unknown as AnsweredText;
}

const part = (number: number): PartState => ({
  part: number,
  state: 'accepted',
  carrierMessageId: 'x',
  receiptKey: 'x',
});
const accepted: SubmitResult = { outcome: 'accepted', carrierMessageId: 'x' };
const long = (total: number, parts: PartState[]) => ({ total, form: 'x', needed: total, parts });

test('the first submit adds only parts that were not counted', () => {
  assert.equal(furtherSegments(submitted(accepted)), 0);
  assert.equal(furtherSegments(submitted({ ...accepted, long: long(3, [1, 2, 3].map(part)) })), 0);
  assert.equal(furtherSegments(submitted({ ...accepted, long: long(5, [1, 2, 3, 4, 5].map(part)) })), 2);
  assert.equal(furtherSegments(submitted(undefined)), 0, 'in doubt');
});

test('what the carrier did not take adds nothing', () => {
  for (const answer of [
    { outcome: 'not_sent' },
    { outcome: 'throttled' },
    { outcome: 'retry', error: 'unknown' },
    { outcome: 'never', error: 'unknown' },
  ] as SubmitResult[]) {
    assert.equal(furtherSegments(submitted(answer, { inDoubt: true })), 0);
  }
});

test('a copy adds all its parts, and those that the carrier had are not sent again', () => {
  for (const changes of [{ inDoubt: true }, { duplicates: 1 }, { status: 'sent' as const }]) {
    assert.equal(furtherSegments(submitted(accepted, changes)), 3);
    assert.equal(furtherSegments(submitted({ outcome: 'in_doubt' }, changes)), 3);
    const resumed: SubmitResult = { ...accepted, long: long(3, [1, 2, 3].map(part)) };
    assert.equal(furtherSegments(submitted(resumed, { ...changes, parts: [part(1)] })), 2);
  }
  assert.equal(furtherSegments(submitted(accepted, { inDoubt: true, late: true })), 0, 'counted when it was in doubt');
});

test('sums by application, without zeros', () => {
  assert.deepEqual(furtherSegmentsOf([submitted(accepted)]), []);
  const copy = submitted(accepted, { inDoubt: true });
  assert.deepEqual(furtherSegmentsOf([copy, submitted(accepted), copy]), [{ applicationId: 'app_1', segments: 6 }]);
});
