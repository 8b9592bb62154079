import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, test } from 'node:test';
import type { Gateway } from '../../src/http/admission.ts';
import type { ServerTimeouts } from '../../src/http/server.ts';
import { admission, type BareServer, decisionOf, startBareServer } from './bare-server.ts';
import { openRaw, type RawAnswer } from './raw-connection.ts';
import { createSocketRoutes, type SocketRoutes } from './routes.ts';

const get = 'GET /ok HTTP/1.1\r\nHost: here\r\n';
const echo = 'POST /echo HTTP/1.1\r\nHost: here\r\nContent-Type: application/json\r\n';
const slow =
  'POST /slow HTTP/1.1\r\nHost: here\r\nContent-Type: application/json\r\nContent-Length: 12\r\n\r\n{"text":"a"}';
const short = { headersMs: 250, requestMs: 400, keepAliveMs: 100, checkMs: 25 };

type Setting = SocketRoutes & BareServer;

async function withServer(
  run: (server: Setting) => Promise<void>,
  options: { timeouts?: Partial<ServerTimeouts>; gateway?: Gateway } = {},
): Promise<void> {
  const routes = createSocketRoutes();
  const server = await startBareServer({ routes: routes.routes, ...options });
  try {
    await run({ ...routes, ...server });
  } finally {
    routes.release();
    await server.close();
  }
}

function statuses(answers: RawAnswer[]): number[] {
  return answers.map(({ status }) => status);
}

/** Resolves when the handler of `POST /slow` has been reached. */
async function reached({ handled }: Setting): Promise<void> {
  const deadlineMs = performance.now() + 8000;
  while (!handled.includes('slow') && performance.now() < deadlineMs) await new Promise((next) => setImmediate(next));
}

/** Resolves when the server accepts no more connections. */
async function refused(port: number): Promise<void> {
  for (;;) {
    const { socket } = openRaw(port);
    await new Promise((resolve) => socket.once('connect', resolve).once('close', resolve));
    if (socket.errored !== null) return;
    socket.destroy();
  }
}

describe('answers come in the order of their requests', () => {
  test('garbage behind a good request does not take its answer away', () =>
    withServer(async ({ port }) => {
      const connection = openRaw(port);
      connection.send(`${get}\r\n${get}\r\ngarbage\r\n\r\n`);
      const answers = await connection.untilClosed();
      assert.deepEqual(statuses(answers), [200, 200, 400]);
      assert.equal(new Set(answers.map(({ headers }) => headers['x-correlation-id'])).size, 3);
    }));

  test('garbage behind a request that is still being worked on waits for it', () =>
    withServer(async (server) => {
      const connection = openRaw(server.port);
      connection.send(`${slow}garbage\r\n\r\n`);
      await reached(server);
      server.release();
      assert.deepEqual(statuses(await connection.untilClosed()), [200, 400]);
    }));

  test('CONNECT behind a request that is still being worked on waits for it', () =>
    withServer(async (server) => {
      const connection = openRaw(server.port);
      connection.send(`${slow}CONNECT there:443 HTTP/1.1\r\nHost: there\r\n\r\n`);
      await reached(server);
      server.release();
      assert.deepEqual(statuses(await connection.untilClosed()), [200, 405]);
    }));

  test('a bad chunk behind a request that is still being worked on waits for it', () =>
    withServer(async (server) => {
      const connection = openRaw(server.port);
      connection.send(`${slow}${echo}Transfer-Encoding: chunked\r\n\r\nzz\r\n`);
      await reached(server);
      server.release();
      assert.deepEqual(statuses(await connection.untilClosed()), [200, 400]);
    }));

  test('a body that goes wrong while the gateway decides is answered with the headers of the gateway', () => {
    let admit = () => {};
    const decided = new Promise<void>((resolve) => {
      admit = resolve;
    });
    const gateway: Gateway = {
      admit: () => decided.then(() => admission),
      giveBack: () => decisionOf(6000),
      peek: () => decisionOf(6000),
    };
    return withServer(
      async ({ port, handled }) => {
        const connection = openRaw(port);
        connection.send(`${echo}Transfer-Encoding: chunked\r\n\r\nzz\r\n`);
        const [answer, ...more] = await connection.untilClosed();
        admit();
        assert.equal(answer?.status, 400);
        assert.equal(answer.headers['ratelimit-limit'], '6000');
        assert.ok(answer.headers['x-correlation-id']);
        assert.deepEqual(more, []);
        assert.deepEqual(handled, []);
      },
      { gateway },
    );
  });
});

