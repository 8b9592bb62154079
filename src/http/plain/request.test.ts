import assert from 'node:assert/strict';
import { createServer, type IncomingMessage } from 'node:http';
import { Duplex } from 'node:stream';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { inShort } from '../../../test/support/effort.ts';
import { readPlainRequest } from './request.ts';

interface Seen {
  method: string;
  target: string;
  headers: Record<string, unknown>;
  body: string;
}

/** Everything the plain lane would take from these bytes, one after the other. */
function readPlainly(bytes: Buffer): Seen[] {
  const seen: Seen[] = [];
  for (let rest = bytes; rest.length > 0; ) {
    const request = readPlainRequest(rest);
    if (request === undefined || request === null) return seen;
    const { method, target, headers, body, length } = request;
    seen.push({ method, target, headers: { __proto__: null, ...headers }, body: body.toString('latin1') });
    rest = rest.subarray(length);
  }
  return seen;
}

/** What Node, which knows all of HTTP, makes of the same bytes. */
async function readByNode(bytes: Buffer): Promise<Seen[]> {
  const requests: { request: IncomingMessage; body: string }[] = [];
  const server = createServer({ requireHostHeader: false }, (request, response) => {
    const read = { request, body: '' };
    requests.push(read);
    request.setEncoding('latin1').on('data', (piece: string) => {
      read.body += piece;
    });
    response.end();
  });
  server.on('clientError', (_error, socket) => socket.destroy());
  const socket = new Duplex({ read() {}, write: (_piece, _encoding, done) => done() });
  socket.on('error', () => {});
  server.emit('connection', socket);
  socket.push(bytes);
  socket.push(null);
  await new Promise((done) => setImmediate(() => setImmediate(done)));
  socket.destroy();
  return requests.map(({ request, body }) => ({
    method: request.method ?? '',
    target: request.url ?? '',
    headers: inPairs(request.rawHeaders),
    body,
  }));
}

/** As they were sent: in `headers` Node makes lists of some, and loses others. */
function inPairs(raw: string[]): Record<string, unknown> {
  const pairs: Record<string, unknown> = { __proto__: null };
  for (let i = 0; i < raw.length; i += 2) pairs[raw[i]?.toLowerCase() ?? ''] = raw[i + 1];
  return pairs;
}

const whole = 'POST /echo?a=1 HTTP/1.1\r\nHost: here\r\nX-Empty:\r\napikey:  padded\t\r\nContent-Length: 4\r\n\r\nbody';

