import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createTestApp, type TestApp } from '../support/app.ts';

let app: TestApp;
before(async () => {
  app = await createTestApp();
});
after(() => app.close());

test('GET /healthz: 200 while the process lives', async () => {
  const response = await fetch(`${app.url}/healthz`);
  assert.equal(response.status, 200);
  assert.deepEqual(await response.json(), { status: 'ok' });
});

test('GET /readyz: 200 with every part it needs', async () => {
  const response = await fetch(`${app.url}/readyz`);
  assert.equal(response.status, 200);
  assert.deepEqual(await response.json(), { status: 'ready', checks: { database: 'ok' } });
});
