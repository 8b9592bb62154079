import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { type MessageErrorCode, messageErrorCodes } from '../../messages/message.ts';
import type { PartState, SubmitResult } from '../carrier/carrier.ts';
import type { ClaimedText, QueueEntry } from './queued-text.ts';
import { type AttemptResult, attemptResultOf, type ResultOptions } from './result.ts';

const nowMs = 1_800_000_000_000;
const next = { carrier: 'second', rule: null, version: 0 };

interface Given {
  isCode: boolean;
  entry?: Partial<QueueEntry>;
  parts?: PartState[];
}

function claimed({ isCode, entry = {}, parts = [] }: Given): ClaimedText {
  return {
    message: { api: isCode ? 'verify' : 'sms', status: 'queued', expiresAtMs: nowMs + 3_600_000 },
    entry: {
      lane: 0,
      applicationId: 'a',
      messageId: 'm',
      attempt: 0,
      unanswered: 0,
      possibleDuplicates: 0,
      inDoubt: false,
      moves: 0,
      ...entry,
    },
    parts,
    form: null,
  } as unknown as ClaimedText;
}

function result(given: Given, answer: SubmitResult | undefined, options: Partial<ResultOptions> = {}): AttemptResult {
  return attemptResultOf(claimed(given), answer, { nowMs, carrier: 'first', nextCarrier: () => next, ...options });
}

/** A short description of the result. */
function outcome(...given: Parameters<typeof result>): string {
  const found = result(...given);
  if ('ended' in found) return found.ended.status;
  return found.again.isMoved ? 'moves' : `again in ${Math.round((found.again.dueAtMs - nowMs) / 1000)} s`;
}

const elsewhere = (error: MessageErrorCode): SubmitResult => ({ outcome: 'retry', error, elsewhere: true });
const never = (error: MessageErrorCode): SubmitResult => ({ outcome: 'never', error });
const silent: SubmitResult = { outcome: 'in_doubt', silent: true };

describe('the failover table', () => {
  const code = { isCode: true };
  const plain = { isCode: false };

  test('after carrier_unavailable a code moves at once, another text waits', () => {
    for (const answer of [
      elsewhere('carrier_unavailable'),
      { outcome: 'retry', error: 'carrier_unavailable' } as const,
    ]) {
      assert.equal(outcome(code, answer), 'moves');
      assert.equal(outcome(plain, answer), 'again in 1 s');
    }
    assert.equal(outcome(code, { outcome: 'not_sent' }, { isDown: () => true }), 'moves');
    assert.equal(outcome(code, { outcome: 'not_sent' }, { isDown: () => false }), 'again in 0 s');
    assert.equal(outcome(plain, { outcome: 'not_sent' }, { isDown: () => true }), 'again in 0 s');
  });

  test('after its carrier was deleted every text moves', () => {
    const isClosed = { isClosed: true };
    assert.equal(outcome(code, elsewhere('carrier_unavailable'), isClosed), 'moves');
    assert.equal(outcome(plain, elsewhere('carrier_unavailable'), isClosed), 'moves');
  });

  test('after a refusal by the route every text moves at once, and fails without another carrier', () => {
    for (const error of ['blocked_by_carrier', 'sender_rejected', 'unknown'] as const) {
      assert.deepEqual([outcome(code, elsewhere(error)), outcome(plain, elsewhere(error))], ['moves', 'moves']);
      assert.equal(outcome(plain, elsewhere(error), { nextCarrier: () => undefined }), 'failed');
    }
  });

  test('when throttled, a code moves if it would wait for longer than 3 s', () => {
    assert.equal(outcome(code, { outcome: 'throttled', afterMs: 3000 }), 'again in 3 s');
    assert.equal(outcome(code, { outcome: 'throttled', afterMs: 3001 }), 'moves');
    assert.equal(outcome(plain, { outcome: 'throttled', afterMs: 30_000 }), 'again in 30 s');
  });

  test('after silence a code is copied once, while copies are allowed; another text waits', () => {
    assert.equal(outcome(code, silent), 'moves');
    assert.equal(outcome(code, silent, { mayCopy: () => false }), 'again in 25 s');
    assert.equal(outcome({ ...code, entry: { unanswered: 1, moves: 1 } }, silent), 'again in 25 s');
    assert.equal(outcome(plain, silent, { doubtAfterMs: 300_000 }), 'again in 300 s');
  });

  test('in doubt, a code is sent again at once, another text by on_doubt', () => {
    const never = () => assert.fail('only silence asks for the budget');
    for (const answer of [undefined, { outcome: 'in_doubt' } as const]) {
      assert.equal(outcome(code, answer, { mayCopy: never }), 'moves');
      assert.equal(outcome(plain, answer, { doubtAfterMs: 300_000 }), 'again in 300 s');
    }
  });

  test('after a refusal of number or content a code moves, unless a part was accepted; another text never does', () => {
    const parts: PartState[] = [{ part: 1, state: 'accepted', carrierMessageId: '1', receiptKey: '1' }];
    for (const error of ['invalid_destination', 'content_rejected', 'blocked_by_carrier'] as const) {
      assert.deepEqual([outcome(code, never(error)), outcome(plain, never(error))], ['moves', 'failed']);
      assert.equal(outcome({ ...code, parts }, never(error)), 'failed');
    }
  });

  test('opt-out: never', () => {
    for (const given of [code, plain]) assert.equal(outcome(given, never('blocked_by_recipient')), 'failed');
  });
});

