import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type NewMessage, newMessage } from './new-message.ts';
import { measure } from './text/text.ts';

const given: NewMessage = {
  ...{ id: 'msg_1', applicationId: 'app_1', api: 'sms', channel: 'sms', to: '+447700900123', sender: 'ACME' },
  ...{
    correlationId: 'req_1',
    nowMs: 1000,
    expiresAtMs: 9000,
    lane: 'bulk',
    body: 'Hello',
    segments: measure('Hello'),
  },
  route: { carrier: 'acme#1', sentAs: null, deferredUntilMs: 5000, routing: undefined },
};
const stateOf = (change: Partial<NewMessage>) => {
  const { status, sendAtMs, deferredUntilMs } = newMessage({ ...given, ...change });
  return { status, sendAtMs, deferredUntilMs };
};

test('a message waits for the hours of its route, and no longer than it is valid', () => {
  assert.deepEqual(stateOf({}), { status: 'queued', sendAtMs: null, deferredUntilMs: 5000 });
  assert.equal(stateOf({ expiresAtMs: 3000 }).deferredUntilMs, 3000);
});

test('a scheduled message is not deferred yet: the worker decides when it is due', () => {
  assert.deepEqual(stateOf({ sendAtMs: 2000 }), { status: 'scheduled', sendAtMs: 2000, deferredUntilMs: null });
});

test('a text of a verification has a template and no body', () => {
  const verification = { id: 'ver_1', template: { app: 'Acme' } };
  const { verificationId, template, body } = newMessage({ ...given, body: null, verification });
  assert.deepEqual(
    { verificationId, template, body },
    { verificationId: 'ver_1', template: { app: 'Acme' }, body: null },
  );
});
