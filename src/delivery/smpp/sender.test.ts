import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { createTestClock } from '../../../test/support/clock.ts';
import { createLaneLedger } from '../../../test/support/lane-share.ts';
import { outgoingText } from '../../../test/support/outgoing-texts.ts';
import { settingsWith } from '../../../test/support/smpp-settings.ts';
import { statuses } from '../../smpp/pdu.ts';
import type { SubmitAnswer, SubmitRequest } from '../../smpp/submit-window.ts';
import type { OutgoingText, SubmitResult } from '../carrier/carrier.ts';
import { createSmppSender, type SubmitBind } from './sender.ts';
import type { SmppSettings } from './settings.ts';

interface TestBind extends SubmitBind {
  isUp: boolean;
  isReturning: boolean;
  open: SubmitRequest[];
  all: SubmitRequest[];
  /** Settles a submit, and frees its slot. */
  settle(request: SubmitRequest | undefined, answer: SubmitAnswer): void;
  ids(): (string | null)[];
}

/** A connection whose peer answers when the test says so. What it gets is written at once. */
function createBind(window: number): TestBind {
  const open: SubmitRequest[] = [];
  const all: SubmitRequest[] = [];
  const bind: TestBind = {
    isUp: true,
    isReturning: false,
    open,
    all,
    get free() {
      return bind.isUp ? window - open.length : 0;
    },
    submit(request) {
      open.push(request);
      all.push(request);
      request.onWritten?.();
      return true;
    },
    settle(request, answer) {
      assert.ok(request !== undefined);
      if (open.includes(request)) open.splice(open.indexOf(request), 1);
      request.settle(answer);
    },
    ids: () => all.map(({ messageId }) => messageId),
  };
  return bind;
}

const answered = (status: number): SubmitAnswer => ({ kind: 'answered', status, messageId: 'id', tlvs: [] });
const silent: SubmitAnswer = { kind: 'in_doubt', silent: true };

function createSender(settings: Partial<SmppSettings> = {}, count = 1) {
  const clock = createTestClock();
  const all = settingsWith({ binds: count, ...settings });
  const binds = Array.from({ length: count }, () => createBind(all.window));
  const sender = createSmppSender({
    settings: () => all,
    clock,
    binds: () => binds,
    onCapacity: () => {},
    onAccepted: () => {},
  });
  const results: [place: number, result: SubmitResult][] = [];
  const submit = (texts: Partial<OutgoingText>[]) =>
    void sender.submit(texts.map(outgoingText), (place, result) => void results.push([place, result]));
  const [bind] = binds;
  assert.ok(bind !== undefined);
  return { clock, sender, binds, bind, results, submit, outcomes: () => results.map(([, { outcome }]) => outcome) };
}

describe('a sender by SMPP', () => {
  test('only a code is in doubt after 5 s; a plain text of high priority waits as long as the settings say', () => {
    const { sender, bind, submit } = createSender();
    submit([
      { messageId: 'bulk', lane: 'bulk', isCode: false },
      { messageId: 'high', lane: 'first', isCode: false },
      { messageId: 'code', lane: 'first', isCode: true },
    ]);
    sender.stop();
    assert.deepEqual(
      bind.all.map(({ messageId, deadlineMs }) => [messageId, deadlineMs]),
      [
        ['high', undefined],
        ['code', 5000],
        ['bulk', undefined],
      ],
    );
  });

  test('a text is accepted, and nothing sent, if the carrier has every part', () => {
    const { sender, bind, submit, outcomes } = createSender();
    const state = { state: 'accepted', carrierMessageId: 'id', receiptKey: null } as const;
    submit([{ attempt: 2, text: 'x'.repeat(200), parts: [1, 2].map((part) => ({ part, ...state })) }]);
    sender.stop();
    assert.deepEqual(outcomes(), ['accepted']);
    assert.deepEqual(bind.ids(), []);
  });
});

