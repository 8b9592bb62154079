// Carriers of kind http, for operators: settings, secrets, addresses, files; and who may guess at callbacks.
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { exportCarrier } from '../../src/commands/declared/export/carrier.ts';
import { findCarrier } from '../../src/delivery/carrier/store.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import type { Answer, TestDeveloper } from '../support/developer.ts';
import { eventually } from '../support/eventually.ts';
import { createOperator } from '../support/operator.ts';
import { dumpAll, type Refusal } from '../support/texts.ts';

let app: TestApp;
let operator: TestDeveloper;
before(async () => {
  app = await createTestApp({
    delivery: 'held',
    env: { HELIOGRAPH_ADDRESS_PER_MINUTE: '200', HELIOGRAPH_ADDRESS_BURST: '200' },
  });
  operator = await createOperator(app);
});
after(() => app.close());
beforeEach(async () => {
  await app.db.database.query('truncate carrier, carrier_bind, carrier_log, carrier_test');
  app.clock.advance(61_000);
});

const path = '/portal/v1/operator/carriers';
interface Carrier {
  kind: string;
  callbacks: { receipts: string; inbound: string } | null;
  settings: Record<string, unknown>;
  version: number;
}
const base = 'http://127.0.0.1:9';
const twilio = { preset: 'twilio', account_sid: 'AC1', auth_token: 'token-Zq7', base };
const create = (settings: object, name = 'acme') =>
  operator.send<Carrier & Refusal>('POST', path, { name, kind: 'http', settings });
const change = (settings: object) => operator.send<Carrier & Refusal>('PATCH', `${path}/acme`, { settings });
const fieldsOf = ({ body }: Answer<Refusal>) => body.details.map(({ field }) => field);

describe('settings', () => {
  test('201: without its secrets, with the addresses of its callbacks', async () => {
    const { status, body } = await create(twilio);
    assert.equal(status, 201);
    assert.equal(body.kind, 'http');
    assert.equal(body.settings.auth_token_set, true);
    assert.match(body.callbacks?.receipts ?? '', /\/carriers\/v1\/acme\/receipts\/[0-9a-f]{32}$/);
    assert.match(body.callbacks?.inbound ?? '', /\/carriers\/v1\/acme\/inbound\/[0-9a-f]{32}$/);
    const token = body.callbacks?.inbound.slice(-32) ?? '';
    const everywhere = `${JSON.stringify(body.settings)} ${await dumpAll(app)} ${app.logLines.join('\n')}`;
    for (const secret of ['token-Zq7', token]) assert.equal(everywhere.includes(secret), false, secret);
  });
  test('200: a change keeps the secret and the callbacks; a preset may be exchanged for a description', async () => {
    const { body: before } = await create(twilio);
    const { status, body } = await change({ concurrency: 5, auth_token: 'token-Yr8' });
    assert.deepEqual([status, body.settings.concurrency, body.settings.auth_token_set], [200, 5, true]);
    assert.deepEqual(body.callbacks, before.callbacks);
    const describe = { url: '{{base}}/x', json: { to: '{{to}}' }, accepted: [{ status: [200] }] };
    const other = await change({
      preset: null,
      account_sid: null,
      auth_token: null,
      describe,
      secrets: { key: 'k-Zq7' },
    });
    assert.equal(other.status, 200, JSON.stringify(other.body));
    assert.deepEqual(other.body.settings.secrets_set, ['key']);
    assert.equal(JSON.stringify(other.body).includes('Zq7'), false);
  });
  test('400: every bad field of a description is named', async () => {
    const describe = { url: '{{base}}/x', json: { a: '{{nothing}}' }, accepted: [{ status: [200] }], id: 'a b' };
    const answer = await create({ base, describe });
    assert.deepEqual([answer.status, fieldsOf(answer)], [400, ['settings.describe.json.a', 'settings.describe.id']]);
  });
  for (const given of [
    'https://8.8.8.8',
    'http://10.0.0.1',
    'https://169.254.169.254',
    'http://[::ffff:10.0.0.1]',
    'http://2130706434.example.invalid',
  ]) {
    test(`400: nothing leaves the sandbox to ${given}`, async () => {
      const answer = await create({ ...twilio, base: given, allow_private: true });
      assert.deepEqual([answer.status, fieldsOf(answer)], [400, ['settings.base']]);
    });
  }
  test('400: a preset without a base would leave the sandbox', async () => {
    const { base: _, ...rest } = twilio;
    assert.deepEqual(fieldsOf(await create(rest)), ['settings.base']);
  });
  test('an export has places for the secrets, and nothing of them', async () => {
    await create(twilio);
    const row = (await findCarrier(app.db.database, 'acme')) ?? assert.fail('the carrier is there');
    const { settings } = exportCarrier(row, { secretPlaces: true }) as { settings: Record<string, unknown> };
    assert.deepEqual(settings.auth_token, { env: 'CARRIER_ACME_AUTH_TOKEN' });
    assert.equal('auth_token_set' in settings, false);
    assert.deepEqual(settings.account_sid, 'AC1');
  });
});

describe('who knocks at callbacks', () => {
  test('guesses are limited by address, the right token never is', async () => {
    const { body } = await create(twilio);
    const right = `${app.url}${new URL(body.callbacks?.receipts ?? '').pathname}`;
    const wrong = right.replace(/.{32}$/, '0'.repeat(32));
    const statuses = new Set<number>();
    for (let each = 0; each < 250; each++) statuses.add((await fetch(wrong, { method: 'POST' })).status);
    assert.deepEqual(
      [...statuses].sort((a, b) => a - b),
      [404, 429],
    );
    // Its proof is missing, which is another matter: the request was let in.
    const answer = await fetch(right, {
      method: 'POST',
      body: 'a=1',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
    assert.equal(answer.status, 401);
  });
  test('404 after the carrier was deleted', async () => {
    const { body } = await create(twilio);
    const url = `${app.url}${new URL(body.callbacks?.receipts ?? '').pathname}`;
    assert.equal((await fetch(url, { method: 'POST' })).status, 401);
    await operator.send('DELETE', `${path}/acme?force=true`);
    await eventually('this node knows', async () => (await fetch(url, { method: 'POST' })).status === 404);
  });
  test('renewed addresses: the old one is gone, the new one works; another kind has none', async () => {
    const { body: before } = await create(twilio);
    const urlOf = ({ callbacks }: Carrier) => `${app.url}${new URL(callbacks?.receipts ?? '').pathname}`;
    assert.equal((await fetch(urlOf(before), { method: 'POST' })).status, 401);
    const { status, body } = await operator.send<Carrier>('POST', `${path}/acme/renew-callbacks`);
    assert.deepEqual([status, body.version, body.settings], [200, before.version + 1, before.settings]);
    assert.notEqual(urlOf(body), urlOf(before));
    await eventually('this node knows', async () => (await fetch(urlOf(before), { method: 'POST' })).status === 404);
    assert.equal((await fetch(urlOf(body), { method: 'POST' })).status, 401, 'only its proof is missing');
    const smpp = { name: 'other', kind: 'smpp', settings: { host: '127.0.0.1', system_id: 'me' } };
    assert.equal((await operator.send('POST', path, smpp)).status, 201);
    const refused = await operator.send('POST', `${path}/other/renew-callbacks`);
    assert.deepEqual([refused.status, refused.body.code], [409, 'INCOMPATIBLE_STATE']);
    assert.equal((await operator.send('POST', `${path}/nobody/renew-callbacks`)).status, 404);
  });
});