describe('from the plain lane to Node', () => {
  const chunked = `${echo}Transfer-Encoding: chunked\r\n\r\n5\r\n{"tex\r\n7\r\nt":"b"}\r\n0\r\n\r\n`;
  const plain = `${echo}Content-Length: 12\r\n\r\n{"text":"a"}`;

  test('a connection goes on in order on either lane', () =>
    withServer(async ({ port }) => {
      const connection = openRaw(port);
      connection.send(`${plain}${chunked}${plain}${get}\r\n`);
      const answers = [];
      for (let i = 0; i < 4; i++) answers.push((await connection.answer()).body);
      assert.deepEqual(answers, ['{"text":"a"}', '{"text":"b"}', '{"text":"a"}', '{"ok":true}']);
      connection.send(plain);
      assert.equal((await connection.answer()).body, '{"text":"a"}');
      connection.socket.destroy();
    }));

  test('behind a request that is still being worked on', () =>
    withServer(async (server) => {
      const connection = openRaw(server.port);
      connection.send(`${slow}${chunked}`);
      await reached(server);
      connection.send(plain);
      server.release();
      const answers = [];
      for (let i = 0; i < 3; i++) answers.push(JSON.parse((await connection.answer()).body).text);
      assert.deepEqual(answers, ['a', 'b', 'a']);
      connection.socket.destroy();
    }));

  test('a request that comes in pieces is answered, fast or slow', () =>
    withServer(
      async ({ port }) => {
        const text = 'ä'.repeat(10);
        const bytes = Buffer.from(
          `${echo}Content-Length: ${Buffer.byteLength(`{"text":"${text}"}`)}\r\n\r\n{"text":"${text}"}`,
        );
        for (const pauseMs of [0, 60]) {
          const connection = openRaw(port);
          for (const piece of [bytes.subarray(0, 30), bytes.subarray(30, -9), bytes.subarray(-9)]) {
            connection.send(piece);
            await new Promise((next) => setTimeout(next, pauseMs));
          }
          assert.equal((await connection.answer()).body, `{"text":"${text}"}`);
          connection.socket.destroy();
        }
      },
      { timeouts: { ...short, headersMs: 20_000, requestMs: 40_000 } },
    ));

  test('more requests at once than there is room for are all answered', () =>
    withServer(async ({ port }) => {
      const connection = openRaw(port, { patienceMs: 60_000 });
      connection.send(plain.repeat(3000));
      for (let i = 0; i < 3000; i++) assert.equal((await connection.answer()).status, 200);
      connection.socket.destroy();
    }));

  test('the largest request there may be is not waited for, in however many pieces it comes', () =>
    withServer(
      async ({ port }) => {
        const padding = `X-Padding: ${'x'.repeat(8000)}\r\n`;
        const body = JSON.stringify({ text: 'x'.repeat(65_000) });
        const bytes = Buffer.from(`${echo}${padding}Content-Length: ${body.length}\r\n\r\n${body}`);
        const connection = openRaw(port, { patienceMs: 20_000 });
        for (const piece of [bytes.subarray(0, 30_000), bytes.subarray(30_000, 70_000), bytes.subarray(70_000)]) {
          connection.send(piece);
          await new Promise((next) => setTimeout(next, 30));
        }
        assert.equal((await connection.answer()).status, 200);
        connection.socket.destroy();
      },
      { timeouts: { checkMs: 60_000 } },
    ));

  test('a stream that is read slowly now and then goes on, however long it has been open', () =>
    withServer(
      async ({ port, streams }) => {
        const socket = connect({ port, host: '127.0.0.1' });
        socket.on('error', () => {});
        let received = 0;
        socket.on('data', (piece) => {
          received += piece.length;
        });
        socket.write('GET /stream HTTP/1.1\r\nHost: here\r\n\r\n');
        await once(socket, 'data');
        await new Promise((next) => setTimeout(next, 1600));
        socket.pause();
        streams[0]?.push(Buffer.alloc(8_000_000));
        await new Promise((next) => setTimeout(next, 50));
        socket.resume();
        const deadlineMs = performance.now() + 30_000;
        while (received < 8_000_000 && !socket.destroyed && performance.now() < deadlineMs) {
          await new Promise((next) => setTimeout(next, 10));
        }
        assert.ok(received >= 8_000_000, `${received} bytes came`);
        socket.destroy();
      },
      { timeouts: { stalledMs: 1500, checkMs: 25 } },
    ));

  test('HEAD has no body, and the connection goes on', () =>
    withServer(async ({ port }) => {
      const connection = openRaw(port);
      connection.send(`HEAD /ok HTTP/1.1\r\nHost: here\r\n\r\n${get}\r\n`);
      const head = await connection.answer();
      assert.deepEqual([head.status, head.headers['content-length'], head.body], [200, '11', '']);
      assert.equal((await connection.answer()).body, '{"ok":true}');
      connection.socket.destroy();
    }));

  test('a caller that has said all it will is answered, and its connection ends', () =>
    withServer(async (server) => {
      const connection = openRaw(server.port);
      connection.send(slow);
      connection.socket.end();
      await reached(server);
      server.release();
      assert.deepEqual(statuses(await connection.untilClosed()), [200]);
    }));
});

