// run: on both lanes
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { Validator } from '@seriousme/openapi-schema-validator';
import buildSerializer from 'fast-json-stringify';
import { createOperationsRoutes } from '../../src/http/operations-api.ts';
import { compileValidator } from '../../src/http/request/validation.ts';
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

describe('GET /openapi.json', () => {
  interface Document {
    openapi: string;
    paths: Record<string, Record<string, { operationId: string; responses: Record<string, unknown> }>>;
  }

  async function readDocument(): Promise<Document> {
    const response = await fetch(`${app.url}/openapi.json`);
    assert.equal(response.status, 200);
    assert.match(response.headers.get('content-type') ?? '', /^application\/json\b/);
    return (await response.json()) as Document;
  }

  test('is valid OpenAPI 3.1', async () => {
    const document = await readDocument();
    assert.match(document.openapi, /^3\.1\./);
    const result = await new Validator().validate({ ...document });
    assert.deepEqual(result.errors, undefined);
    assert.equal(result.valid, true);
  });

  test('promises what is built: each operation it names is one that answers, under a name of its own', async () => {
    const { paths } = await readDocument();
    const operations = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { operationId }]) => ({ path, method, operationId })),
    );
    assert.ok(operations.some(({ path }) => path === '/healthz'));
    assert.equal(new Set(operations.map(({ operationId }) => operationId)).size, operations.length);
    for (const { path, method } of operations) {
      const response = await fetch(app.url + path.replaceAll(/\{\w+\}/g, 'x'), {
        method: method.toUpperCase(),
        redirect: 'manual',
      });
      assert.notEqual(response.status, 405, `${method} ${path}`);
      assert.ok(response.status < 500, `${method} ${path}`);
      assert.ok(response.headers.get('x-correlation-id'), `${method} ${path}`);
      await response.body?.cancel();
    }
  });

  test('has exactly the routes that are mounted', async () => {
    const { paths } = await readDocument();
    const documented = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    const mounted = app.app.routes.map(({ method, path }) => `${method} ${path}`);
    assert.deepEqual(new Set(documented), new Set(mounted));
    assert.equal(documented.length, mounted.length);
  });

  test('every parameter in a path is described', async () => {
    const { paths } = await readDocument();
    for (const [path, methods] of Object.entries(paths)) {
      const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      for (const [method, operation] of Object.entries(methods)) {
        const { parameters = [] } = operation as { parameters?: { name: string; in: string }[] };
        const described = parameters.filter((each) => each.in === 'path').map(({ name }) => name);
        assert.deepEqual(new Set(described), new Set(named), `${method} ${path}`);
      }
    }
  });
});

test('every schema of every route compiles: a running service compiles one when its first request needs it', () => {
  for (const { params, query, body, answers, consumes = 'json' } of app.app.routes) {
    const read = consumes === 'json' ? [params, query, body] : [params, query];
    for (const schema of read) if (schema !== undefined) compileValidator(schema);
    for (const { schema, type } of Object.values(answers)) {
      if (schema !== undefined && type === undefined) buildSerializer(schema);
    }
  }
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
