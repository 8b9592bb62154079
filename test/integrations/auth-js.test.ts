// run: with commands
// docs/integrations/auth-js.md and route-handlers.md: the handlers start and check, alone and in Express, and the real Auth.js
// takes the proof for a session.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createTestApp, type TestApp } from '../support/app.ts';
import { createRegistered, type TestApplication } from '../support/applications.ts';
import { createCookies } from '../support/browser-cookies.ts';
import { send } from '../support/developer.ts';
import { eventually } from '../support/eventually.ts';
import { type Receiver, startReceiver } from '../support/guide-receivers.ts';
import { writeIntegrationSamples } from '../support/integration-samples.ts';
import type { InboxText } from '../support/verify-caller.ts';

/** A server of the web's kind, as Next.js is one: it has routes, and passes requests to their handlers. */
const webServer = `
import { createServer } from 'node:http';
import { Auth } from '@auth/core';
import { POST as sendCode } from './app-api-number-route.ts';
import { POST as checkCode } from './app-api-code-route.ts';
import { config } from './auth-js-config.ts';

const handlers = { '/api/number': sendCode, '/api/code': checkCode };
const server = createServer(async (incoming, answer) => {
  const chunks = [];
  for await (const chunk of incoming) chunks.push(chunk);
  const url = new URL(incoming.url, 'http://' + incoming.headers.host);
  const body = incoming.method === 'POST' ? Buffer.concat(chunks) : undefined;
  const request = new Request(url, { method: incoming.method, headers: incoming.headers, body });
  const handler = handlers[url.pathname] ?? ((each) => Auth(each, config));
  const made = await handler(request).catch((error) => Response.json({ error: error.message }, { status: 500 }));
  answer.writeHead(made.status, [...made.headers].flat());
  answer.end(Buffer.from(await made.arrayBuffer()));
});
server.listen(0, '127.0.0.1', () => console.log('Listening on', server.address()));
`;

let app: TestApp;
let acme: TestApplication;
let web: Receiver;
let express: Receiver;
before(async () => {
  app = await createTestApp();
  acme = await createRegistered(app, ['sms', 'verify'], 'enterprise');
  const folder = await writeIntegrationSamples(['express-routes.ts'], { 'web-server.ts': webServer });
  const env = {
    HELIOGRAPH_URL: app.url,
    HELIOGRAPH_CLIENT_ID: acme.client.client_id,
    HELIOGRAPH_CLIENT_SECRET: acme.client.client_secret,
    HELIOGRAPH_APPLICATION_ID: acme.id,
    AUTH_SECRET: 'a secret of at least thirty-two characters',
  };
  [web, express] = (await Promise.all(
    ['web-server.mjs', 'express-routes.mjs'].map((file) => startReceiver(folder, [process.execPath, file], env)),
  )) as [Receiver, Receiver];
});
after(async () => {
  await web?.stop();
  await express?.stop();
  await app.close();
});

function openBrowser({ url }: Receiver) {
  const browse = createCookies();
  return {
    async post(path: string, body: object) {
      const headers = { 'content-type': 'application/json' };
      const response = await browse(new URL(path, url), { method: 'POST', headers, body: JSON.stringify(body) });
      const answer = (await response.json()) as { error?: string; sent?: boolean; proof?: string };
      return { status: response.status, ...answer };
    },
    async read<Body>(path: string): Promise<Body> {
      return (await (await browse(new URL(path, url))).json()) as Body;
    },
    async submit(path: string, form: Record<string, string>): Promise<string> {
      const body = new URLSearchParams(form);
      const response = await browse(new URL(path, url), { method: 'POST', body, redirect: 'manual' });
      return response.headers.get('location') ?? String(response.status);
    },
  };
}

async function codeOn(number: string): Promise<string> {
  const path = `/sandbox/v1/inbox?to=${encodeURIComponent(number)}`;
  return eventually('the code arrives', async () => {
    const { body } = await send<{ data: InboxText[] }>(app, 'GET', path, { headers: { apikey: acme.apiKey } });
    return /[0-9]{6}/.exec(body.data[0]?.text ?? '')?.[0];
  });
}