const anAnswer: fc.Arbitrary<SubmitResult | undefined> = fc.oneof(
  fc.constantFrom<SubmitResult | undefined>(
    undefined,
    { outcome: 'in_doubt' },
    silent,
    { outcome: 'not_sent' },
    { outcome: 'throttled', afterMs: 60_000 },
  ),
  fc.constantFrom(...messageErrorCodes).map(never),
  fc.constantFrom(...messageErrorCodes).map(elsewhere),
);

describe('invariants of every answer', () => {
  const entries = fc.record({
    attempt: fc.nat(30),
    unanswered: fc.nat(2),
    possibleDuplicates: fc.nat(2),
    inDoubt: fc.boolean(),
    moves: fc.nat(1),
  });
  const facts = fc.record({ isCode: fc.boolean(), entry: entries, closed: fc.boolean(), down: fc.boolean() });

  test('a plain text that may have been sent stays with its carrier, and no text moves twice', () => {
    fc.assert(
      fc.property(facts, anAnswer, ({ isCode, entry, closed, down }, answer) => {
        const found = result({ isCode, entry }, answer, { isClosed: closed, isDown: () => down });
        if (!('again' in found) || !found.again.isMoved) return;
        assert.equal(entry.moves, 0, 'it has moved before');
        const inDoubt = answer === undefined || answer.outcome === 'in_doubt';
        const mayHaveBeenSent = entry.inDoubt || entry.possibleDuplicates > 0 || inDoubt;
        assert.ok(isCode || !mayHaveBeenSent, 'a plain text moves that may have been sent');
        assert.equal(found.again.attempt?.next, next, 'its attempt says where it went');
        assert.equal(found.again.entry.moves, 1);
      }),
    );
  });

  test('an attempt that was not simply accepted is kept, up to a bound', () => {
    fc.assert(
      fc.property(facts, anAnswer, ({ isCode, entry }, answer) => {
        const found = result({ isCode, entry }, answer, { nextCarrier: () => undefined });
        const { attempt } = 'ended' in found ? found.ended : found.again;
        const isKept = answer?.outcome !== 'not_sent' && entry.attempt < 20;
        assert.equal(attempt?.attempt, isKept ? entry.attempt + 1 : undefined);
      }),
    );
  });

  test('an accepted attempt is kept only if the provider reported something about it', () => {
    const accepted = { outcome: 'accepted', carrierMessageId: '1' } as const;
    const plain = result({ isCode: false }, accepted);
    assert.ok('ended' in plain && plain.ended.attempt === undefined, 'the record says it');
    const told = result({ isCode: false }, { ...accepted, details: { parts: 2, price: '0.05', currency: 'EUR' } });
    assert.deepEqual('ended' in told && told.ended.attempt?.told, { parts: 2, price: '0.05', currency: 'EUR' });
  });
});
