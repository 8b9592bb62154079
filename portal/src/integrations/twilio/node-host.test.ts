import assert from 'node:assert/strict';
import { test } from 'node:test';
import twilio from 'twilio';
import { hostOfTwilioNode } from './node-host.ts';

const hosts = [
  ...['localhost', '127.0.0.1', '[::1]', 'acme.example', 'sms.acme.example', 'sms.eu.acme.example'],
  ...['a.b.c.acme.example', 'a.b.c.d.acme.example', 'a.b.c.d.e.f.acme.example', 'a.co.uk.b.co.uk'],
];

test('the host that twilio-node calls is known before it is called', () => {
  const client = twilio(`AC${'0'.repeat(32)}`, 'token') as unknown as { getHostname(host: string): string };
  for (const host of hosts) assert.equal(hostOfTwilioNode(host), client.getHostname(host), host);
  const changed = hosts.filter((host) => hostOfTwilioNode(host) !== host);
  assert.ok(changed.includes('a.b.c.d.acme.example'), 'six labels');
  assert.ok(changed.includes('acme.example'), 'two labels');
  assert.ok(!changed.includes('127.0.0.1'));
});