describe('408: what does not arrive in time', () => {
  const never: Record<string, string> = {
    'not a byte': '',
    'headers that never end': 'GET /ok HTTP/1.1\r\nHost: here\r\nX-',
    'a body that never ends': `${echo}Content-Length: 12\r\n\r\n{"te`,
    'a chunked body that never ends': `${echo}Transfer-Encoding: chunked\r\n\r\n2\r\n{"\r\n`,
  };
  for (const [name, bytes] of Object.entries(never)) {
    test(name, () =>
      withServer(
        async ({ port, handled }) => {
          const connection = openRaw(port);
          connection.send(bytes);
          const answers = await connection.untilClosed();
          assert.deepEqual(statuses(answers), [408]);
          const { code, correlation_id } = JSON.parse(answers[0]?.body ?? '') as Record<string, string>;
          assert.equal(code, 'REQUEST_TIMEOUT');
          assert.equal(correlation_id, answers[0]?.headers['x-correlation-id']);
          assert.equal(answers[0]?.headers['ratelimit-limit'], '60');
          assert.deepEqual(handled, []);
        },
        { timeouts: short },
      ),
    );
  }

  test('a second request that never ends', () =>
    withServer(
      async ({ port }) => {
        const connection = openRaw(port);
        connection.send(`${get}\r\nGET /ok HT`);
        assert.deepEqual(statuses(await connection.untilClosed()), [200, 408]);
      },
      { timeouts: short },
    ));

  test('a body that drips is cut off', () =>
    withServer(
      async ({ port }) => {
        const connection = openRaw(port);
        connection.send(`${echo}Content-Length: 1000\r\n\r\n`);
        const drip = setInterval(() => connection.send('x'), 20);
        const answers = await connection.untilClosed();
        clearInterval(drip);
        assert.deepEqual(statuses(answers), [408]);
      },
      { timeouts: short },
    ));

  test('a request that was refused while its body never ends gets one answer, then the end', () =>
    withServer(
      async ({ port }) => {
        const connection = openRaw(port);
        connection.send('POST /nowhere HTTP/1.1\r\nHost: here\r\nContent-Length: 12\r\n\r\n{"te');
        assert.deepEqual(statuses(await connection.untilClosed()), [404]);
      },
      { timeouts: short },
    ));

  test('a caller that stops reading in the middle of an answer is let go, also when it goes on sending', () =>
    withServer(
      async ({ port }) => {
        const connection = openRaw(port);
        connection.send('GET /page HTTP/1.1\r\nHost: here\r\n\r\n'.repeat(20));
        await connection.pesterUntilCut();
      },
      { timeouts: { stalledMs: 200 } },
    ));
});

describe('a caller that is still sending comes to read its answer', () => {
  const megabytes = Buffer.alloc(8 * 1024 * 1024, 'x');
  const uploads: Record<string, [string, number]> = {
    '413: announced': [`${echo}Content-Length: ${megabytes.length}\r\n\r\n`, 413],
    '413: announced, on a connection that closes': [
      `${echo}Connection: close\r\nContent-Length: ${megabytes.length}\r\n\r\n`,
      413,
    ],
    '413: in one chunk': [`${echo}Transfer-Encoding: chunked\r\n\r\n${megabytes.length.toString(16)}\r\n`, 413],
    '413: in one chunk, on a connection that closes': [
      `${echo}Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n${megabytes.length.toString(16)}\r\n`,
      413,
    ],
    '404: to nowhere': [`POST /nowhere HTTP/1.0\r\nContent-Length: ${megabytes.length}\r\n\r\n`, 404],
    '415: as something else': [
      `POST /echo HTTP/1.0\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n800000\r\n`,
      415,
    ],
    '400: behind garbage': ['garbage\r\n\r\n', 400],
    '405: behind CONNECT': ['CONNECT there:443 HTTP/1.1\r\nHost: there\r\n\r\n', 405],
  };
  for (const [name, [head, status]] of Object.entries(uploads)) {
    test(name, () =>
      withServer(async ({ port }) => {
        const connection = openRaw(port);
        connection.socket.pause();
        connection.send(head);
        // Reads nothing before all is sent, as the simplest of clients do.
        await new Promise<void>((resolve) => connection.socket.write(megabytes, () => resolve()));
        connection.socket.resume();
        assert.equal((await connection.answer()).status, status);
        connection.socket.destroy();
      }),
    );
  }

  test('a connection goes on behind a 413 and behind malformed JSON', () =>
    withServer(async ({ port }) => {
      const connection = openRaw(port);
      connection.send(`${echo}Content-Length: 65537\r\n\r\n${'x'.repeat(65_537)}`);
      connection.send(`${echo}Content-Length: 1\r\n\r\n{`);
      connection.send(`${get}Connection: close\r\n\r\n`);
      assert.deepEqual(statuses(await connection.untilClosed()), [413, 400, 200]);
    }));

  test('a caller that never closes is closed', () =>
    withServer(async ({ port }) => {
      const connection = openRaw(port);
      connection.socket.allowHalfOpen = true;
      connection.send('garbage\r\n\r\n');
      assert.equal((await connection.answer()).status, 400);
      await connection.pesterUntilCut();
    }));
});