for (const [name, serverOf] of [
  ['route handlers of the web', () => web],
  ['the same in Express', () => express],
] as const) {
  describe(name, () => {
    test('a code, a wrong one, the right one', async () => {
      const browser = openBrowser(serverOf());
      const number = name === 'route handlers of the web' ? '+447700900821' : '+447700900822';
      assert.deepEqual(await browser.post('/api/code', { code: '123456' }), say('Ask for a code first.'));
      assert.deepEqual(await browser.post('/api/number', { number }), { status: 200, sent: true });
      const code = await codeOn(number);
      const wrong = code === '000000' ? '111111' : '000000';
      assert.deepEqual(await browser.post('/api/code', { code: wrong }), say('Wrong code. 4 tries left.'));
      assert.deepEqual(await browser.post('/api/code', { code: 'abc' }), say('Enter the digits of the code, once.'));
      const stranger = openBrowser(serverOf());
      assert.deepEqual(await stranger.post('/api/code', { code }), say('Ask for a code first.'));
      const { status, proof } = await browser.post('/api/code', { code });
      assert.deepEqual([status, typeof proof], [200, 'string']);
      assert.deepEqual(await browser.post('/api/code', { code }), say('Enter the digits of the code, once.'));
    });

    test('a number that is none, and one that is blocked', async () => {
      const browser = openBrowser(serverOf());
      for (const number of ['12', 5, null, {}])
        assert.deepEqual(await browser.post('/api/number', { number }), say('This is not a mobile number.'));
      const blocked = await browser.post('/api/number', { number: '+15005550112' });
      assert.deepEqual(blocked, say('We cannot send a code to this number.'));
    });
  });
}

const say = (error: string) => ({ status: 422, error });

interface Session {
  user?: { name: string };
}

describe('Auth.js', () => {
  const signIn = async (browser: ReturnType<typeof openBrowser>, proof: string) => {
    const { csrfToken } = await browser.read<{ csrfToken: string }>('/auth/csrf');
    return browser.submit('/auth/callback/phone', { csrfToken, proof });
  };

  test('the proof of an approval makes a session', async () => {
    const browser = openBrowser(web);
    const number = '+447700900831';
    await browser.post('/api/number', { number });
    const { proof = '' } = await browser.post('/api/code', { code: await codeOn(number) });
    assert.equal(await browser.read<Session | null>('/auth/session'), null);
    assert.doesNotMatch(await signIn(browser, proof), /error/);
    assert.equal((await browser.read<Session>('/auth/session')).user?.name, number);
  });

  test('a proof of another application, a changed one and none make no session', async () => {
    const browser = openBrowser(web);
    const other = await createRegistered(app, ['verify'], 'enterprise');
    const number = '+447700900832';
    await browser.post('/api/number', { number });
    const { proof = '' } = await browser.post('/api/code', { code: await codeOn(number) });
    const foreign = await proofOf(other);
    const [head, body, signature = ''] = proof.split('.');
    const changed = [head, body, `${signature[0] === 'A' ? 'B' : 'A'}${signature.slice(1)}`].join('.');
    for (const each of [foreign, changed, '', 'x.y.z']) {
      const stranger = openBrowser(web);
      assert.match(await signIn(stranger, each), /error=CredentialsSignin/);
      assert.equal(await stranger.read<Session | null>('/auth/session'), null);
    }
  });

  async function proofOf({ client }: TestApplication): Promise<string> {
    const form = new URLSearchParams({ grant_type: 'client_credentials', scope: 'openid verify:manage', ...client });
    const token = await fetch(`${app.url}/realms/heliograph/protocol/openid-connect/token`, {
      method: 'POST',
      body: form,
    });
    const { access_token } = (await token.json()) as { access_token: string };
    const headers = { authorization: `Bearer ${access_token}` };
    const start = { to: '+15005550104', channel: 'sms' };
    const { id } = (await send<{ id: string }>(app, 'POST', '/verify/v1/verifications', { body: start, headers })).body;
    const path = `/verify/v1/verifications/${id}`;
    const { body } = await send<{ proof: string }>(app, 'POST', path, { body: { code: '123456' }, headers });
    return body.proof;
  }
});