describe('lanes by SMPP', () => {
  test('of 50 submits while both wait ten are bulk\u2019s, and two slots are never bulk\u2019s', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 12 }),
        fc.integer({ min: 1, max: 3 }),
        fc.array(fc.nat(), { minLength: 150, maxLength: 200 }),
        fc.boolean(),
        (window, count, answers, bulkFirst) => {
          const { sender, binds, submit } = createSender({ window }, count);
          const ledger = createLaneLedger();
          for (const bind of binds) {
            const { submit: take } = bind;
            bind.submit = (request) => {
              ledger.noteSubmit(laneOf(request), window * count);
              return take(request);
            };
          }
          const many = (lane: OutgoingText['lane']) => {
            for (let n = 0; n < 200; n++) ledger.noteQueued(lane);
            submit(Array.from({ length: 200 }, () => ({ messageId: lane, lane })));
          };
          for (const lane of bulkFirst ? (['bulk', 'first'] as const) : (['first', 'bulk'] as const)) many(lane);
          for (const answer of answers) {
            const open = binds.flatMap((bind) => bind.open.map((request) => ({ bind, request })));
            const { bind, request } = open[answer % open.length] ?? assert.fail('nothing is under way');
            ledger.noteAnswer(laneOf(request));
            bind.settle(request, answered(0));
          }
          sender.stop();
          ledger.check();
        },
      ),
      { numRuns: 60 },
    );
  });

  const laneOf = ({ messageId }: SubmitRequest) => messageId as OutgoingText['lane'];
});

describe('an overdue text in an SMPP sender', () => {
  test('is not sent after a stall: not even when an answer makes room before anything else runs', () => {
    const { clock, sender, bind, submit, results } = createSender({ window: 1 });
    submit([{ messageId: 'out' }, { messageId: 'queued' }, { messageId: 'code', lane: 'first', isCode: true }]);
    assert.deepEqual(bind.ids(), ['code']);
    clock.advance(60_000);
    bind.settle(bind.open[0], answered(0));
    sender.stop();
    assert.deepEqual(bind.ids(), ['code']);
    assert.deepEqual(
      results.slice(1).map(([, { outcome }]) => outcome),
      ['not_sent', 'not_sent'],
    );
  });

  test('is not sent after it has expired', () => {
    const { clock, sender, bind, submit, outcomes } = createSender({ window: 1 });
    submit([{ messageId: 'out' }, { messageId: 'short', expiresAtMs: clock.nowMs() + 2000 }]);
    clock.advance(2000);
    bind.settle(bind.open[0], answered(0));
    sender.stop();
    assert.deepEqual(bind.ids(), ['out']);
    assert.deepEqual(outcomes(), ['accepted', 'not_sent']);
  });

  test('gives the connection the time until which it may write a part', () => {
    const { clock, sender, bind, submit } = createSender();
    const nowMs = clock.steadyMs();
    submit([{}]);
    sender.stop();
    assert.equal(bind.all[0]?.writeBeforeMs, nowMs + 10_000);
  });
});

describe('a late answer in an SMPP sender', () => {
  test('submits nothing: a throttled code is reported, and the next claim sends it', () => {
    const { clock, sender, bind, submit, outcomes } = createSender();
    submit([{ messageId: 'code', lane: 'first', isCode: true }]);
    const [request] = bind.open;
    clock.advance(5000);
    bind.settle(request, silent);
    bind.settle(request, answered(statuses.throttled));
    clock.advance(2000);
    sender.pump();
    sender.stop();
    assert.deepEqual(bind.ids(), ['code']);
    assert.deepEqual(outcomes(), ['in_doubt', 'throttled']);
  });

  test('of one part submits nothing while another part is under way', () => {
    const { clock, sender, bind, submit, results } = createSender();
    submit([{ messageId: 'code', lane: 'first', isCode: true, text: 'x'.repeat(200) }]);
    const [one, two] = bind.open;
    bind.settle(one, silent);
    bind.settle(one, answered(statuses.throttled));
    clock.advance(2000);
    sender.pump();
    bind.settle(two, answered(0));
    sender.stop();
    assert.equal(bind.all.length, 2);
    assert.deepEqual(
      results.map(([, { outcome, long }]) => [outcome, long?.parts.map(({ part }) => part)]),
      [['throttled', [2]]],
    );
  });
});