describe('a caller that goes', () => {
  test('in the middle of its body: no handler runs, nothing is an error of ours', () =>
    withServer(async ({ port, handled, logLines }) => {
      for (let i = 0; i < 20; i++) {
        const { socket } = openRaw(port);
        socket.write(`${echo}Content-Length: 12\r\n\r\n{"te`, () => socket.resetAndDestroy());
        await once(socket, 'close');
      }
      assert.equal((await fetch(`http://127.0.0.1:${port}/ok`)).status, 200);
      assert.deepEqual(handled, ['ok']);
      assert.deepEqual(
        logLines.filter((line) => line.includes('"error"')),
        [],
      );
    }));

  test('right behind CONNECT or garbage: the process lives on', () =>
    withServer(async ({ port }) => {
      for (const bytes of [
        'CONNECT there:443 HTTP/1.1\r\nHost: there\r\n\r\n',
        'garbage\r\n\r\n',
        `${slow}x\r\n\r\n`,
      ]) {
        for (let i = 0; i < 20; i++) {
          const { socket } = openRaw(port);
          socket.write(bytes, () => socket.resetAndDestroy());
          await once(socket, 'close');
        }
      }
      assert.equal((await fetch(`http://127.0.0.1:${port}/ok`)).status, 200);
    }));

  test('before it was read: the gateway is not left without an address', () => {
    const addresses: unknown[] = [];
    const gateway: Gateway = {
      admit({ address }) {
        addresses.push(address);
        return admission;
      },
      giveBack: () => admission.decision,
      peek: () => admission.decision,
    };
    return withServer(
      async ({ port }) => {
        for (let i = 0; i < 100; i++) {
          const { socket } = openRaw(port);
          socket.write(`${get}\r\n${slow}`, () => socket.resetAndDestroy());
          await once(socket, 'close');
        }
        assert.equal((await fetch(`http://127.0.0.1:${port}/ok`)).status, 200);
        assert.deepEqual(
          addresses.filter((address) => typeof address !== 'string'),
          [],
        );
      },
      { gateway },
    );
  });

  test('from a stream: the stream ends, also when only its headers were asked for', () =>
    withServer(async ({ port, streams }) => {
      const reader = openRaw(port);
      reader.send('GET /stream HTTP/1.0\r\n\r\n');
      await once(reader.socket, 'data');
      reader.socket.destroy();
      const asker = openRaw(port);
      asker.send('HEAD /stream HTTP/1.0\r\n\r\n');
      const [answer] = await asker.untilClosed();
      assert.equal(answer?.status, 200);
      assert.equal(answer.headers['content-type'], 'text/event-stream');
      assert.equal(answer.body, '');
      assert.equal(streams.length, 2);
      const closed = streams.map((each) => each.closed || once(each, 'close', { signal: AbortSignal.timeout(8000) }));
      await Promise.all(closed);
    }));

  test('the signal of its call informs the handler, and is silent while it waits', () =>
    withServer(async (server) => {
      const connection = openRaw(server.port);
      connection.send(slow);
      await reached(server);
      // The body has been read and the request is over; the caller is still there.
      await new Promise((resolve) => setImmediate(resolve));
      server.release();
      assert.deepEqual(JSON.parse((await connection.answer()).body), { text: 'a', gone: false });
      connection.socket.destroy();
    }));
});

