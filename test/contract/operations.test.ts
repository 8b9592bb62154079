// run: on both lanes
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createOperationsRoutes } from '../../src/http/operations-api.ts';
import { createMetrics } from '../../src/platform/metrics/metrics.ts';
import { startBareServer } from '../socket/bare-server.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { requirePages } from '../support/built-portal.ts';
import { eventually } from '../support/eventually.ts';

let app: TestApp;
before(async () => {
  requirePages();
  app = await createTestApp();
});
after(() => app.close());

test('GET /healthz: 200 while the process lives', async () => {
  const response = await fetch(`${app.url}/healthz`);
  assert.equal(response.status, 200);
  assert.deepEqual(await response.json(), { status: 'ok' });
});

describe('GET /readyz', () => {
  test('200 with every part it needs', async () => {
    const response = await fetch(`${app.url}/readyz`);
    assert.equal(response.status, 200);
    const body = (await response.json()) as { status: string; checks: Record<string, string> };
    assert.equal(body.status, 'ready');
    assert.equal(body.checks.database, 'ok');
  });

  test('503 while the clock of the node is wrong', async () => {
    let isRight = false;
    const node = await createTestApp({ db: app.db, clock: app.clock, clockWatch: { isRight: () => isRight } });
    try {
      const checksOf = async (response: Response) => ((await response.json()) as { checks: unknown }).checks;
      const wrong = await fetch(`${node.url}/readyz`);
      assert.deepEqual([wrong.status, await checksOf(wrong)], [503, { database: 'ok', clock: 'away' }]);
      isRight = true;
      // An answer is shared for a moment.
      await eventually('it is ready', async () => (await fetch(`${node.url}/readyz`)).status === 200);
      const right = await fetch(`${node.url}/readyz`);
      assert.deepEqual(await checksOf(right), { database: 'ok', clock: 'ok' });
    } finally {
      await node.close();
    }
  });

  test('503 with Retry-After when a part is away, and which', async () => {
    const checks = [
      { name: 'database', passes: async () => true },
      { name: 'carrier', passes: async () => false },
      { name: 'window_store', passes: () => Promise.reject(new Error('the password is 4711')) },
    ];
    const carriers = () => [
      { name: 'acme', state: 'down', paused: false },
      { name: 'other', state: 'up', paused: true },
    ];
    const metrics = { contentType: 'text/plain', read: createMetrics().text };
    const about = { publicUrl: 'http://here', version: '0', tokenUrl: 'http://here/token', sessionCookie: 'session' };
    const options = { checks, carriers, metrics, ...about, documented: [] };
    const server = await startBareServer({ routes: createOperationsRoutes(options) });
    try {
      const response = await fetch(`http://127.0.0.1:${server.port}/readyz`);
      assert.equal(response.status, 503);
      assert.equal(response.headers.get('retry-after'), '1');
      assert.ok(response.headers.get('x-correlation-id'));
      assert.deepEqual(await response.json(), {
        status: 'not_ready',
        checks: { database: 'ok', carrier: 'away', window_store: 'away' },
        carriers: { acme: 'down', other: 'paused' },
      });
    } finally {
      await server.close();
    }
  });
});

