// run: on both lanes, on web processes
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { Type } from 'typebox';
import { type Route, route } from '../../src/http/route.ts';
import { unavailable } from '../../src/platform/errors.ts';
import { type RawAnswer, sayRaw } from '../socket/raw-connection.ts';
import { createTestApp, type TestApp } from '../support/app.ts';

let app: TestApp;

const common = { auth: { kind: 'none' }, tag: 'Test', summary: 'For tests', answers: {} } as const;
const thing = Type.Object({
  name: Type.String({ minLength: 1, maxLength: 10 }),
  count: Type.Integer({ minimum: 1, maximum: 10 }),
  place: Type.Optional(Type.Object({ city: Type.String() })),
});

function failing(path: string, fail: () => unknown): Route {
  return route({ ...common, method: 'GET', path, handler: () => Promise.reject(fail()) });
}

const extraRoutes: Route[] = [
  route({ ...common, method: 'GET', path: '/test/things', handler: () => ({ status: 200, body: { data: [] } }) }),
  route({
    ...common,
    method: 'POST',
    path: '/test/things',
    body: thing,
    handler: ({ body }) => ({ status: 201, body: { name: body.name, keys: Object.keys(body) } }),
  }),
  route({
    ...common,
    method: 'GET',
    path: '/test/search',
    query: Type.Object({ limit: Type.Integer({ minimum: 1, maximum: 100, default: 20 }) }),
    handler: ({ query }) => ({ status: 200, body: { limit: query.limit } }),
  }),
  route({ ...common, method: 'DELETE', path: '/test/things/{id}', handler: () => ({ status: 204 }) }),
  route({
    ...common,
    method: 'POST',
    path: '/test/form',
    consumes: 'form',
    handler: ({ body }) => ({ status: 200, body: { a: (body as URLSearchParams).get('a') } }),
  }),
  route({
    ...common,
    method: 'GET',
    path: '/test/database',
    handler: async () => {
      await app.db.database.query('select $1::int', ['to +447700900123']);
      return { status: 200 };
    },
  }),
  route({
    ...common,
    method: 'GET',
    path: '/test/unserialisable',
    answers: { 200: { description: 'Never', schema: Type.Object({ name: Type.String() }) } },
    handler: () => ({ status: 200, body: {}, cookie: 'signed=in' }),
  }),
  route({
    ...common,
    method: 'GET',
    path: '/test/header',
    handler: () => ({ status: 302, location: '/\r\nX-Smuggled: yes' }),
  }),
  failing('/test/error', () => new Error('the handle of the vault is 4711')),
  failing('/test/nothing', () => undefined),
  failing('/test/text', () => 'the handle of the vault is 4711'),
  failing('/test/lost', () => Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' })),
  failing('/test/away', () => unavailable('The carrier is away.', 7)),
  {
    ...failing('/test/own-refusal', () => unavailable('The carrier is away.')),
    answers: { 503: { description: 'Its own shape', schema: Type.Object({ checks: Type.String() }) } },
  },
];

before(async () => {
  app = await createTestApp({ extraRoutes });
});
after(() => app.close());

const seen = new Set<string>();

interface ErrorBody {
  message: string;
  code: string;
  correlation_id: string;
  details: { field: string; message: string }[];
}

interface SendOptions {
  json?: string;
  body?: string | Uint8Array<ArrayBuffer> | URLSearchParams;
  headers?: Record<string, string>;
}

/** Sends what a client would; `json` as it is written, `body` byte for byte. */
function send(method: string, path: string, options: SendOptions = {}) {
  const headers = new Headers(options.headers);
  if (options.json !== undefined) headers.set('Content-Type', 'application/json');
  const body = options.json ?? options.body;
  return fetch(app.url + path, { method, headers, redirect: 'manual', ...(body !== undefined && { body }) });
}

/** What every error has in common. */
function checkError(status: number, contentType: string | null, id: string | null, text: string): ErrorBody {
  assert.match(contentType ?? '', /^application\/json\b/);
  assert.match(id ?? '', /^req_[0-9a-z]{26}$/);
  assert.equal(seen.has(id ?? ''), false, 'a correlation id is used once');
  seen.add(id ?? '');
  const body = JSON.parse(text) as ErrorBody;
  assert.deepEqual(Object.keys(body), ['message', 'code', 'correlation_id', 'details'], `status ${status}`);
  assert.equal(body.correlation_id, id);
  return body;
}

async function assertError(response: Response, status: number, code: string): Promise<ErrorBody> {
  assert.equal(response.status, status);
  const { headers } = response;
  const body = checkError(status, headers.get('content-type'), headers.get('x-correlation-id'), await response.text());
  assert.equal(body.code, code);
  assert.equal(headers.get('link'), `<${app.config.publicUrl}/docs/errors/${code}>; rel="help"`);
  return body;
}

function assertRawError(answer: RawAnswer | undefined, status: number, code: string): ErrorBody {
  assert.equal(answer?.status, status);
  const { headers } = answer;
  const body = checkError(status, headers['content-type'] ?? '', headers['x-correlation-id'] ?? '', answer.body);
  assert.equal(body.code, code);
  assert.match(headers.link ?? '', new RegExp(`/docs/errors/${code}>; rel="help"$`));
  return body;
}

function logLinesOf(correlationId: string): Record<string, unknown>[] {
  return app.logLines
    .map((line) => JSON.parse(line) as Record<string, unknown>)
    .filter((line) => line.correlation_id === correlationId);
}

describe('400 INVALID_ARGUMENT', () => {
  test('every bad field is listed in details', async () => {
    const json = '{"name":"","count":11,"place":{"city":7}}';
    const body = await assertError(await send('POST', '/test/things', { json }), 400, 'INVALID_ARGUMENT');
    assert.deepEqual(body.details, [
      { field: 'name', message: 'must not be empty' },
      { field: 'count', message: 'must be 10 or less' },
      { field: 'place.city', message: 'must be a string' },
    ]);
    assert.equal(body.message, 'name must not be empty; count must be 10 or less; place.city must be a string');
  });

  test('a number is not a string, nor a string a number', async () => {
    const json = '{"name":1,"count":"1"}';
    const { details } = await assertError(await send('POST', '/test/things', { json }), 400, 'INVALID_ARGUMENT');
    assert.deepEqual(
      details.map(({ field }) => field),
      ['name', 'count'],
    );
  });

  test('every missing field is listed', async () => {
    const response = await send('POST', '/test/things', { json: '{}' });
    const { details } = await assertError(response, 400, 'INVALID_ARGUMENT');
    assert.deepEqual(details, [
      { field: 'name', message: 'is required' },
      { field: 'count', message: 'is required' },
    ]);
  });

  test('a body that is missing, empty, or no object', async () => {
    const missing = { field: 'body', message: 'is required: send a JSON object' };
    const without = await assertError(await send('POST', '/test/things'), 400, 'INVALID_ARGUMENT');
    assert.deepEqual(without.details, [missing]);
    const empty = await assertError(await send('POST', '/test/things', { json: '' }), 400, 'INVALID_ARGUMENT');
    assert.deepEqual(empty.details, [missing]);
    for (const json of ['[]', '"text"', '1', 'true']) {
      const { details } = await assertError(await send('POST', '/test/things', { json }), 400, 'INVALID_ARGUMENT');
      assert.deepEqual(details, [{ field: 'body', message: 'must be an object' }]);
    }
  });

  test('unknown properties are ignored, __proto__ among them', async () => {
    const json = '{"name":"a","count":1,"color":"red","__proto__":{"name":7},"constructor":{"prototype":{"x":1}}}';
    const response = await send('POST', '/test/things', { json });
    assert.equal(response.status, 201);
    assert.equal(((await response.json()) as { name: string }).name, 'a');
    assert.equal(({} as Record<string, unknown>).x, undefined);
    const inherited = await send('POST', '/test/things', { json: '{"__proto__":{"name":"a","count":1}}' });
    const { details } = await assertError(inherited, 400, 'INVALID_ARGUMENT');
    assert.equal(details.length, 2, 'nothing is inherited from what was sent');
  });

  test('in the query text is read as a number, and refused when it is none or sent twice', async () => {
    assert.deepEqual(await (await send('GET', '/test/search?limit=7')).json(), { limit: 7 });
    assert.deepEqual(await (await send('GET', '/test/search')).json(), { limit: 20 });
    for (const query of ['limit=', 'limit=x', 'limit=0', 'limit=101', 'limit=1.5', 'limit=1&limit=2', 'limit=%zz']) {
      const { details } = await assertError(await send('GET', `/test/search?${query}`), 400, 'INVALID_ARGUMENT');
      assert.equal(details[0]?.field, 'limit', query);
    }
  });

  test('duplicate Host, Content-Type or Idempotency-Key', async () => {
    const json = '{"name":"a","count":1}';
    const request = `POST /test/things HTTP/1.1\r\nHost: here\r\nContent-Type: application/json\r\nIdempotency-Key: one\r\nContent-Length: ${json.length}\r\nConnection: close\r\n`;
    for (const [field, header] of Object.entries({
      host: 'hOST: here',
      'content-type': 'Content-type: application/json',
      'idempotency-key': 'IDEMPOTENCY-KEY: two',
    })) {
      const [answer] = await sayRaw(app.port, `${request}${header}\r\n\r\n${json}`);
      const { details } = assertRawError(answer, 400, 'INVALID_ARGUMENT');
      assert.deepEqual(details, [{ field, message: 'must be sent once' }]);
    }
    assert.equal((await sayRaw(app.port, `${request}\r\n${json}`))[0]?.status, 201);
  });

  test('a request without Host gets 400', async () => {
    const [answer] = await sayRaw(app.port, 'GET /test/things HTTP/1.1\r\nConnection: close\r\n\r\n');
    const { details } = assertRawError(answer, 400, 'INVALID_ARGUMENT');
    assert.deepEqual(details, [{ field: 'host', message: 'is required' }]);
  });
});

describe('400 MALFORMED_JSON', () => {
  const malformed: Record<string, string | Buffer> = {
    truncated: '{"name":"a"',
    'white space alone': ' ',
    'a trailing comma': '{"name":"a",}',
    'two values': '{}{}',
    'single quotes': "{'name':'a'}",
    NaN: '{"count":NaN}',
    'a control character in a string': '{"name":"a\nb"}',
    'a byte order mark': '\ufeff{"name":"a","count":1}',
    'bytes that are not UTF-8': Buffer.from('{"name":"\xff","count":1}', 'latin1'),
    'an overlong encoding': Buffer.from('{"name":"\xc0\xaf","count":1}', 'latin1'),
    'a surrogate in UTF-8': Buffer.from('{"name":"\xed\xa0\x80","count":1}', 'latin1'),
    'UTF-16': Buffer.from('{"name":"a","count":1}', 'utf16le'),
    'arrays opened 60,000 times': '['.repeat(60_000),
  };
  for (const [name, body] of Object.entries(malformed)) {
    test(name, async () => {
      const headers = { 'Content-Type': 'application/json' };
      const error = await assertError(
        await send('POST', '/test/things', { body: Uint8Array.from(Buffer.from(body)), headers }),
        400,
        'MALFORMED_JSON',
      );
      assert.deepEqual(error.details, []);
    });
  }

  test('arrays opened and closed 30,000 times are JSON, but no object', async () => {
    const json = '['.repeat(30_000) + ']'.repeat(30_000);
    await assertError(await send('POST', '/test/things', { json }), 400, 'INVALID_ARGUMENT');
  });
});

describe('404 NOT_FOUND', () => {
  test('an unknown path, whatever is sent there', async () => {
    for (const path of ['/nowhere', '/test', '/test/things/', '//test/things', '/TEST/things', '/test/things/a/b']) {
      await assertError(await send('GET', path), 404, 'NOT_FOUND');
    }
    await assertError(await send('POST', '/nowhere', { json: '{' }), 404, 'NOT_FOUND');
    await assertError(await send('POST', '/nowhere', { body: 'text' }), 404, 'NOT_FOUND');
    await assertError(await send('POST', '/nowhere', { json: `"${'x'.repeat(100_000)}"` }), 404, 'NOT_FOUND');
  });
});

describe('405 METHOD_NOT_ALLOWED', () => {
  test('Allow names the methods that work', async () => {
    const response = await send('DELETE', '/test/things', { json: '{' });
    await assertError(response, 405, 'METHOD_NOT_ALLOWED');
    assert.equal(response.headers.get('allow'), 'GET, HEAD, POST');
    const one = await send('GET', '/test/things/x');
    await assertError(one, 405, 'METHOD_NOT_ALLOWED');
    assert.equal(one.headers.get('allow'), 'DELETE');
  });

  test('unknown methods get 405 as well', async () => {
    for (const method of ['PROPFIND', 'PUT', 'OPTIONS', 'PATCH', 'PURGE']) {
      const response = await send(method, '/test/things');
      await assertError(response, 405, 'METHOD_NOT_ALLOWED');
      assert.equal(response.headers.get('allow'), 'GET, HEAD, POST');
    }
  });

  test('HEAD works where GET does, and is empty also when it fails', async () => {
    const ok = await send('HEAD', '/test/things');
    assert.equal(ok.status, 200);
    assert.equal(await ok.text(), '');
    assert.ok(ok.headers.get('x-correlation-id'));
    const [wrong] = await sayRaw(app.port, 'HEAD /test/form HTTP/1.0\r\n\r\n');
    assert.equal(wrong?.status, 405);
    assert.equal(wrong.headers.allow, 'POST');
    assert.equal(wrong.body, '');
  });
});

describe('413 PAYLOAD_TOO_LARGE', () => {
  const head = '{"count":1,"name":"a","rest":"';
  const exactly = `${head}${'x'.repeat(64 * 1024 - head.length - 2)}"}`;

  test('64 KiB exactly is fine, one byte more is not', async () => {
    assert.equal(exactly.length, 64 * 1024);
    assert.equal((await send('POST', '/test/things', { json: exactly })).status, 201);
    await assertError(await send('POST', '/test/things', { json: `${exactly} ` }), 413, 'PAYLOAD_TOO_LARGE');
  });

  test('a body over the limit without an announced length is refused', async () => {
    const chunked = (body: string) =>
      sayRaw(
        app.port,
        `POST /test/things HTTP/1.1\r\nHost: here\r\nContent-Type: application/json\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`,
      );
    assert.equal((await chunked(exactly))[0]?.status, 201);
    assertRawError((await chunked(`${exactly} `))[0], 413, 'PAYLOAD_TOO_LARGE');
  });

  test('a body over the limit is refused before its type and fields are checked', async () => {
    await assertError(await send('POST', '/test/things', { body: 'x'.repeat(65_537) }), 413, 'PAYLOAD_TOO_LARGE');
  });
});

describe('415 UNSUPPORTED_MEDIA_TYPE', () => {
  const body = '{"name":"a","count":1}';

  test('the media type must be application/json', async () => {
    const wrong = ['text/plain', 'application/jsonx', 'application/json, text/plain', 'application/vnd.api+json'];
    for (const type of [...wrong, 'application/x-www-form-urlencoded', 'json', ';', 'application/']) {
      const response = await send('POST', '/test/things', { body, headers: { 'Content-Type': type } });
      const { message } = await assertError(response, 415, 'UNSUPPORTED_MEDIA_TYPE');
      assert.equal(message, 'Content-Type must be application/json.');
    }
  });

  test('a body without a type', async () => {
    const bytes = Uint8Array.from(Buffer.from(body));
    await assertError(await send('POST', '/test/things', { body: bytes }), 415, 'UNSUPPORTED_MEDIA_TYPE');
  });

  test('parameters are fine, and so are capital letters', async () => {
    const right = ['application/json; charset=utf-8', 'Application/JSON;charset="utf-8"', 'application/json ; x=y; z'];
    for (const type of right) {
      const response = await send('POST', '/test/things', { body, headers: { 'Content-Type': type } });
      assert.equal(response.status, 201, type);
    }
  });

  test('an encoded body gets 415', async () => {
    for (const encoding of ['gzip', 'br', 'identity, gzip']) {
      const response = await send('POST', '/test/things', { json: body, headers: { 'Content-Encoding': encoding } });
      await assertError(response, 415, 'UNSUPPORTED_MEDIA_TYPE');
    }
    const plain = await send('POST', '/test/things', { json: body, headers: { 'Content-Encoding': 'Identity' } });
    assert.equal(plain.status, 201);
  });

  test('the form type where a form is read, and only there', async () => {
    const form = await send('POST', '/test/form', { body: new URLSearchParams({ a: 'b' }) });
    assert.deepEqual(await form.json(), { a: 'b' });
    const nothing = await send('POST', '/test/form');
    assert.deepEqual(await nothing.json(), { a: null });
    const { message } = await assertError(
      await send('POST', '/test/form', { json: '{}' }),
      415,
      'UNSUPPORTED_MEDIA_TYPE',
    );
    assert.match(message, /application\/x-www-form-urlencoded/);
  });
});

describe('500 INTERNAL', () => {
  const sentence = 'The service failed on this request. Quote the correlation id when you report it.';

  test('whatever was thrown, the caller reads one sentence and the log has the rest', async () => {
    for (const path of ['error', 'nothing', 'text', 'lost', 'unserialisable', 'database']) {
      const body = await assertError(await send('GET', `/test/${path}`), 500, 'INTERNAL');
      assert.equal(body.message, sentence, path);
      assert.deepEqual(body.details, []);
      const told = logLinesOf(body.correlation_id);
      assert.ok(
        told.some(({ msg }) => msg === 'unexpected error'),
        path,
      );
      assert.ok(
        told.some(({ route: pattern, status }) => pattern === `/test/${path}` && status === 500),
        path,
      );
    }
  });

  test('the log has the code of a database error and never what it quotes', async () => {
    const { correlation_id } = await assertError(await send('GET', '/test/database'), 500, 'INTERNAL');
    const text = JSON.stringify(logLinesOf(correlation_id));
    assert.match(text, /database error 22P02/);
    assert.equal(text.includes('447700900123'), false);
    assert.match(text, /errors\.test\./, 'it says where');
  });

  test('nothing of the answer that failed is in it', async () => {
    const response = await send('GET', '/test/unserialisable');
    await assertError(response, 500, 'INTERNAL');
    assert.equal(response.headers.get('set-cookie'), null);
  });

  test('a header that must not be sent is not sent', async () => {
    const response = await send('GET', '/test/header');
    await assertError(response, 500, 'INTERNAL');
    assert.equal(response.headers.get('x-smuggled'), null);
    assert.equal(response.headers.get('location'), null);
  });
});

describe('503 UNAVAILABLE', () => {
  test('Retry-After says when to come back', async () => {
    const response = await send('GET', '/test/away');
    const { message } = await assertError(response, 503, 'UNAVAILABLE');
    assert.equal(message, 'The carrier is away.');
    assert.equal(response.headers.get('retry-after'), '7');
  });

  test('a refusal is written the same where a route has a shape of its own for that status', async () => {
    await assertError(await send('GET', '/test/own-refusal'), 503, 'UNAVAILABLE');
  });
});

describe('X-Correlation-ID', () => {
  test("a caller's own value is never the id; a well-formed one is logged beside ours", async () => {
    for (const given of ['mine', 'A-b_c.9', 'x'.repeat(128), 'req_00000000000000000000000000']) {
      const response = await send('GET', '/nowhere', { headers: { 'X-Correlation-ID': given } });
      const { correlation_id } = await assertError(response, 404, 'NOT_FOUND');
      assert.notEqual(correlation_id, given);
      assert.equal(logLinesOf(correlation_id)[0]?.caller_correlation_id, given);
    }
  });

  test('one that is not well-formed is not logged', async () => {
    for (const given of ['', 'a b', 'a,b', '"quoted"', 'x'.repeat(129), 'ümlaut', '$(id)', '<b>']) {
      const response = await send('GET', '/nowhere', { headers: { 'X-Correlation-ID': given } });
      const { correlation_id } = await assertError(response, 404, 'NOT_FOUND');
      assert.equal('caller_correlation_id' in (logLinesOf(correlation_id)[0] ?? {}), false);
    }
    const twice = 'GET /nowhere HTTP/1.1\r\nHost: here\r\nConnection: close\r\nX-Correlation-ID: a\r\n';
    const [answer] = await sayRaw(app.port, `${twice}X-Correlation-ID: b\r\n\r\n`);
    const { correlation_id } = assertRawError(answer, 404, 'NOT_FOUND');
    assert.equal('caller_correlation_id' in (logLinesOf(correlation_id)[0] ?? {}), false);
  });
});

test('log lines hold nothing that was sent: no header, no query, no body, no path beyond its pattern', async () => {
  const secret = 'tell-nobody-4711';
  const headers = { Authorization: `Bearer ${secret}`, apikey: secret, Cookie: `a=${secret}`, 'User-Agent': secret };
  const json = `{"name":"${secret}","count":"${secret}","${secret}":1}`;
  await send('POST', `/test/things?q=${secret}`, { json, headers });
  await send('POST', '/test/things', { json: `{${secret}`, headers });
  await send('DELETE', `/test/things/${secret}?q=${secret}`, { headers });
  await send('GET', `/${secret}/%ff?q=${secret}`, { headers });
  await send('GET', `/${secret}`, { headers });
  await sayRaw(app.port, `${secret} / HTTP/1.1\r\n${secret}: ${secret}\r\n\r\n`);
  await sayRaw(app.port, `GET /${secret} HTTP/1.1\r\nHost: ${secret}\r\nContent-Length: ${secret}\r\n\r\n`);
  assert.equal(app.logLines.join('').includes(secret), false);
});