describe('stopping', () => {
  test('what is in flight is finished, and its connection is closed by a header', () =>
    withServer(async (server) => {
      const connection = openRaw(server.port);
      connection.send(slow);
      await reached(server);
      const closed = server.close();
      await refused(server.port);
      server.release();
      const answers = await connection.untilClosed();
      assert.deepEqual(statuses(answers), [200]);
      assert.equal(answers[0]?.headers.connection, 'close');
      await closed;
    }));

  test('what comes behind the last answer is not acted upon', () =>
    withServer(async (server) => {
      const socket = connect({ port: server.port, host: '127.0.0.1', allowHalfOpen: true });
      socket.on('error', () => {});
      socket.write(slow);
      await reached(server);
      const closed = server.close();
      await refused(server.port);
      server.release();
      await once(socket, 'data');
      socket.write(`${echo}Content-Length: 12\r\n\r\n{"text":"a"}`);
      await new Promise((next) => setTimeout(next, 50));
      socket.destroy();
      await closed;
      assert.deepEqual(server.handled, ['slow']);
    }));

  const again = `${echo}Content-Length: 12\r\n\r\n{"text":"a"}`;
  const lanes: Record<string, string> = {
    'the plain lane': `${get}\r\n`,
    'Node’s lane': `${get}TE: trailers\r\n\r\n`,
    'Node’s lane, by HTTP/1.0': 'GET /ok HTTP/1.0\r\nConnection: keep-alive\r\n\r\n',
  };
  for (const [name, first] of Object.entries(lanes)) {
    test(`a request on a connection that was closed for being idle is not carried out: ${name}`, () =>
      withServer(async (server) => {
        const socket = connect({ port: server.port, host: '127.0.0.1', allowHalfOpen: true });
        let received = '';
        socket.on('error', () => {});
        socket.on('data', (bytes) => {
          received += bytes.toString('latin1');
        });
        socket.write(first);
        await once(socket, 'data');
        const ended = once(socket, 'end');
        const closed = server.close();
        // One may still come in time, and is answered then.
        await refused(server.port);
        socket.write(again);
        await ended;
        socket.write(again);
        await new Promise((next) => setTimeout(next, 50));
        socket.destroy();
        await closed;
        assert.equal(server.handled.length, received.split('HTTP/1.1 200').length - 1);
        assert.ok(server.handled.length <= 2);
      }));

    test(`a connection that is used while the server drains gets "Connection: close": ${name}`, () =>
      withServer(async (server) => {
        const connection = openRaw(server.port);
        connection.send(first);
        assert.equal((await connection.answer()).status, 200);
        const closed = server.close(60_000);
        await refused(server.port);
        connection.send(again);
        const [answer, ...more] = await connection.untilClosed();
        assert.deepEqual([answer?.status, answer?.headers.connection, more.length], [200, 'close', 0]);
        await closed;
      }));
  }

  test('of requests that came at once to Node’s lane, all that are carried out are answered', () =>
    withServer(async (server) => {
      const connection = openRaw(server.port);
      connection.send(`${get}TE: trailers\r\n\r\n${slow}${again}`);
      await reached(server);
      const closed = server.close();
      await refused(server.port);
      server.release();
      const answers = await connection.untilClosed();
      assert.deepEqual([statuses(answers).length, server.handled.length], [3, 3]);
      await closed;
    }));

  test('a connection that has stood idle for too long is not read while it closes', () =>
    withServer(
      async (server) => {
        const socket = connect({ port: server.port, host: '127.0.0.1', allowHalfOpen: true });
        socket.on('error', () => {});
        socket.write(`${get}\r\n`);
        await once(socket.resume(), 'end');
        socket.write(again);
        await new Promise((next) => setTimeout(next, 50));
        socket.destroy();
        assert.deepEqual(server.handled, ['ok']);
      },
      { timeouts: short },
    ));

  test('connections with nothing to answer do not hold it up', () =>
    withServer(
      async (server) => {
        const silent = openRaw(server.port);
        await once(silent.socket, 'connect');
        const idle = openRaw(server.port);
        idle.send(`${get}\r\n`);
        assert.equal((await idle.answer()).status, 200);
        const startedMs = performance.now();
        await server.close();
        assert.ok(performance.now() - startedMs < 60_000, 'long before anything times out');
        assert.deepEqual(await silent.untilClosed(), []);
        assert.deepEqual(await idle.untilClosed(), []);
      },
      { timeouts: { headersMs: 600_000, requestMs: 600_000, keepAliveMs: 600_000 } },
    ));
});
