// run: with commands
// docs/integrations/better-auth.md with the real better-auth: from the browser's request for a code to its session.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createTestApp, type TestApp } from '../support/app.ts';
import { createRegistered, type TestApplication } from '../support/applications.ts';
import { send } from '../support/developer.ts';
import { eventually } from '../support/eventually.ts';
import { type Receiver, startReceiver } from '../support/guide-receivers.ts';
import { writeIntegrationSamples } from '../support/integration-samples.ts';
import { openPage, type PageProcess, pageDriver } from '../support/page-process.ts';
import { freePort } from '../support/process.ts';
import type { InboxText } from '../support/verify-caller.ts';

let app: TestApp;
let acme: TestApplication;
let server: Receiver;
let folder: string;
let url: string;
const pages: PageProcess[] = [];
before(async () => {
  app = await createTestApp();
  acme = await createRegistered(app, ['sms', 'verify'], 'enterprise');
  folder = await writeIntegrationSamples(['better-auth-server.ts', 'better-auth-sign-up.ts'], {
    'browser.ts': pageDriver('./better-auth-sign-up.ts'),
  });
  const port = await freePort();
  url = `http://127.0.0.1:${port}`;
  server = await startReceiver(folder, [process.execPath, 'better-auth-server.mjs'], {
    HELIOGRAPH_URL: app.url,
    HELIOGRAPH_CLIENT_ID: acme.client.client_id,
    HELIOGRAPH_CLIENT_SECRET: acme.client.client_secret,
    BETTER_AUTH_URL: url,
    BETTER_AUTH_SECRET: 'a secret of at least thirty-two characters',
    PORT: String(port),
  });
});
after(async () => {
  for (const page of pages) page.stop();
  await server?.stop();
  await app.close();
});

/** The page's own program, as it runs in a browser. */
async function newBrowser() {
  const page = await openPage(folder, 'browser.mjs', { PAGE_ORIGIN: url, BETTER_AUTH_URL: url });
  pages.push(page);
  return {
    sendCode: (number: string) => page.call('sendCode', number),
    enterCode: (number: string, code: string) => page.call<{ user: { id: string } }>('enterCode', number, code),
    findSession: () => page.call<{ user: { phoneNumber: string; phoneNumberVerified: boolean } }>('findSession'),
  };
}

async function codeOn(number: string): Promise<string> {
  const path = `/sandbox/v1/inbox?to=${encodeURIComponent(number)}`;
  return eventually('the code arrives', async () => {
    const { body } = await send<{ data: InboxText[] }>(app, 'GET', path, { headers: { apikey: acme.apiKey } });
    return /[0-9]{6}/.exec(body.data[0]?.text ?? '')?.[0];
  });
}

describe('better-auth', () => {
  test('a sign-up by number: the code, a wrong one, the right one, the session; then a sign-in', async () => {
    const number = '+447700900811';
    const browser = await newBrowser();
    assert.equal((await browser.findSession()).data, null);
    assert.equal((await browser.sendCode(number)).error, null);
    const code = await codeOn(number);
    const wrong = await browser.enterCode(number, code === '000000' ? '111111' : '000000');
    assert.deepEqual([wrong.error?.status, wrong.error?.code], [400, 'INVALID_OTP']);
    assert.equal((await browser.findSession()).data, null);
    const right = await browser.enterCode(number, code);
    assert.equal(right.error, null, JSON.stringify(right.error));
    const session = await browser.findSession();
    assert.deepEqual([session.data?.user.phoneNumber, session.data?.user.phoneNumberVerified], [number, true]);
    const replayed = await (await newBrowser()).enterCode(number, code);
    assert.equal(replayed.error?.status, 400, 'a code works once');

    const second = await newBrowser();
    assert.equal((await second.sendCode(number)).error, null);
    const next = await eventually('another code', async () => {
      const found = await codeOn(number);
      return found !== code && found;
    });
    const signedIn = await second.enterCode(number, next);
    assert.equal(signedIn.data?.user.id, right.data?.user.id, 'the same account');
  });

  test('a number that is none, in another spelling, or blocked', async () => {
    const browser = await newBrowser();
    for (const phoneNumber of ['12', '+44 7700 900811', '447700900811'])
      assert.equal((await browser.sendCode(phoneNumber)).error?.status, 400, phoneNumber);
    const blocked = await browser.sendCode('+15005550112');
    assert.deepEqual([blocked.error?.status, blocked.error?.message], [403, 'We cannot send a code to this number.']);
    const spelled = await browser.enterCode('+44 7700 900811', '123456');
    assert.equal(spelled.error?.status, 400);
    const none = await browser.enterCode('+447700900812', '123456');
    assert.equal(none.error?.status, 400, 'no code was sent');
  });
});