describe('GET /metrics', () => {
  const exposition = /^# HELP heliograph_http_request_seconds /m;

  async function withApp(env: Record<string, string>, run: (url: string) => Promise<void>): Promise<void> {
    const other = await createTestApp({ env, db: app.db, clock: app.clock });
    try {
      await run(other.url);
    } finally {
      await other.close();
    }
  }

  test('200 from this machine', async () => {
    const response = await fetch(`${app.url}/metrics`);
    assert.equal(response.status, 200);
    assert.match(response.headers.get('content-type') ?? '', /^text\/plain\b/);
    assert.match(await response.text(), exposition);
  });

  test('it says that a lone node is one', async () => {
    assert.match(await (await fetch(`${app.url}/metrics`)).text(), /^heliograph_live_nodes 1$/m);
  });

  test('it counts by the pattern of the route, never by what was asked for', async () => {
    await fetch(`${app.url}/somewhere/asked-for`);
    await fetch(`${app.url}/healthz?q=asked-for`);
    const text = await (await fetch(`${app.url}/metrics`)).text();
    assert.match(text, /heliograph_http_request_seconds_count\{method="GET",route="\/healthz",status="200"\} [1-9]/);
    assert.match(text, /heliograph_http_request_seconds_count\{method="ANY",route="unknown",status="404"\} [1-9]/);
    assert.equal(text.includes('asked-for'), false);
  });

  test('with a token: 401 without it or with another, 200 with it', () =>
    withApp({ HELIOGRAPH_METRICS_TOKEN: 'only-prometheus-knows' }, async (url) => {
      const get = (authorization?: string) =>
        fetch(`${url}/metrics`, { headers: authorization === undefined ? {} : { authorization } });
      for (const wrong of [undefined, 'Bearer other', 'Bearer', 'Basic only-prometheus-knows']) {
        const response = await get(wrong);
        assert.equal(response.status, 401, wrong);
        assert.match(response.headers.get('www-authenticate') ?? '', /^Bearer realm=/);
        const body = (await response.json()) as Record<string, unknown>;
        assert.equal(body.code, 'UNAUTHENTICATED');
        assert.equal(body.correlation_id, response.headers.get('x-correlation-id'));
        assert.equal(JSON.stringify(body).includes('only-prometheus-knows'), false);
      }
      const right = await get('Bearer only-prometheus-knows');
      assert.equal(right.status, 200);
      assert.match(await right.text(), exposition);
    }));

  test('404 in production without a token, also from this machine; with one, that token opens it', async () => {
    const env = { HELIOGRAPH_ENV: 'production' };
    await withApp(env, async (url) => {
      for (const headers of [{}, { Authorization: 'Bearer ' }, { Authorization: 'Bearer undefined' }]) {
        assert.equal((await fetch(`${url}/metrics`, { headers })).status, 404);
      }
    });
    await withApp({ ...env, HELIOGRAPH_METRICS_TOKEN: 'only-prometheus-knows' }, async (url) => {
      const headers = { Authorization: 'Bearer only-prometheus-knows' };
      assert.equal((await fetch(`${url}/metrics`, { headers })).status, 200);
      assert.equal((await fetch(`${url}/metrics`)).status, 401);
    });
  });

  test('404, as if it were not there, for a caller from elsewhere behind a proxy we trust', () =>
    withApp({ HELIOGRAPH_TRUSTED_PROXIES: '127.0.0.0/8' }, async (url) => {
      const from = (address: string) => fetch(`${url}/metrics`, { headers: { 'X-Forwarded-For': address } });
      const elsewhere = await from('203.0.113.7');
      const unknown = await fetch(`${url}/nowhere`);
      assert.equal(elsewhere.status, 404);
      const { message, code } = (await elsewhere.json()) as Record<string, unknown>;
      const same = (await unknown.json()) as Record<string, unknown>;
      assert.deepEqual({ message, code }, { message: same.message, code: same.code });
      // What the proxy itself saw stands last; what its caller claims to have been stands before it.
      assert.equal((await from('127.0.0.1, 203.0.113.7')).status, 404);
      assert.equal((await from('::1')).status, 200);
      for (const nonsense of ['', 'unknown', 'localhost', '127.1', '[::1]:80', '203.0.113.7:80', 'x'.repeat(8000)]) {
        const response = await from(`${nonsense}, 203.0.113.7`);
        assert.equal(response.status, 404, nonsense);
        assert.ok((await from(nonsense)).status < 500, nonsense);
      }
    }));

  test('X-Forwarded-For of anybody else is not believed', async () => {
    const response = await fetch(`${app.url}/metrics`, { headers: { 'X-Forwarded-For': '203.0.113.7' } });
    assert.equal(response.status, 200);
    await response.body?.cancel();
  });
});

test('GET /openapi.json: the document, as JSON; test/openapi reads it', async () => {
  const response = await fetch(`${app.url}/openapi.json`);
  assert.equal(response.status, 200);
  assert.match(response.headers.get('content-type') ?? '', /^application\/json\b/);
  assert.match(((await response.json()) as { openapi: string }).openapi, /^3\.1\./);
});

describe('security headers', () => {
  test('on JSON, on errors and on pages', async () => {
    for (const path of ['/healthz', '/nowhere', '/%ff', '/docs', '/metrics', '/']) {
      const { headers, body } = await fetch(app.url + path, { redirect: 'manual' });
      assert.equal(headers.get('x-content-type-options'), 'nosniff', path);
      assert.equal(headers.get('referrer-policy'), 'no-referrer', path);
      assert.equal(headers.get('cross-origin-resource-policy'), 'same-origin', path);
      assert.match(headers.get('content-security-policy') ?? '', /frame-ancestors 'none'/, path);
      assert.match(headers.get('cache-control') ?? '', ['/docs', '/'].includes(path) ? /no-cache/ : /no-store/, path);
      assert.equal(headers.get('strict-transport-security'), null, 'not over http');
      assert.equal(headers.get('server') ?? headers.get('x-powered-by'), null, path);
      await body?.cancel();
    }
  });

  test('behind https, a header makes browsers stay there', async () => {
    const secure = await createTestApp({ env: { HELIOGRAPH_PUBLIC_URL: 'https://heliograph.example' }, db: app.db });
    try {
      const { headers, body } = await fetch(`${secure.url}/healthz`);
      assert.match(headers.get('strict-transport-security') ?? '', /^max-age=\d{8}/);
      await body?.cancel();
    } finally {
      await secure.close();
    }
  });
});
