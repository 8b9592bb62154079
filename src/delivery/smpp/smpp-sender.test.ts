import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTestClock } from '../../../test/support/clock.ts';
import { settingsWith } from '../../../test/support/smpp-settings.ts';
import type { OutgoingText } from '../carrier.ts';
import { createSmppSender } from './smpp-sender.ts';
import type { SubmitRequest } from './submit-window.ts';

test('only a code is in doubt after 5 s; a plain text of high priority waits as long as the settings say', () => {
  const requests: SubmitRequest[] = [];
  const bind = { free: 10, submit: (request: SubmitRequest) => requests.push(request) > 0 };
  const sender = createSmppSender({
    settings: () => settingsWith(),
    clock: createTestClock(),
    binds: () => [bind],
    onCapacity: () => {},
    onAccepted: () => {},
  });
  const text = {
    attempt: 1,
    applicationId: '',
    to: '+447700900123',
    from: 'ACME',
    text: 'Hello',
    parts: [],
    form: null,
    templateId: null,
  };
  const texts: OutgoingText[] = [
    { ...text, messageId: 'bulk', lane: 'bulk', isCode: false, expiresAtMs: Number.MAX_SAFE_INTEGER },
    { ...text, messageId: 'high', lane: 'first', isCode: false, expiresAtMs: Number.MAX_SAFE_INTEGER },
    { ...text, messageId: 'code', lane: 'first', isCode: true, expiresAtMs: Number.MAX_SAFE_INTEGER },
  ];
  void sender.submit(texts, () => {});
  sender.stop();
  assert.deepEqual(
    requests.map(({ messageId, deadlineMs }) => [messageId, deadlineMs]),
    [
      ['high', undefined],
      ['code', 5000],
      ['bulk', undefined],
    ],
  );
});

test('a text of which the carrier has every part is accepted, and nothing is sent', async () => {
  const bind = { free: 10, submit: () => assert.fail('it was sent') };
  const sender = createSmppSender({
    settings: () => settingsWith(),
    clock: createTestClock(),
    binds: () => [bind],
    onCapacity: () => {},
    onAccepted: () => {},
  });
  const outcomes: string[] = [];
  const about = { messageId: 'm', attempt: 2, applicationId: '', lane: 'bulk', isCode: false, form: null } as const;
  const to = { to: '+447700900123', from: 'ACME', templateId: null, expiresAtMs: Number.MAX_SAFE_INTEGER };
  const parts = [1, 2].map((part) => ({
    part,
    state: 'accepted' as const,
    carrierMessageId: `id-${part}`,
    receiptKey: null,
  }));
  const submitting = sender.submit([{ ...about, ...to, text: 'x'.repeat(200), parts }], (_, { outcome }) =>
    outcomes.push(outcome),
  );
  sender.stop();
  assert.deepEqual(outcomes, ['accepted']);
  await submitting;
});

test('another rate acts when it is told, on the texts that come next', () => {
  let settings = settingsWith();
  const sender = createSmppSender({
    settings: () => settings,
    clock: createTestClock(),
    binds: () => [{ free: 10, submit: () => true }],
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
