import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { createTestClock } from '../../../test/support/clock.ts';
import { createLaneLedger } from '../../../test/support/lane-share.ts';
import { outgoingText } from '../../../test/support/outgoing-texts.ts';
import type { Lane } from '../../messages/message.ts';
import type { OutgoingText, SubmitResult } from '../carrier/carrier.ts';
import { createCarrierCondition } from './condition.ts';
import { createHttpSender, type Sent } from './sender.ts';

interface Request {
  text: OutgoingText;
  answer(result: SubmitResult): Promise<void>;
}

/** A sender whose provider answers when the test says so. What it gets is written at once, unless the test says when. */
function createSender(concurrency: number, onSend: (text: OutgoingText) => void = () => {}, isSlow = false) {
  const clock = createTestClock();
  const open: Request[] = [];
  const sent: string[] = [];
  const connected: (() => void)[] = [];
  const sender = createHttpSender({
    perSecond: null,
    concurrency,
    clock,
    condition: createCarrierCondition(clock),
    send: (text, leave) =>
      new Promise<Sent>((resolve) => {
        const write = () => {
          if (!leave()) return resolve({ kind: 'overdue' });
          onSend(text);
          sent.push(text.messageId);
          const request: Request = {
            text,
            async answer(result) {
              open.splice(open.indexOf(request), 1);
              resolve({ kind: 'verdict', status: 200, verdict: { result, isAccount: false } });
              // The sender gets the result in the next turn of the event loop.
              await new Promise(setImmediate);
            },
          };
          open.push(request);
        };
        if (isSlow) connected.push(write);
        else write();
      }),
    onCapacity: () => {},
  });
  sender.setShare(1);
  const results: [place: number, result: SubmitResult][] = [];
  const progress: [place: number, state: string][] = [];
  const submit = (texts: Partial<OutgoingText>[]) =>
    void sender.submit(
      texts.map(outgoingText),
      (place, result) => void results.push([place, result]),
      (place, state) => void progress.push([place, state]),
    );
  const outcomes = () => results.map(([, { outcome }]) => outcome);
  return { clock, sender, open, sent, connected, submit, outcomes, progress };
}

const accepted: SubmitResult = { outcome: 'accepted', carrierMessageId: 'id' };

describe('lanes by HTTP', () => {
  test('of 50 requests while both wait ten are bulk\u2019s, and two slots are never bulk\u2019s', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 12 }),
        fc.array(fc.nat(), { minLength: 120, maxLength: 150 }),
        fc.boolean(),
        async (concurrency, answers, bulkFirst) => {
          const ledger = createLaneLedger();
          const { sender, open, submit } = createSender(concurrency, ({ lane }) =>
            ledger.noteSubmit(lane, concurrency),
          );
          const many = (lane: Lane) => {
            for (let n = 0; n < 200; n++) ledger.noteQueued(lane);
            submit(Array.from({ length: 200 }, () => ({ lane })));
          };
          for (const lane of bulkFirst ? (['bulk', 'first'] as const) : (['first', 'bulk'] as const)) many(lane);
          for (const answer of answers) {
            const request = open[answer % open.length] ?? assert.fail('nothing is under way');
            ledger.noteAnswer(request.text.lane);
            await request.answer(accepted);
          }
          void sender.stop(0);
          ledger.check();
        },
      ),
      { numRuns: 30 },
    );
  });
});

