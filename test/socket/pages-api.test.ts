import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { createPageRoutes } from '../../src/http/pages-api.ts';
import { sendExactly } from '../support/http.ts';
import { startBareServer } from './bare-server.ts';

const folder = mkdtempSync(join(tmpdir(), 'heliograph-pages-'));
after(() => rmSync(folder, { recursive: true, force: true }));
const isOperation = (id: string) => id === 'sendSms';

test('where the pages were not built, the OpenAPI document is home', async () => {
  const server = await startBareServer({ routes: createPageRoutes(join(folder, 'nowhere'), isOperation) });
  for (const path of ['/', '/docs', '/docs/reference', '/docs/reference/sendSms']) {
    const answer = await sendExactly(server.port, path);
    assert.deepEqual([answer.status, answer.headers.location], [302, '/openapi.json'], path);
  }
  await server.close();
});

test('pages are compressed for callers that accept it; files with a hash in their name are cached', async () => {
  mkdirSync(join(folder, 'assets'));
  writeFileSync(join(folder, 'index.html'), '<!doctype html><title>Portal</title>');
  writeFileSync(join(folder, 'favicon.svg'), '<svg/>');
  writeFileSync(join(folder, 'guides.json'), '["first-text"]');
  writeFileSync(join(folder, 'errors.json'), '["NOT_FOUND"]');
  writeFileSync(join(folder, 'assets', 'main-abc.js'), 'export {};'.repeat(100));
  writeFileSync(join(folder, 'assets', 'type-abc.woff2'), Buffer.from([1, 2, 3]));
  const server = await startBareServer({ routes: createPageRoutes(folder, isOperation) });
  const get = (path: string, accepted?: string) =>
    sendExactly(server.port, path, { headers: accepted === undefined ? {} : { 'accept-encoding': accepted } });

  const page = await get('/');
  assert.deepEqual([page.status, page.headers['content-type']], [200, 'text/html; charset=utf-8']);
  assert.match(String(page.headers['content-security-policy']), /script-src 'self';/);
  assert.equal(page.headers['cache-control'], 'no-cache');

  // The page's script shows the reference by the address. Nothing of the address is in the answer.
  for (const path of [
    ...['/docs', '/docs/', '/docs/reference', '/docs/reference/', '/docs/reference/sendSms'],
    ...['/docs/guides/first-text?a=b', '/docs/errors', '/docs/errors/', '/docs/errors/NOT_FOUND'],
  ]) {
    const { status, headers, body } = await get(path);
    assert.deepEqual([status, body], [200, page.body], path);
    assert.equal(headers['content-security-policy'], page.headers['content-security-policy'], path);
  }
  for (const path of [
    ...['/docs/nope', '/docs/guides', '/docs/reference/nope', '/docs/guides/nope', '/docs/guides/__proto__'],
    ...[
      '/docs/errors/nope',
      '/docs/errors/constructor',
      '/docs//',
      '/docs/a/b/c',
      '/docsx',
      `/docs/${'a'.repeat(2000)}`,
    ],
  ]) {
    assert.equal((await get(path)).status, 404, path);
  }

  const script = await get('/assets/main-abc.js', 'br, gzip');
  assert.equal(script.headers['content-encoding'], 'gzip');
  assert.equal(script.headers.vary, 'Accept-Encoding');
  assert.match(String(script.headers['cache-control']), /immutable/);
  assert.ok(Number(script.headers['content-length']) < 200);
  for (const accepted of [undefined, 'br', 'gzip;q=0', 'gzip; q=0.0, br']) {
    assert.equal((await get('/assets/main-abc.js', accepted)).headers['content-encoding'], undefined, accepted);
  }
  for (const accepted of ['gzip;q=0.5', 'deflate, gzip;q=1.0, *;q=0.5', 'GZIP']) {
    assert.equal((await get('/assets/main-abc.js', accepted)).headers['content-encoding'], 'gzip', accepted);
  }
  const font = await get('/assets/type-abc.woff2', 'gzip');
  assert.deepEqual([font.headers['content-type'], font.headers['content-encoding']], ['font/woff2', undefined]);
  for (const name of ['nothing.js', '..%2findex.html', '%2e%2e%2fpackage.json']) {
    assert.equal((await get(`/assets/${name}`)).status, 404, name);
  }
  await server.close();
});