describe('a plain request', () => {
  test('is read with its target, its headers and its body, and what follows is left', () => {
    const bytes = Buffer.from(`${whole}GET /next`);
    const request = readPlainRequest(bytes);
    assert.ok(request);
    assert.deepEqual([request.method, request.target], ['POST', '/echo?a=1']);
    assert.deepEqual({ ...request.headers }, { host: 'here', 'x-empty': '', apikey: 'padded', 'content-length': '4' });
    assert.equal(request.body.toString(), 'body');
    assert.equal(bytes.subarray(request.length).toString(), 'GET /next');
  });

  test('is waited for while a byte of it is missing', () => {
    for (let length = 0; length < whole.length; length++) {
      assert.equal(readPlainRequest(Buffer.from(whole.slice(0, length))), undefined, `after ${length} bytes`);
    }
  });

  const others: Record<string, string> = {
    'no request at all': '\x16\x03\x01',
    'a method in small letters': 'get / HTTP/1.1\r\nHost: here\r\n\r\n',
    'a method of our own': 'FETCH / HTTP/1.1\r\nHost: here\r\n\r\n',
    'the absolute form': 'GET http://here/ HTTP/1.1\r\nHost: here\r\n\r\n',
    'a fragment': 'GET /a#b HTTP/1.1\r\nHost: here\r\n\r\n',
    'HTTP/1.0': 'GET / HTTP/1.0\r\nHost: here\r\n\r\n',
    'no Host': 'GET / HTTP/1.1\r\nX: y\r\n\r\n',
    'a header sent twice': 'GET / HTTP/1.1\r\nHost: here\r\napikey: a\r\nApiKey: b\r\n\r\n',
    'a folded header': 'GET / HTTP/1.1\r\nHost: here\r\nX: a\r\n b\r\n\r\n',
    'a bare LF': 'GET / HTTP/1.1\r\nHost: here\nX: a\r\n\r\n',
    'a space before the colon': 'GET / HTTP/1.1\r\nHost : here\r\n\r\n',
    'a byte that is no ASCII': 'GET / HTTP/1.1\r\nHost: here\r\nX: \xe9\r\n\r\n',
    'Connection: close': 'GET / HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n',
    'Transfer-Encoding': 'POST / HTTP/1.1\r\nHost: here\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    'an expectation': 'POST / HTTP/1.1\r\nHost: here\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n{}',
    'an upgrade': 'GET / HTTP/1.1\r\nHost: here\r\nUpgrade: h2c\r\n\r\n',
    'a length with a plus': 'POST / HTTP/1.1\r\nHost: here\r\nContent-Length: +2\r\n\r\n{}',
    'an empty length': 'POST / HTTP/1.1\r\nHost: here\r\nContent-Length:\r\n\r\n',
    'a body that is too long': 'POST / HTTP/1.1\r\nHost: here\r\nContent-Length: 65537\r\n\r\n',
    'a head that is too long': `GET / HTTP/1.1\r\nHost: here\r\nX: ${'y'.repeat(17_000)}`,
    'too many headers': `GET / HTTP/1.1\r\nHost: here\r\n${Array.from({ length: 101 }, (_, i) => `X${i}: y\r\n`).join('')}\r\n`,
  };
  for (const [name, bytes] of Object.entries(others)) {
    test(`${name} is left to Node`, () => {
      assert.equal(readPlainRequest(Buffer.from(bytes, 'latin1')), null);
    });
  }
});

test('whatever is taken for a plain request, Node reads in the same way', async () => {
  const piece = fc.constantFrom(
    ...[
      'GET ',
      'POST ',
      'HEAD ',
      'DELETE ',
      '/',
      '/a?b=%20',
      ' HTTP/1.1',
      ' HTTP/1.0',
      '\r\n',
      '\r\n\r\n',
      '\n',
      '\r',
      ' ',
      '\t',
    ],
    ...['Host: here', 'Host:here', 'host: there', 'Content-Length: 4', 'Content-Length: 0', 'content-length:04'],
    ...['Content-Length: 4 ', 'Transfer-Encoding: chunked', 'Connection: keep-alive', 'Connection: Keep-Alive', 'X: y'],
    ...['Set-Cookie: a', 'cookie: a; b', '__proto__: x', 'abcd', '4\r\nabcd\r\n0\r\n\r\n', ': ', '\0', '\xe9', '"#$%'],
  );
  const head = fc
    .tuple(
      fc.constantFrom('GET', 'POST', 'DELETE', 'OPTIONS'),
      fc.constantFrom('/', '/a', '/a?b=c', '/%41'),
      fc.array(piece, { maxLength: 4 }),
    )
    .map(([method, target, lines]) => `${method} ${target} HTTP/1.1\r\nHost: here\r\n${lines.join('\r\n')}\r\n\r\n`);
  const bytes = fc.array(fc.oneof({ weight: 3, arbitrary: head }, piece, fc.constant(whole)), { maxLength: 6 });
  let taken = 0;
  const runs = inShort(300, 3000);
  await fc.assert(
    fc.asyncProperty(bytes, async (pieces) => {
      const sent = Buffer.from(pieces.join(''), 'latin1');
      const plain = readPlainly(sent);
      taken += plain.length;
      assert.deepEqual(plain, (await readByNode(sent)).slice(0, plain.length));
    }),
    { numRuns: runs },
  );
  assert.ok(taken > runs / 10, `only ${taken} were taken`);
});
