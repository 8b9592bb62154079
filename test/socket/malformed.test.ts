import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import { type BareServer, gatewayHeaders, startBareServer } from './bare-server.ts';
import { openRaw, type RawAnswer, sayRaw } from './raw-connection.ts';
import { createSocketRoutes, type SocketRoutes } from './routes.ts';

let server: BareServer;
let routes: SocketRoutes;
before(async () => {
  routes = createSocketRoutes();
  const timeouts = { headersMs: 300, requestMs: 500, keepAliveMs: 100, checkMs: 25 };
  server = await startBareServer({ routes: routes.routes, timeouts });
});
after(() => server.close());
afterEach(async () => {
  const connection = openRaw(server.port);
  connection.send('GET /ok HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n');
  assert.equal((await connection.answer()).status, 200, 'it is well afterwards');
  routes.handled.length = 0;
});

const get = 'GET /ok HTTP/1.1\r\nHost: here\r\n';
const post = 'POST /echo HTTP/1.1\r\nHost: here\r\nContent-Type: application/json\r\n';
const seen = new Set<string>();

/** What every answer carries, whatever it answers. */
function assertCarriesHeaders(answer: RawAnswer): string {
  const id = answer.headers['x-correlation-id'] ?? '';
  assert.match(id, /^req_[0-9a-z]{26}$/);
  assert.equal(seen.has(id), false, 'a correlation id is used once');
  seen.add(id);
  for (const [name, value] of Object.entries(gatewayHeaders)) assert.equal(answer.headers[name.toLowerCase()], value);
  assert.equal(answer.headers['x-content-type-options'], 'nosniff');
  return id;
}

function assertRefused(answer: RawAnswer | undefined, status: number, code: string): void {
  assert.ok(answer, 'it is answered');
  const id = assertCarriesHeaders(answer);
  assert.equal(answer.status, status);
  assert.match(answer.headers['content-type'] ?? '', /^application\/json\b/);
  const body = JSON.parse(answer.body) as Record<string, unknown>;
  assert.deepEqual(Object.keys(body), ['message', 'code', 'correlation_id', 'details']);
  assert.equal(body.code, code);
  assert.equal(body.correlation_id, id);
}