test('parts that the carrier throttled come back in their order', () => {
  const { clock, sender, bind, submit } = createSender({ window: 4 });
  submit(['a', 'b', 'c', 'd', 'e'].map((messageId) => ({ messageId })));
  const out = [...bind.open];
  assert.deepEqual(bind.ids(), ['a', 'b']);
  for (const request of out) bind.settle(request, answered(statuses.throttled));
  bind.all.length = 0;
  for (let tries = 0; tries < 300; tries++) {
    clock.advance(100);
    sender.pump();
    for (const request of [...bind.open]) bind.settle(request, answered(0));
  }
  sender.stop();
  assert.deepEqual(bind.ids(), ['a', 'b', 'c', 'd', 'e']);
});

test('codes that wait are returned when the carrier throttles for more than 3 s, whatever text it throttled', () => {
  const { clock, sender, bind, submit, outcomes } = createSender({ window: 1 });
  submit([{ lane: 'first' }]);
  // Each pause is twice as long as the last: 1 s, 2 s, 4 s.
  for (let pauses = 0; pauses < 3; pauses++) {
    clock.advance(2500);
    sender.pump();
    if (pauses === 2) submit([{ lane: 'first', isCode: true }]);
    bind.settle(bind.open[0], answered(statuses.throttled));
  }
  sender.stop();
  assert.deepEqual(outcomes(), ['not_sent', 'throttled']);
});

describe('an SMPP sender without a bind', () => {
  const lose = (isReturning: boolean) => {
    const given = createSender({ window: 1 });
    given.submit([{ messageId: 'out' }, { messageId: 'queued' }]);
    Object.assign(given.bind, { isUp: false, isReturning });
    given.bind.settle(given.bind.open[0], answered(0));
    return given;
  };

  test('returns unsent texts at once', () => {
    const { sender, outcomes } = lose(false);
    assert.deepEqual(outcomes(), ['accepted', 'not_sent']);
    sender.stop();
  });

  test('continues with the next bind after an orderly end', () => {
    const { clock, sender, bind, outcomes } = lose(true);
    clock.advance(2000);
    sender.pump();
    assert.deepEqual(outcomes(), ['accepted']);
    Object.assign(bind, { isUp: true, isReturning: false });
    sender.pump();
    assert.deepEqual(bind.ids(), ['out', 'queued']);
    bind.settle(bind.open[0], answered(0));
    sender.stop();
  });

  test('returns unsent texts if the next bind does not come within 3 s', () => {
    const { clock, sender, outcomes } = lose(true);
    clock.advance(3000);
    sender.pump();
    assert.deepEqual(outcomes(), ['accepted', 'not_sent']);
    sender.stop();
  });
});

test('a new rate acts on the next texts after setShare', () => {
  let settings = settingsWith();
  const sender = createSmppSender({
    settings: () => settings,
    clock: createTestClock(),
    binds: () => [{ free: 10, isReturning: false, submit: () => true }],
    onCapacity: () => {},
    onAccepted: () => {},
  });
  assert.ok(sender.capacity().first > 10, 'without a rate it takes texts ahead of the window');
  settings = settingsWith({ per_second: 8 });
  sender.setShare(0.5);
  assert.equal(sender.capacity().first, 1, 'a quarter of a second of half the rate');
  settings = settingsWith();
  sender.setShare(0.5);
  assert.ok(sender.capacity().first > 10);
  sender.stop();
});
