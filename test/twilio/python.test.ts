// Debian's python3-twilio, unmodified. What it sends and reads is Twilio's own; only its base address is ours.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createTestApp, type TestApp } from '../support/app.ts';
import { createTwilioCaller } from './caller.ts';
import { runPythonFlow } from './python.ts';

let app: TestApp;
before(async () => {
  app = await createTestApp({ delivery: 'held' });
});
after(() => app.close());

test('verifications, messages and refusals are what the library expects', async () => {
  const acme = await createTwilioCaller(app);
  const stranger = await createTwilioCaller(app);
  const seen = await runPythonFlow({
    url: app.url,
    account: acme.account,
    strangersService: stranger.account.service_sid,
    sendAt: new Date(app.clock.nowMs() + 3_600_000).toISOString().slice(0, 19),
  });
  const started = new Date(app.clock.nowMs()).toISOString().slice(0, 19);
  assert.deepEqual(seen, {
    started: ['+15005550100', 'sms', 'pending', false, 1],
    started_at: `${started}+00:00`,
    wrong: ['pending', false],
    right: [true, 'approved', true],
    again: [404, 20404],
    by_number: true,
    canceled: 'canceled',
    called: ['call', true, 'whatsapp', ['CALL', 'WHATSAPP']],
    feedback: 'approved',
    blocked: [400, 60410],
    channel: [400, 60200],
    sent: ['+15005550100', 'ACME', 'On its way.', '1', null],
    read: true,
    listed: [5, 5, ['3', '2', '1', '0']],
    scheduled: ['scheduled', 'canceled'],
    bad_to: [400, 21211],
    missing: [404, 20404],
    deleted: [405, 20004],
    credentials: [401, 20003],
    service: [404, 20404],
  });
});
