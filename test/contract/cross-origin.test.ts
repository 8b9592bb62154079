// Pages of other origins may read the public keys and the metadata of the identity provider, and nothing else.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createTestApp, type TestApp } from '../support/app.ts';
import { createRegistered } from '../support/applications.ts';
import { createOperator } from '../support/operator.ts';

let app: TestApp;
before(async () => {
  app = await createTestApp();
});
after(() => app.close());

const realm = '/realms/heliograph';
const open = new Set([
  `GET ${realm}/protocol/openid-connect/certs`,
  `GET ${realm}/.well-known/openid-configuration`,
  `GET /.well-known/oauth-authorization-server${realm}`,
]);
const foreign = { Origin: 'https://example.com' };

async function allowedOrigin(method: string, path: string, headers: Record<string, string> = {}) {
  const leave = new AbortController();
  const answer = await fetch(app.url + path, {
    method,
    redirect: 'manual',
    headers: { ...foreign, ...headers },
    signal: leave.signal,
  });
  const names = [...answer.headers.keys()].filter((name) => name.startsWith('access-control-'));
  const shown = names.map((name) => `${name}: ${answer.headers.get(name)}`);
  leave.abort();
  return { status: answer.status, shown };
}

test('Access-Control-Allow-Origin is on JWKS, discovery and metadata, and on no other route', async () => {
  const operator = await createOperator(app);
  const acme = await createRegistered(app, ['sms'], 'enterprise', operator);
  const allowed: string[] = [];
  const walk = async ({ method, path }: (typeof app.app.routes)[number]) => {
    const target = path.replace('applications/{id}', `applications/${acme.id}`).replaceAll(/\{\w+\}/g, 'x');
    const credentials = method === 'GET' ? { Cookie: operator.cookie, apikey: acme.apiKey } : { apikey: acme.apiKey };
    const { status, shown } = await allowedOrigin(method, target, credentials);
    if (shown.length === 0) return;
    allowed.push(`${method} ${path}`);
    assert.deepEqual([status, shown], [200, ['access-control-allow-origin: *']], `${method} ${path}`);
  };
  await Promise.all(app.app.routes.map(walk));
  assert.deepEqual(new Set(allowed), open);
});

test('refusals, unknown paths and preflights have no cross-origin headers', async () => {
  const preflight = { 'Access-Control-Request-Method': 'POST', 'Access-Control-Request-Headers': 'apikey' };
  for (const [method, path] of [
    ['OPTIONS', '/sms/v1/messages'],
    ['OPTIONS', `${realm}/protocol/openid-connect/certs`],
    ['POST', `${realm}/protocol/openid-connect/certs`],
    ['GET', '/realms/other/protocol/openid-connect/certs'],
    ['GET', '/nowhere'],
    ['GET', '/%ff'],
  ] as const) {
    const { shown } = await allowedOrigin(method, path, method === 'OPTIONS' ? preflight : {});
    assert.deepEqual(shown, [], `${method} ${path}`);
  }
});