describe('400: what is not HTTP is refused, and its connection ends', () => {
  const unreadable: Record<string, string> = {
    garbage: 'garbage\r\n\r\n',
    'nothing but line ends and garbage': '\r\n\r\n\r\ngarbage\r\n\r\n',
    'a TLS handshake': '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
    'the preface of HTTP/2': 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
    'HTTP/1.2': 'GET /ok HTTP/1.2\r\nHost: here\r\n\r\n',
    'HTTP/3.7': 'GET /ok HTTP/3.7\r\nHost: here\r\n\r\n',
    'a method of our own': 'FETCH /ok HTTP/1.1\r\nHost: here\r\n\r\n',
    'a method in small letters': 'get /ok HTTP/1.1\r\nHost: here\r\n\r\n',
    'a space in a header name': `${get}X Y: z\r\n\r\n`,
    'a space before the colon': `${get}X : z\r\n\r\n`,
    'a header without a colon': `${get}X\r\n\r\n`,
    'a header without a name': `${get}: z\r\n\r\n`,
    'a NUL in a header': `${get}X: a\0b\r\n\r\n`,
    'a bare CR in a header': `${get}X: a\rY: b\r\n\r\n`,
    'bare LF at every line end': 'GET /ok HTTP/1.1\nHost: here\n\n',
    'bare LF at one line end': 'GET /ok HTTP/1.1\r\nHost: here\nX: y\r\n\r\n',
    'a folded header': `${get}X: a\r\n b\r\n\r\n`,
    'Content-Length and Transfer-Encoding': `${post}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    'Transfer-Encoding and Content-Length': `${post}Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n`,
    'two lengths that differ': `${post}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{} `,
    'two lengths that agree': `${post}Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}`,
    'a list of lengths': `${post}Content-Length: 2, 2\r\n\r\n{}`,
    'a length that is a word': `${post}Content-Length: two\r\n\r\n{}`,
    'a negative length': `${post}Content-Length: -2\r\n\r\n{}`,
    'a length with a plus': `${post}Content-Length: +2\r\n\r\n{}`,
    'a length beyond all numbers': `${post}Content-Length: 99999999999999999999999\r\n\r\n{}`,
    'chunked twice': `${post}Transfer-Encoding: chunked, chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`,
    'a vertical tab before chunked': `${post}Transfer-Encoding:\x0bchunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`,
    'a chunk size that is a word': `${post}Transfer-Encoding: chunked\r\n\r\ntwo\r\n{}\r\n0\r\n\r\n`,
    'a chunk size beyond all numbers': `${post}Transfer-Encoding: chunked\r\n\r\nffffffffffffffffffff\r\n{}`,
    'a chunk longer than it says': `${post}Transfer-Encoding: chunked\r\n\r\n2\r\n{}{}\r\n0\r\n\r\n`,
    'a chunk that ends in a bare LF': `${post}Transfer-Encoding: chunked\r\n\r\n2\n{}\r\n0\r\n\r\n`,
    'a length among the trailers': `${post}Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\nContent-Length: 2\r\n\r\n`,
  };
  for (const [name, bytes] of Object.entries(unreadable)) {
    test(name, async () => {
      const answers = await sayRaw(server.port, Buffer.from(bytes, 'latin1'));
      assert.equal(answers.length, 1);
      assertRefused(answers[0], 400, 'INVALID_ARGUMENT');
      assert.equal(answers[0]?.headers.connection, 'close');
      assert.deepEqual(routes.handled, [], 'no handler was reached');
    });
  }

  test('garbage in many pieces is answered once and logged once', async () => {
    const connection = openRaw(server.port);
    const before = server.logLines.length;
    connection.send('garbage\r\n');
    const answer = await connection.answer();
    for (let i = 0; i < 5; i++) connection.send('more of it\r\n');
    assert.deepEqual(await connection.untilClosed(), []);
    assertRefused(answer, 400, 'INVALID_ARGUMENT');
    assert.equal(server.logLines.slice(before).filter((line) => line.includes('unreadable request')).length, 1);
  });

  test('HTTP/0.9 gets 400', async () => {
    const answers = await sayRaw(server.port, 'GET /ok\r\n\r\n');
    assert.equal(answers.length, 1);
    assertRefused(answers[0], 400, 'INVALID_ARGUMENT');
    assert.deepEqual(routes.handled, []);
  });
});

describe('431: more headers than 16 KiB or a thousand', () => {
  for (const [name, bytes] of Object.entries({
    'one long header': `${get}X: ${'y'.repeat(17_000)}\r\n\r\n`,
    'many headers': `${get}${'X: some value\r\n'.repeat(2_000)}\r\n`,
    'a long path': `GET /${'y'.repeat(17_000)} HTTP/1.1\r\nHost: here\r\n\r\n`,
    'a header of half a megabyte, all of it sent before the answer is read': `${get}X: ${'y'.repeat(500_000)}\r\n\r\n`,
  })) {
    test(name, async () => {
      const answers = await sayRaw(server.port, bytes);
      assert.equal(answers.length, 1);
      assertRefused(answers[0], 431, 'HEADERS_TOO_LARGE');
    });
  }

  test('more headers than are read, however short', async () => {
    const many = 'X: y\r\n'.repeat(1100);
    const answers = await sayRaw(server.port, `${get}Connection: close\r\n${many}Host: there\r\n\r\n`);
    assertRefused(answers[0], 431, 'HEADERS_TOO_LARGE');
    assert.deepEqual(routes.handled, []);
  });

  test('16,000 bytes of headers are fine', async () => {
    const answers = await sayRaw(server.port, `${get}Connection: close\r\nX: ${'y'.repeat(15_900)}\r\n\r\n`);
    assert.equal(answers[0]?.status, 200);
  });
});

describe('a body that goes wrong on its way', () => {
  test('400: a bad chunk behind good ones, with the id the request already had', async () => {
    const connection = openRaw(server.port);
    const before = server.logLines.length;
    connection.send(`${post}Transfer-Encoding: chunked\r\n\r\n8\r\n{"text":\r\n`);
    connection.send('zz\r\n');
    const answers = await connection.untilClosed();
    assert.equal(answers.length, 1);
    assertRefused(answers[0], 400, 'INVALID_ARGUMENT');
    assert.deepEqual(routes.handled, []);
    const lines = server.logLines.slice(before).map((line) => JSON.parse(line) as Record<string, unknown>);
    assert.equal(lines.length, 1);
    assert.equal(lines[0]?.route, '/echo');
    assert.equal(lines[0]?.correlation_id, answers[0]?.headers['x-correlation-id']);
  });

  test('413: chunk extensions without end', async () => {
    const answers = await sayRaw(server.port, `${post}Transfer-Encoding: chunked\r\n\r\n2;${'x'.repeat(20_000)}\r\n`);
    assert.equal(answers.length, 1);
    assertRefused(answers[0], 413, 'PAYLOAD_TOO_LARGE');
  });

  test('415: a transfer coding other than chunked', async () => {
    const bytes = `${post}Connection: close\r\nTransfer-Encoding: gzip, chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`;
    const answers = await sayRaw(server.port, bytes);
    assertRefused(answers[0], 415, 'UNSUPPORTED_MEDIA_TYPE');
  });

  test('400: the caller ends its half of the connection in the middle', async () => {
    const connection = openRaw(server.port);
    connection.socket.end(`${post}Content-Length: 12\r\n\r\n{"te`);
    const answers = await connection.untilClosed();
    assert.equal(answers.length, 1);
    assertRefused(answers[0], 400, 'INVALID_ARGUMENT');
  });

  test('a request that was refused before its body went wrong gets no second answer', async () => {
    const connection = openRaw(server.port);
    connection.send('POST /nowhere HTTP/1.1\r\nHost: here\r\nTransfer-Encoding: chunked\r\n\r\n');
    assertRefused(await connection.answer(), 404, 'NOT_FOUND');
    connection.send('zz\r\n');
    assert.deepEqual(await connection.untilClosed(), []);
  });
});

