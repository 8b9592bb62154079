import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTestClock } from '../../../test/support/clock.ts';
import { outgoingText } from '../../../test/support/outgoing-texts.ts';
import { createRecordingCarrier } from '../../../test/support/recording-carrier.ts';
import type { Answer, Progress, SubmitResult } from '../carrier/carrier.ts';
import { submitAndCollect } from './answer-collector.ts';

test('the time of an answer begins with the write: waiting on our side does not count as silence of the carrier', async () => {
  const clock = createTestClock();
  let answer: Answer = () => {};
  let progress: Progress = () => {};
  let finish = () => {};
  const carrier = createRecordingCarrier();
  carrier.submit = (_, onAnswer, onProgress = () => {}) =>
    new Promise((resolve) => {
      [answer, progress, finish] = [onAnswer, onProgress, resolve];
    });
  const collector = submitAndCollect({
    clock,
    carrier,
    texts: Array.from({ length: 4 }, () => outgoingText()),
    onLate: () => assert.fail('nothing is late'),
    onFailure: () => assert.fail('the carrier answers'),
  });
  const accepted: SubmitResult = { outcome: 'accepted', carrierMessageId: 'id' };
  progress(0, 'written');
  clock.advance(6000);
  // The second one waited for room, the third was throttled and waits again, the fourth was never written.
  assert.equal(collector.writtenMs(1), undefined);
  progress(1, 'written');
  progress(2, 'written');
  clock.advance(1000);
  progress(2, 'waits');
  assert.deepEqual([0, 1, 2].map(collector.writtenMs), [1_000_000, 1_006_000, undefined]);
  answer(0, accepted);
  answer(1, accepted);
  clock.advance(20_000);
  progress(2, 'written');
  clock.advance(300);
  answer(2, accepted);
  answer(3, { outcome: 'not_sent' });
  finish();
  const { answers } = await collector.collect(1000);
  assert.deepEqual(
    answers.map(([index, , tookMs]) => [index, tookMs]),
    [
      [0, 7000],
      [1, 1000],
      [2, 300],
      [3, undefined],
    ],
  );
});
