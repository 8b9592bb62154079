// What the edge learns with each request: when its connection was opened or last finished an answer, as of its first byte.
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import type { Gateway } from '../../src/http/admission.ts';
import { route } from '../../src/http/route.ts';
import { createTestClock } from '../support/clock.ts';
import { eventually } from '../support/eventually.ts';
import { admission, type BareServer, startBareServer } from './bare-server.ts';
import { openRaw, type RawConnection } from './raw-connection.ts';

const clock = createTestClock();
/** When each request's caller was last informed, in milliseconds since its test began, by its path. */
const informed: Record<string, number> = {};
let openedMs = 0;
let waitedMs = 0;
let release = () => {};

const gateway: Gateway = {
  admit({ path, informedAtMs }) {
    informed[path] = informedAtMs - openedMs;
    return admission;
  },
  giveBack: () => admission.decision,
  peek: () => admission.decision,
};
const shared = { method: 'GET', auth: { kind: 'none' }, tag: 'Test', summary: 'For tests', answers: {} } as const;
const routes = [
  route({ ...shared, path: '/quick/{name}', handler: () => ({ status: 200, body: {} }) }),
  route({
    ...shared,
    path: '/held',
    handler: () =>
      new Promise((answer) => {
        release = () => answer({ status: 200, body: {} });
      }),
  }),
];

let server: BareServer;
before(async () => {
  server = await startBareServer({ routes, gateway, clock, waitedMs: () => waitedMs });
});
after(() => server.close());
beforeEach(() => {
  // Every test's connections come after a pause.
  waitedMs += 1000;
  openedMs = clock.steadyMs();
  for (const path of Object.keys(informed)) delete informed[path];
});

/** Opened, and known to the server by its first answer. */
async function open(lines: string): Promise<RawConnection> {
  const raw = openRaw(server.port);
  await ask(raw, '/quick/first', lines);
  return raw;
}

async function ask(raw: RawConnection, path: string, lines: string): Promise<void> {
  raw.send(request(path, lines));
  assert.equal((await raw.answer()).status, 200);
}

const request = (path: string, lines = '') => `GET ${path} HTTP/1.1\r\nHost: x\r\n${lines}\r\n`;

for (const [lane, lines] of [
  ['the plain lane', ''],
  // A header that the plain lane does not read.
  ['the node lane', 'TE: trailers\r\n'],
] as const) {
  describe(`on ${lane}`, () => {
    test('the first request goes by the opening, the next by the end of the answer before it', async () => {
      const raw = openRaw(server.port);
      await new Promise((opened) => raw.socket.once('connect', opened));
      await ask(raw, '/quick/first', lines);
      clock.advance(10);
      await ask(raw, '/quick/second', lines);
      clock.advance(10);
      await ask(raw, '/quick/third', lines);
      assert.deepEqual(informed, { '/quick/first': 0, '/quick/second': 0, '/quick/third': 10 });
      raw.socket.destroy();
    });

    test('a request sent ahead of an answer goes by what was known before it', async () => {
      const raw = await open(lines);
      clock.advance(10);
      raw.send(request('/held', lines) + request('/quick/ahead', lines));
      await eventually('the held request arrives', () => informed['/held'] !== undefined);
      clock.advance(10);
      release();
      await raw.answer();
      await raw.answer();
      clock.advance(10);
      await ask(raw, '/quick/after', lines);
      assert.deepEqual(informed, { '/quick/first': 0, '/held': 0, '/quick/ahead': 0, '/quick/after': 20 });
      raw.socket.destroy();
    });
  });
}

test('a request that arrives in pieces goes by its first byte, on either lane', async () => {
  const raw = await open('');
  clock.advance(10);
  const ahead = request('/quick/ahead');
  raw.send(request('/held') + ahead.slice(0, 5));
  await eventually('the held request arrives', () => informed['/held'] !== undefined);
  clock.advance(10);
  release();
  await raw.answer();
  clock.advance(10);
  raw.send(ahead.slice(5) + request('/quick/next'));
  await raw.answer();
  await raw.answer();
  // Node does not report when the first byte came, only when the head is complete (decision 0010).
  const aheadMs = process.env.HELIOGRAPH_HTTP_LANE === 'node' ? 20 : 0;
  assert.deepEqual(informed, { '/quick/first': 0, '/held': 0, '/quick/ahead': aheadMs, '/quick/next': 20 });

  raw.send(request('/held').slice(0, 3));
  for (let turn = 0; turn < 20; turn++) await new Promise((done) => setImmediate(done));
  raw.send(request('/held', 'TE: trailers\r\n').slice(3));
  await eventually('the request in pieces arrives', () => informed['/held'] === 30);
  release();
  await raw.answer();
  raw.socket.destroy();
});

test('a connection accepted before the process has paused since its last answers may have been opened before them', async () => {
  const first = await open('');
  const second = await open('');
  assert.equal(informed['/quick/first'], Number.NEGATIVE_INFINITY);
  await ask(second, '/quick/again', '');
  assert.equal(informed['/quick/again'], 0, 'what it was answered, it knows');
  waitedMs += 1;
  const third = await open('');
  assert.equal(informed['/quick/first'], 0);
  for (const { socket } of [first, second, third]) socket.destroy();
});
