import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readCall } from './guide-calls.ts';

test('one curl command of a guide is read as a call, without its credential', () => {
  const shell = `curl -i "$HELIOGRAPH_URL/sms/v1/messages" \\
  -H "apikey: $HELIOGRAPH_API_KEY" -H 'Content-Type: application/json' \\
  -H 'Idempotency-Key: order-1' \\
  -d '{"to": "+15005550100", "message": "Hello"}'`;
  assert.deepEqual(readCall(shell), {
    method: 'POST',
    path: '/sms/v1/messages',
    query: [],
    headers: [['Idempotency-Key', 'order-1']],
    body: { to: '+15005550100', message: 'Hello' },
    shell,
  });
  const read = readCall('curl "$HELIOGRAPH_URL/sandbox/v1/inbox?to=%2B1500&limit=1" -H "apikey: $HELIOGRAPH_API_KEY"');
  assert.deepEqual(
    [read?.method, read?.query],
    [
      'GET',
      [
        ['to', '+1500'],
        ['limit', '1'],
      ],
    ],
  );
});

test('the client of a form is left to the page', () => {
  const shell = `curl "$HELIOGRAPH_URL/token" -d grant_type=client_credentials -d "client_id=$HELIOGRAPH_CLIENT_ID" -d 'scope=openid verify:manage'`;
  assert.deepEqual(readCall(shell)?.body, { grant_type: 'client_credentials', scope: 'openid verify:manage' });
});

test('a script of more than one command stays as it is', () => {
  for (const shell of [
    'curl -si "$HELIOGRAPH_URL/sms/v1/messages" | grep -i ratelimit',
    'id=$(curl -s "$HELIOGRAPH_URL/sms/v1/messages")',
    'npm start',
    'curl https://example.com/',
    'curl "$HELIOGRAPH_URL/a" && curl "$HELIOGRAPH_URL/b"',
  ])
    assert.equal(readCall(shell), undefined, shell);
});
