// A provider that takes connections and does not answer, or not to the end: no call waits for it longer than its time.
import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { after, before, beforeEach, test } from 'node:test';
import { createProvider } from '../../src/accounts/sso/provider.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { clientId, clientSecret, type SsoProvider, startSsoProvider } from '../support/sso-provider.ts';

const publicUrl = 'http://127.0.0.1:9';
const checks = { state: 'state', nonce: 'nonce', verifier: 'v'.repeat(43) };
const query = () => new URLSearchParams({ code: 'code', state: 'state', iss: real.issuer });

let real: SsoProvider;
before(async () => {
  real = await startSsoProvider(`${publicUrl}/portal/v1/sso/callback`);
});
after(() => real.close());
beforeEach(() => {
  real.answerAll = undefined;
  real.answerToken = undefined;
});

function open() {
  const operators = { claim: 'groups', values: ['admins'] };
  const settings = { issuer: real.issuer, clientId, clientSecret, operators, mfa: [], only: false };
  return createProvider({ settings, publicUrl, clock: systemClock, callSeconds: 0.25 });
}

/** What a hanging provider does with a request. */
const hangs: Record<string, (response: ServerResponse) => void> = {
  'says nothing': () => {},
  'sends its head alone': (response) =>
    void response.writeHead(200, { 'Content-Type': 'application/json' }).flushHeaders(),
  'never ends its body': (response) => {
    response.writeHead(200, { 'Content-Type': 'application/json' });
    const drip = setInterval(() => response.write(' '), 20);
    response.on('close', () => clearInterval(drip));
  },
};
const unavailable = { fault: 'unavailable' };

for (const [how, hang] of Object.entries(hangs)) {
  test(`it ${how}: the person reads it, a recheck is tried again, and it works as soon as the provider does`, async () => {
    const provider = open();
    real.answerAll = (_, response) => hang(response);
    await assert.rejects(provider.addressFor(checks), unavailable, 'metadata');
    await assert.rejects(provider.redeem(query(), checks), unavailable);
    real.answerAll = undefined;
    assert.ok((await provider.addressFor(checks)).startsWith(`${real.issuer}/auth?`));

    real.answerAll = (_, response) => hang(response);
    await assert.rejects(provider.redeem(query(), checks), unavailable, 'the token endpoint');
    // Not undefined, which would end the session.
    await assert.rejects(provider.refresh('a refresh token', 'ada'));
    await assert.rejects(provider.revoke('a refresh token'));
  });
}
