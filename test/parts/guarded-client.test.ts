import assert from 'node:assert/strict';
import type { LookupAddress } from 'node:dns';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { after, test } from 'node:test';
import { systemClock } from '../../src/platform/clock.ts';
import { createAlertGuard, createWebhookGuard, type Resolver } from '../../src/platform/http-out/address-guard.ts';
import { createGuardedClient, type GuardedClientOptions } from '../../src/platform/http-out/client.ts';
import { createCertificate } from '../support/certificates.ts';
import { answer, createWebhookReceiver, ok, type WebhookReceiver } from '../support/webhook-receiver.ts';

const closing: (() => Promise<unknown>)[] = [];
after(() => Promise.all(closing.map((close) => close())));

const loopback: LookupAddress = { address: '127.0.0.1', family: 4 };
const leadsTo =
  (...found: LookupAddress[]): Resolver =>
  (_, __, done) =>
    done(null, found);

function createClient(options: Partial<GuardedClientOptions> = {}) {
  const client = createGuardedClient({
    guard: createWebhookGuard('sandbox', leadsTo(loopback)),
    clock: systemClock,
    timeoutMs: 500,
    ...options,
  });
  closing.push(client.close);
  return {
    call: (url: string, signal?: AbortSignal) =>
      client.call({ url, headers: { 'webhook-id': 'evt_1' }, body: '{}', ...(signal && { signal }) }),
  };
}

async function receive(respond = ok): Promise<WebhookReceiver> {
  const receiver = await createWebhookReceiver(respond);
  closing.push(receiver.close);
  return receiver;
}

