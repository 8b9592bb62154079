/** Numbers that look random and are the same for the same seed, so that a failure can be had again (mulberry32). */
export function createRandom(seed: number) {
  let state = seed >>> 0;
  function next(): number {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }
  const below = (limit: number) => Math.floor(next() * limit);
  return {
    below,
    chance: (probability: number) => next() < probability,
    pick: <Item>(items: readonly Item[]): Item => items[below(items.length)] as Item,
  };
}

export type Random = ReturnType<typeof createRandom>;

const json = 'Content-Type: application/json\r\n';

/** What a client would send: the mutations make what it would not. */
const requests = [
  'GET /ok HTTP/1.1\r\nHost: here\r\nAccept: */*\r\n\r\n',
  'HEAD /ok HTTP/1.1\r\nHost: here\r\nX-Correlation-ID: mine\r\n\r\n',
  'GET /things/thing_1?limit=10&cursor=abc HTTP/1.1\r\nHost: here\r\n\r\n',
  `POST /echo HTTP/1.1\r\nHost: here\r\n${json}Content-Length: 17\r\n\r\n{"text":"a text"}`,
  `POST /echo HTTP/1.1\r\nHost: here\r\n${json}Transfer-Encoding: chunked\r\n\r\n8\r\n{"text":\r\n9;x=y\r\n"a text"}\r\n0\r\n\r\n`,
  `POST /echo HTTP/1.1\r\nHost: here\r\n${json}Expect: 100-continue\r\nContent-Length: 12\r\n\r\n{"text":"a"}`,
  `POST /echo HTTP/1.0\r\n${json}Content-Length: 12\r\nConnection: keep-alive\r\n\r\n{"text":"a"}`,
  'GET /ok HTTP/1.1\r\nHost: here\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\r\n',
  'CONNECT there:443 HTTP/1.1\r\nHost: there:443\r\n\r\n',
  'DELETE /nowhere HTTP/1.1\r\nHost: here\r\nContent-Length: 4\r\n\r\nbody',
  'OPTIONS * HTTP/1.1\r\nHost: here\r\n\r\n',
  `POST /sms/v1/messages HTTP/1.1\r\nHost: here\r\napikey: hg_sandbox_a_b\r\n${json}Content-Length: 40\r\n\r\n{"to":"+447700900123","from":"A","message`,
  'GET /verify/v1/verifications/ver_1 HTTP/1.1\r\nHost: here\r\nAuthorization: Bearer e30.e30.e30\r\n\r\n',
  'POST /realms/heliograph/protocol/openid-connect/token HTTP/1.1\r\nHost: here\r\nAuthorization: Basic YTpi\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 29\r\n\r\ngrant_type=client_credentials',
  'GET /portal/v1/me HTTP/1.1\r\nHost: here\r\nCookie: heliograph_session=abc; a=b\r\nSec-Fetch-Site: same-origin\r\n\r\n',
  `PATCH /portal/v1/applications/app_1 HTTP/1.1\r\nHost: here\r\nOrigin: http://evil.example\r\n${json}Content-Length: 12\r\n\r\n{"name":"x"}`,
];

/** Bytes at which readers of HTTP have stumbled before. */
const nasty = [
  '\r\n',
  '\r\n\r\n',
  '\n',
  '\r',
  '\0',
  ' ',
  '\t',
  ':',
  '%',
  '%00',
  '%ff',
  '%2e%2e%2f',
  '../',
  '?',
  '#',
  '\xff\xfe',
  '\x80',
  '-1',
  '0',
  '99999999999999999999',
  'ffffffffffffffff\r\n',
  '0\r\n\r\n',
  'HTTP/1.1',
  'HTTP/9.9',
  'http://there/ok',
  'Content-Length: 5\r\n',
  'Content-Length: 0\r\n',
  'Transfer-Encoding: chunked\r\n',
  'Transfer-Encoding: identity\r\n',
  'Connection: close\r\n',
  'Connection: keep-alive\r\n',
  'Host: there\r\n',
  'Expect: 100-continue\r\n',
  'Expect: tea\r\n',
  'Upgrade: h2c\r\nConnection: upgrade\r\n',
  'Content-Type: text/plain\r\n',
  'Content-Encoding: gzip\r\n',
  'X-Correlation-ID: a\r\n',
  'Accept-Version: 1.x\r\n',
  'Cookie: \r\n',
  'Trailer: Host\r\n',
  `X: ${'y'.repeat(20_000)}\r\n`,
  '{"__proto__":1}',
  '['.repeat(500),
];

/** One request as a client would send it, with one to six things wrong with it. */
export function mutatedRequest(random: Random): Buffer {
  let bytes: Buffer = Buffer.from(random.pick(requests), 'latin1');
  for (let count = 1 + random.below(6); count > 0; count--) bytes = mutate(bytes, random);
  return bytes;
}

function mutate(bytes: Buffer, random: Random): Buffer {
  const at = random.below(bytes.length + 1);
  const [head, tail] = [bytes.subarray(0, at), bytes.subarray(at)];
  switch (random.below(10)) {
    case 0:
      return Buffer.concat([head, Buffer.from([random.below(256)]), tail.subarray(1)]);
    case 1:
      return Buffer.concat([head, Buffer.from(random.pick(nasty), 'latin1'), tail]);
    case 2:
      return Buffer.concat([head, tail.subarray(random.below(20))]);
    case 3:
      return Buffer.concat([head, tail.subarray(0, random.below(40)), tail]);
    case 4:
      return head;
    case 5:
      return Buffer.concat([head, Buffer.from(random.pick(requests), 'latin1').subarray(random.below(60))]);
    case 6:
    case 7:
      return withLines(bytes, (lines) => lines.splice(random.below(lines.length), 0, random.pick(nasty).trimEnd()));
    case 8:
      return withLines(bytes, (lines) => lines.splice(random.below(lines.length), 0, random.pick(lines)));
    default:
      return withLines(bytes, (lines) => lines.splice(random.below(lines.length), 1));
  }
}

function withLines(bytes: Buffer, change: (lines: string[]) => unknown): Buffer {
  const lines = bytes.toString('latin1').split('\r\n');
  change(lines);
  return Buffer.from(lines.join('\r\n'), 'latin1');
}
