// The same bytes on a server with both lanes and on one that leaves all reading to Node: the same answers.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type BareServer, startBareServer } from './bare-server.ts';
import { openRaw, type RawAnswer } from './raw-connection.ts';
import { createSocketRoutes } from './routes.ts';

const servers: Record<'plain' | 'node', BareServer> = {} as never;
before(async () => {
  const { routes } = createSocketRoutes();
  servers.plain = await startBareServer({ routes, plainLane: true });
  servers.node = await startBareServer({ routes, plainLane: false });
});
after(() => Promise.all(Object.values(servers).map((server) => server.close())));

const get = 'GET /ok HTTP/1.1\r\nHost: here\r\n';
const post = 'POST /echo HTTP/1.1\r\nHost: here\r\nContent-Type: application/json\r\n';
const body = '{"text":"é"}';
const length = `Content-Length: ${Buffer.byteLength(body)}\r\n`;

interface Way {
  bytes: string;
  /** Who reads it where both lanes are there. */
  lane: 'plain' | 'node';
  /** Whether the server closes after its answer. */
  closes?: true;
}

/** As clients and proxies write requests. */
const ways: Record<string, Way> = {
  'HTTP/1.1': { bytes: `${get}\r\n`, lane: 'plain' },
  'a body of known length': { bytes: `${post}${length}\r\n${body}`, lane: 'plain' },
  'Connection: keep-alive': { bytes: `${get}Connection: keep-alive\r\n\r\n`, lane: 'plain' },
  'HTTP/1.0, as a proxy with its defaults': {
    bytes: 'GET /ok HTTP/1.0\r\nHost: here\r\n\r\n',
    lane: 'node',
    closes: true,
  },
  'HTTP/1.0 without a Host': { bytes: 'GET /ok HTTP/1.0\r\n\r\n', lane: 'node', closes: true },
  'HTTP/1.0 that stays open': { bytes: 'GET /ok HTTP/1.0\r\nConnection: keep-alive\r\n\r\n', lane: 'node' },
  'Connection: close': { bytes: `${get}Connection: close\r\n\r\n`, lane: 'node', closes: true },
  'Connection: close with a body': {
    bytes: `${post}${length}Connection: close\r\n\r\n${body}`,
    lane: 'node',
    closes: true,
  },
  'a chunked body': { bytes: `${post}Transfer-Encoding: chunked\r\n\r\nd\r\n${body}\r\n0\r\n\r\n`, lane: 'node' },
  'a header twice': { bytes: `${get}Accept: a\r\nAccept: b\r\n\r\n`, lane: 'node' },
  'no Host': { bytes: 'GET /ok HTTP/1.1\r\n\r\n', lane: 'node' },
  'an unknown path': { bytes: 'GET /nowhere HTTP/1.1\r\nHost: here\r\n\r\n', lane: 'plain' },
  'a refused body': { bytes: `${post}Content-Length: 2\r\n\r\n{}`, lane: 'plain' },
};

/** Without what differs from one answer to the next, or belongs to the connection. */
function comparable({ status, headers, body: text }: RawAnswer): unknown {
  const { date, connection, 'keep-alive': keepAlive, 'x-correlation-id': id = '', ...others } = headers;
  assert.ok(date !== undefined && id.startsWith('req_'), 'every answer has a date and a correlation id');
  return { status, headers: others, body: text.replaceAll(id, 'its id') };
}

async function ask({ port }: BareServer, { bytes, closes }: Way): Promise<unknown> {
  const connection = openRaw(port);
  connection.send(bytes);
  if (closes) {
    const answers = await connection.untilClosed();
    assert.equal(answers.length, 1);
    return comparable(answers[0] as RawAnswer);
  }
  const answer = await connection.answer();
  connection.send(`${get}\r\n`);
  assert.equal((await connection.answer()).status, 200, 'the connection goes on');
  connection.socket.destroy();
  return comparable(answer);
}

describe('both lanes give the same answer', () => {
  for (const [name, way] of Object.entries(ways)) {
    test(name, async () => {
      const before = (await servers.plain.requestsByLane())[way.lane] ?? 0;
      const onBoth = await ask(servers.plain, way);
      assert.deepEqual(onBoth, await ask(servers.node, way));
      const taken = ((await servers.plain.requestsByLane())[way.lane] ?? 0) - before;
      // A connection stays with the lane that it was handed to.
      assert.equal(taken, way.closes ? 1 : 2, `requests on the ${way.lane} lane`);
    });
  }

  test('a server without the plain lane reads nothing there', async () => {
    assert.equal((await servers.node.requestsByLane()).plain, 0);
  });
});

test('requests sent together are answered in order, wherever the connection is handed over', async () => {
  const handOver = `${get}TE: trailers\r\n\r\n`;
  const plain = `${get}\r\n`;
  for (const together of [
    [plain, handOver, plain],
    [handOver, plain],
    [plain, plain, handOver],
  ]) {
    const connection = openRaw(servers.plain.port);
    connection.send(together.join(''));
    for (const _ of together) assert.equal((await connection.answer()).status, 200);
    connection.socket.destroy();
  }
});

test('bytes that arrive one by one after a hand-over are read once, in order', async () => {
  const connection = openRaw(servers.plain.port);
  const request = `${post}Transfer-Encoding: chunked\r\n\r\nd\r\n${body}\r\n0\r\n\r\n`;
  for (const byte of Buffer.from(request)) {
    connection.send(Buffer.from([byte]));
    await new Promise((next) => setImmediate(next));
  }
  const answer = await connection.answer();
  assert.deepEqual([answer.status, answer.body.includes('é')], [200, true]);
  connection.socket.destroy();
});