describe('an overdue text in an HTTP sender', () => {
  test('is not sent after a stall: not even when an answer makes room before anything else runs', async () => {
    const { clock, sender, open, sent, submit, outcomes } = createSender(1);
    submit([{ messageId: 'out' }, { messageId: 'queued' }]);
    clock.advance(60_000);
    await open[0]?.answer(accepted);
    await sender.stop(0);
    assert.deepEqual(sent, ['out']);
    assert.deepEqual(outcomes(), ['accepted', 'not_sent']);
  });

  test('is not sent when its connection comes after the stall', async () => {
    const { clock, sender, connected, sent, submit, outcomes, progress } = createSender(1, undefined, true);
    submit([{}]);
    clock.advance(10_000);
    connected[0]?.();
    await new Promise(setImmediate);
    await sender.stop(0);
    assert.deepEqual([sent, progress], [[], []]);
    assert.deepEqual(outcomes(), ['not_sent']);
  });

  test('is not sent after it has expired', async () => {
    const { clock, sender, open, sent, submit, outcomes } = createSender(1);
    submit([{ messageId: 'out' }, { messageId: 'short', expiresAtMs: clock.nowMs() + 2000 }]);
    clock.advance(2000);
    await open[0]?.answer(accepted);
    await sender.stop(0);
    assert.deepEqual(sent, ['out']);
    assert.deepEqual(outcomes(), ['accepted', 'not_sent']);
  });
});

test('texts that the provider throttled come back in their order', async () => {
  const { clock, sender, open, sent, submit } = createSender(4);
  submit(['a', 'b', 'c'].map((messageId) => ({ messageId, lane: 'first' as const })));
  for (const request of [...open]) await request.answer({ outcome: 'throttled' });
  sent.length = 0;
  for (let tries = 0; tries < 50; tries++) {
    clock.advance(100);
    sender.pump();
    await new Promise(setImmediate);
  }
  assert.deepEqual(sent, ['a', 'b', 'c']);
  await Promise.all([...open].map((request) => request.answer(accepted)));
  await sender.stop(0);
});

test('codes that wait are returned when the provider throttles for more than 3 s, whatever text it throttled', async () => {
  const { sender, open, submit, outcomes } = createSender(1);
  submit([{ messageId: 'plain', lane: 'first' }]);
  submit([{ lane: 'first', isCode: true }, { lane: 'first' }]);
  await open[0]?.answer({ outcome: 'throttled', afterMs: 4000 });
  const returned = outcomes();
  await sender.stop(0);
  assert.deepEqual(returned, ['not_sent']);
});

test('codes wait here for a provider that throttles for 3 s', async () => {
  const { sender, open, submit, outcomes } = createSender(1);
  submit([{ lane: 'first', isCode: true }]);
  await open[0]?.answer({ outcome: 'throttled', afterMs: 3000 });
  const returned = outcomes();
  await sender.stop(0);
  assert.deepEqual(returned, []);
});

test('a text is the provider\u2019s from its write on, and ours again while it waits after a 429', async () => {
  const { clock, sender, open, submit, progress } = createSender(1);
  submit([{}, {}]);
  assert.deepEqual(progress, [[0, 'written']]);
  await open[0]?.answer({ outcome: 'throttled' });
  assert.deepEqual(progress.slice(1), [
    [0, 'throttled'],
    [0, 'waits'],
  ]);
  clock.advance(1500);
  sender.pump();
  assert.deepEqual(progress.slice(3), [[0, 'written']]);
  await open[0]?.answer(accepted);
  await sender.stop(0);
});

test('a code that is not written within 5 s goes elsewhere, and is no longer written', async ({ mock }) => {
  mock.timers.enable({ apis: ['setTimeout'] });
  const { clock, sender, connected, sent, submit, outcomes } = createSender(1, undefined, true);
  submit([{ lane: 'first', isCode: true }]);
  clock.advance(5000);
  mock.timers.tick(5000);
  assert.deepEqual(outcomes(), ['retry']);
  connected[0]?.();
  await new Promise(setImmediate);
  assert.deepEqual(sent, []);
  await sender.stop(0);
});

test('a code that the provider throttles after 5 s of silence is reported, and not sent again', async ({ mock }) => {
  mock.timers.enable({ apis: ['setTimeout'] });
  const { clock, sender, open, sent, submit, outcomes } = createSender(1);
  submit([{ lane: 'first', isCode: true }]);
  clock.advance(5000);
  mock.timers.tick(5000);
  await open[0]?.answer({ outcome: 'throttled' });
  clock.advance(2000);
  sender.pump();
  assert.deepEqual([sent.length, outcomes()], [1, ['in_doubt', 'throttled']]);
  await sender.stop(0);
});