/** A server that does anything but HTTP as it should be. */
async function misbehave(act: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.once('data', () => act(socket));
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  closing.push(async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

test('2xx is a success; anything else is not, and says so in bounded, printable words', async () => {
  const receiver = await receive();
  const { call } = createClient();
  for (const status of [200, 201, 204, 299]) {
    receiver.respond = answer(status);
    const { statusCode, error } = await call(receiver.url);
    assert.deepEqual([statusCode, error], [status, null]);
  }
  receiver.respond = answer(503, { 'retry-after': '7' }, `no\u0007${'😀'.repeat(500)}`);
  const refused = await call(receiver.url);
  assert.deepEqual([refused.statusCode, refused.retryAfter], [503, '7']);
  assert.ok([...(refused.error ?? '')].length < 260, 'the words are bounded');
  assert.ok(/^[^\p{C}]*$/u.test(refused.error ?? ''), 'the words are printable');
});

test('redirects are not followed', async () => {
  const target = await receive();
  const { call } = createClient();
  for (const status of [301, 302, 303, 307, 308]) {
    const receiver = await receive(answer(status, { location: target.url }));
    const { statusCode, error } = await call(receiver.url);
    assert.equal(statusCode, status);
    assert.match(error ?? '', /Redirects are not followed/);
  }
  assert.equal(target.calls.length, 0);
});

test('the body of a success may be huge, endless or slow: it is cut, and the call is a success', async () => {
  const { call } = createClient();
  const huge = Buffer.alloc(1024 * 1024, 'x');
  let sent = 0;
  const flood = await receive((_, response) => {
    response.writeHead(200, { 'content-length': String(10 * 1024 ** 3) });
    const more = () => {
      sent += huge.length;
      if (!response.destroyed) response.write(huge, more);
    };
    more();
  });
  const drip = await receive((_, response) => {
    response.writeHead(200).flushHeaders();
    const timer = setInterval(() => response.write('x'), 20);
    response.on('close', () => clearInterval(timer));
  });
  for (const { url } of [flood, drip]) assert.equal((await call(url)).error, null);
  assert.ok(sent < 64 * 1024 ** 2, `it took ${sent} bytes at most`);
});

test('endpoints that stall, drip, lie or break off end within the time limit', async () => {
  const { call } = createClient();
  const endless = (text: string, everyMs: number) => (socket: Socket) => {
    const timer = setInterval(() => socket.write(text), everyMs);
    socket.on('close', () => clearInterval(timer));
  };
  const cases: [string, (socket: Socket) => void, RegExp][] = [
    ['silence', () => {}, /No answer came within 0.5 seconds/],
    ['a slow head', endless('H', 50), /No answer|not HTTP/],
    ['headers without an end', endless(`x: ${'y'.repeat(4000)}\r\n`, 1), /too many headers|not HTTP|No answer/],
    ['endless interim answers', endless('HTTP/1.1 103 Early Hints\r\n\r\n', 5), /No answer|broke off|failed/],
    ['no HTTP', (socket) => socket.end('SSH-2.0-OpenSSH_9.6\r\n'), /not HTTP/],
    ['an end', (socket) => socket.end(), /broke off/],
    ['a reset', (socket) => socket.resetAndDestroy(), /broke off/],
  ];
  for (const [what, act, words] of cases) {
    const start = what.startsWith('headers') ? 'HTTP/1.1 200 OK\r\n' : '';
    const url = await misbehave((socket) => {
      if (start !== '') socket.write(start);
      act(socket);
    });
    const { statusCode, error } = await call(url);
    assert.equal(statusCode, null, what);
    assert.match(error ?? '', words, what);
  }
  const { error } = await call('http://127.0.0.1:1/');
  assert.match(error ?? '', /refused/);
});

test('a call ends at once when it is aborted', async () => {
  const receiver = await receive(() => {});
  const { call } = createClient({ timeoutMs: 60_000 });
  const stop = new AbortController();
  const result = call(receiver.url, stop.signal);
  while (receiver.calls.length === 0) await new Promise((done) => setTimeout(done, 5));
  stop.abort();
  assert.match((await result).error ?? '', /aborted/);
});

test('a plain alert URL in production reaches a private name, and none that has become public', async () => {
  const receiver = await receive();
  const url = `http://alerts.internal:${receiver.port}/`;
  const outside: LookupAddress = { address: '203.0.112.1', family: 4 };
  const calls = [loopback, outside].map((found) =>
    createClient({ guard: createAlertGuard(url, 'production', leadsTo(found)) }).call(url),
  );
  const errors = (await Promise.all(calls)).map(({ error }) => error);
  assert.deepEqual(errors, [null, 'The name leads to an address that is not allowed.']);
  assert.equal(receiver.calls.length, 1);
});

test('a name is resolved once for each connection, and the address that was checked is the one used', async () => {
  const receiver = await receive();
  const asked: string[] = [];
  // It leads to this machine at first, and inside the network at the next look-up.
  const changing: Resolver = (host, _, done) => {
    asked.push(host);
    done(null, [asked.length === 1 ? loopback : { address: '10.0.0.1', family: 4 }]);
  };
  const { call } = createClient({ guard: createWebhookGuard('sandbox', changing) });
  assert.equal((await call(`http://changing.example:${receiver.port}/`)).error, null);
  assert.deepEqual(asked, ['changing.example']);
  const second = await createClient({ guard: createWebhookGuard('sandbox', changing) }).call(
    `http://changing.example:${receiver.port}/`,
  );
  assert.equal(second.error, 'The name leads to an address that is not allowed.');
  assert.equal(receiver.calls.length, 1);
});

test('a name that passed when the webhook was made is refused when it leads inside later, by every address', async () => {
  const receiver = await receive();
  const { port } = receiver;
  const production = (...found: LookupAddress[]) =>
    createClient({ guard: createWebhookGuard('production', leadsTo(...found)) });
  const outside: LookupAddress = { address: '8.8.8.8', family: 4 };
  for (const found of [[loopback], [outside, loopback], [{ address: '::ffff:127.0.0.1', family: 6 }]]) {
    const { error } = await production(...found).call(`https://rebound.example:${port}/`);
    assert.equal(error, 'The name leads to an address that is not allowed.');
  }
  // Addresses are not resolved, so the look-up would not see them.
  for (const host of ['127.0.0.1', '[::1]', '[::ffff:7f00:1]', '2130706433', '0x7f.1', '[64:ff9b::7f00:1]']) {
    const { error } = await production(outside).call(`https://${host}:${port}/`);
    assert.equal(error, 'The name leads to an address that is not allowed.', host);
  }
  assert.equal(receiver.calls.length, 0);
});

test('TLS is verified, for the name and not for the address', async () => {
  const ca = createCertificate({ name: 'a CA', isCa: true });
  const serve = async (name: string, issuer?: typeof ca, notAfter = new Date(Date.now() + 86_400_000)) => {
    const { cert, key } = createCertificate({ name, notAfter, ...(issuer && { issuer }) });
    const server = createTlsServer({ cert, key }, (_, response) => response.end('{}'));
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    closing.push(async () => {
      server.closeAllConnections();
      server.close();
    });
    return `https://hooks.example:${(server.address() as AddressInfo).port}/`;
  };
  const { call } = createClient({ ca: ca.cert });
  assert.equal((await call(await serve('hooks.example', ca))).error, null);
  assert.match((await call(await serve('other.example', ca))).error ?? '', /for another name/);
  assert.match((await call(await serve('hooks.example'))).error ?? '', /not trusted/);
  assert.match((await call(await serve('hooks.example', ca, new Date(Date.now() - 1000)))).error ?? '', /expired/);
  const plain = await receive();
  assert.match((await call(`https://hooks.example:${plain.port}/`)).error ?? '', /TLS|failed|broke off/);
});