describe('unusual, but HTTP', () => {
  test('405: CONNECT', async () => {
    const answers = await sayRaw(server.port, 'CONNECT there:443 HTTP/1.1\r\nHost: there:443\r\n\r\n');
    assert.equal(answers.length, 1);
    assertRefused(answers[0], 405, 'METHOD_NOT_ALLOWED');
    assert.ok(answers[0]?.headers.allow);
  });

  test('405: PROPFIND, and QUERY without a content type', async () => {
    for (const method of ['PROPFIND', 'QUERY', 'OPTIONS', 'TRACE', 'PUT']) {
      const answers = await sayRaw(server.port, `${method} /ok HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n`);
      assertRefused(answers[0], 405, 'METHOD_NOT_ALLOWED');
      assert.equal(answers[0]?.headers.allow, 'GET, HEAD');
    }
  });

  test('405 for every way to write a path of ours', async () => {
    for (const path of ['/ok?a=b', '/ok#a', '/%6fk', 'http://there/ok', 'http://there/ok?a=b', '/things/%2F']) {
      const answers = await sayRaw(server.port, `POST ${path} HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n`);
      assertRefused(answers[0], 405, 'METHOD_NOT_ALLOWED');
    }
  });

  test('Expect with something unknown is ignored', async () => {
    const answers = await sayRaw(server.port, `${get}Expect: tea\r\nConnection: close\r\n\r\n`);
    assert.equal(answers[0]?.status, 200);
  });

  test('Expect: 100-continue gets 100, then the response', async () => {
    const connection = openRaw(server.port);
    connection.send(`${post}Expect: 100-continue\r\nContent-Length: 12\r\n\r\n`);
    assert.equal((await connection.answer()).status, 100);
    connection.send('{"text":"a"}');
    const answer = await connection.answer();
    assert.equal(answer.status, 200);
    assertCarriesHeaders(answer);
    connection.socket.destroy();
  });

  test('Expect: 100-continue with a body that would be refused gets no 100', async () => {
    const tooLarge = await sayRaw(server.port, `${post}Expect: 100-continue\r\nContent-Length: 65537\r\n\r\n`);
    assert.equal(tooLarge.length, 1);
    assertRefused(tooLarge[0], 413, 'PAYLOAD_TOO_LARGE');
    const noJson = 'POST /echo HTTP/1.1\r\nHost: here\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n';
    const wrongType = await sayRaw(server.port, `${noJson}Expect: 100-continue\r\n\r\n`);
    assert.equal(wrongType.length, 1);
    assertRefused(wrongType[0], 415, 'UNSUPPORTED_MEDIA_TYPE');
  });

  test('Upgrade is answered as if it had not been asked for', async () => {
    for (const protocol of ['websocket', 'h2c']) {
      const headers = `Connection: Upgrade, close\r\nUpgrade: ${protocol}\r\n`;
      assert.equal((await sayRaw(server.port, `${get}${headers}\r\n`))[0]?.status, 200);
      const answers = await sayRaw(server.port, `${post}${headers}Content-Length: 12\r\n\r\n{"text":"a"}`);
      assert.equal(answers.length, 1);
      assert.equal(answers[0]?.body, '{"text":"a"}');
    }
  });

  test('HTTP/1.0 without Host is answered and closed', async () => {
    const answers = await sayRaw(server.port, 'GET /ok HTTP/1.0\r\n\r\n');
    assert.equal(answers.length, 1);
    assert.equal(answers[0]?.status, 200);
    assertCarriesHeaders(answers[0]);
  });

  test('400: HTTP/1.1 without Host', async () => {
    assertRefused(
      (await sayRaw(server.port, 'GET /ok HTTP/1.1\r\nConnection: close\r\n\r\n'))[0],
      400,
      'INVALID_ARGUMENT',
    );
  });

  test('400: a path that cannot be decoded', async () => {
    for (const path of ['/%', '/%zz', '/%ff', '/things/%e0%a4', '/%C0%AF']) {
      const answers = await sayRaw(server.port, `GET ${path} HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n`);
      assertRefused(answers[0], 400, 'INVALID_ARGUMENT');
      assert.equal(answers[0]?.body.includes('%'), false, 'it is not repeated');
    }
  });

  test('400: a path that cannot be decoded, with a body that cannot be read', async () => {
    const head = 'POST /%ff HTTP/1.1\r\nHost: here\r\nTransfer-Encoding: chunked\r\n\r\n';
    const answers = await sayRaw(server.port, `${head}zz\r\n`);
    assert.equal(answers.length, 1);
    assertRefused(answers[0], 400, 'INVALID_ARGUMENT');
  });

  test('404: an id longer than any of ours', async () => {
    const answers = await sayRaw(server.port, `GET /things/${'x'.repeat(300)} HTTP/1.0\r\n\r\n`);
    assertRefused(answers[0], 404, 'NOT_FOUND');
  });

  test('404: a target that is no path', async () => {
    const answers = await sayRaw(server.port, 'OPTIONS * HTTP/1.0\r\n\r\n');
    assertRefused(answers[0], 404, 'NOT_FOUND');
  });
});
