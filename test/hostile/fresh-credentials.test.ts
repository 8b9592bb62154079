// A third limit that no plan knows: an address pays once for a credential that is not known yet, and no less than that.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createTestApp, type TestApp } from '../support/app.ts';
import {
  bearer,
  countStatuses,
  createRegistered,
  getToken,
  sendMany,
  type TestApplication,
} from '../support/applications.ts';
import { inShort } from '../support/effort.ts';
import { forgeToken } from '../support/forged-token.ts';

const addressLimit = 50;
const burst = inShort(300, 1900);

let app: TestApp;
let acme: TestApplication;
before(async () => {
  app = await createTestApp({
    env: {
      HELIOGRAPH_ADDRESS_PER_MINUTE: String(addressLimit),
      HELIOGRAPH_ADDRESS_BURST: String(addressLimit),
      HELIOGRAPH_TRUSTED_PROXIES: '127.0.0.1',
    },
  });
  acme = await createRegistered(app, ['sms', 'verify'], 'enterprise');
});
after(() => app.close());

const from = (address: string, headers: Record<string, string>) => ({ ...headers, 'X-Forwarded-For': address });
const unknownToken = () => forgeToken({ keys: app.keys, nowMs: app.clock.nowMs() });

describe('a burst with a credential that is not known yet', () => {
  test(`${burst} at once with a new token: none is refused by the address, which pays once`, async () => {
    const token = await getToken(app, acme.client, 'verify:manage');
    const headers = from('203.0.113.10', bearer(token));
    const answers = await sendMany(app, burst, { path: '/verify/v1/nothing', headers });
    assert.deepEqual(countStatuses(answers), { 404: burst });
    const [unknown] = await sendMany(app, 1, {
      path: '/verify/v1/nothing',
      headers: from('203.0.113.10', bearer(unknownToken())),
    });
    assert.equal(unknown?.headers['ratelimit-remaining'], String(addressLimit - 2), 'one for each credential');
  });

  test('a burst with a new key: none is refused by the address, which pays once', async () => {
    const { body } = await acme.developer.send('POST', `/portal/v1/applications/${acme.id}/keys`, {
      overlap_seconds: 60,
    });
    const headers = from('203.0.113.11', { apikey: String(body.api_key) });
    const answers = await sendMany(app, burst, { path: '/sms/v1/nothing', headers });
    assert.deepEqual(countStatuses(answers), { 404: burst });
  });

  test('different ones that only look right pay each, and the address runs out', async () => {
    const answers = await sendMany(app, burst, () => ({
      path: '/verify/v1/nothing',
      headers: from('203.0.113.12', bearer(unknownToken())),
    }));
    assert.deepEqual(countStatuses(answers), { 401: addressLimit, 429: burst - addressLimit });
  });

  test('one that only looks right pays at every address that it comes from', async () => {
    const token = unknownToken();
    for (const address of ['203.0.113.13', '203.0.113.14']) {
      const answers = await sendMany(app, 20, { path: '/verify/v1/nothing', headers: from(address, bearer(token)) });
      assert.deepEqual(countStatuses(answers), { 401: 20 });
      assert.ok(
        answers.every(({ headers }) => Number(headers['ratelimit-remaining']) < addressLimit),
        address,
      );
    }
  });

  test('without budget a new credential is refused, and one that paid is not', async () => {
    const token = await getToken(app, acme.client, 'verify:manage');
    const known = from('203.0.113.15', bearer(token));
    assert.equal((await sendMany(app, 1, { path: '/verify/v1/nothing', headers: known }))[0]?.status, 404);
    await sendMany(app, 2 * addressLimit, () => ({
      path: '/verify/v1/nothing',
      headers: from('203.0.113.15', bearer(unknownToken())),
    }));
    const fresh = from('203.0.113.15', bearer(await getToken(app, acme.client, 'verify:manage')));
    assert.equal((await sendMany(app, 1, { path: '/verify/v1/nothing', headers: fresh }))[0]?.status, 429);
    const answers = await sendMany(app, burst, { path: '/verify/v1/nothing', headers: known });
    assert.deepEqual(countStatuses(answers), { 404: burst });
  });
});
