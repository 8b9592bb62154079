// run: alone
// Lost connections, limits, and answers that are not the service's.
import assert from 'node:assert/strict';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, afterEach, before, describe, test } from 'node:test';
import { ConnectionError, type Heliograph, HeliographError } from '@heliograph/client';
import { uuidOf } from '../../src/platform/ids.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { createRegistered, type TestApplication } from '../support/applications.ts';
import { createClient, errorOf } from '../support/client.ts';
import { type CuttingProxy, createCuttingProxy } from '../support/cutting-proxy.ts';
import { inShort } from '../support/effort.ts';

const text = { to: '+447700900123', from: 'ACME', message: 'Hello' };
const plans = JSON.stringify({ free: { per_minute: 1000, burst: 5 } });

let app: TestApp;
let acme: TestApplication;
let proxy: CuttingProxy;
before(async () => {
  app = await createTestApp({ delivery: 'held', env: { HELIOGRAPH_PLANS: plans } });
  acme = await createRegistered(app, ['sms', 'messaging'], 'enterprise');
  proxy = await createCuttingProxy(app);
});
after(async () => {
  await proxy.close();
  await app.close();
});

/** How many texts of the application there are, by reference. */
async function keptTexts(applicationId: string): Promise<Record<string, number>> {
  const { rows } = await app.db.database.query<{ reference: string; count: number }>(
    'select reference, count(*)::int as count from message where application_id = $1 group by reference',
    [uuidOf(applicationId)],
  );
  return Object.fromEntries(rows.map(({ reference, count }) => [reference, count]));
}

describe('a connection that is cut at any byte', () => {
  // A request has about 330 bytes and an answer about 1200: in short every 60th byte, and each one near an end.
  const step = inShort(60, 1);
  const bytes = Array.from({ length: 1300 }, (_, byte) => byte).filter((byte) => byte % step === 0 || byte < 3);

  for (const kind of ['request', 'answer'] as const) {
    test(`of the ${kind}: every text is accepted once`, async () => {
      const { heliograph } = createClient(proxy, acme);
      const cutsBefore = proxy.cuts();
      const references = bytes.map((byte) => `cut-${kind}-${byte}`);
      const api = kind === 'request' ? heliograph.sms : heliograph.messaging;
      const sent = await Promise.all(references.map((reference) => api.send({ ...text, reference })));
      assert.deepEqual(
        sent.map(({ reference }) => reference),
        references,
      );
      const kept = await keptTexts(acme.id);
      assert.deepEqual(
        references.map((reference) => kept[reference]),
        references.map(() => 1),
      );
      assert.equal(proxy.cuts() - cutsBefore, bytes.length);
    });
  }

  test('of a read: it is read again; of a change without a key: it is not, and says so', async () => {
    const { heliograph, sent } = createClient(proxy, acme);
    assert.deepEqual((await heliograph.sms.list({ reference: 'cut-answer-0009' }).page()).data, []);
    assert.equal(sent.length, 2);
    const lost = await lostBy((client) => client.sms.optOuts.put('+447700900555'));
    assert.equal(lost.requests, 1);
    assert.ok(lost.error instanceof ConnectionError, String(lost.error));
  });
});

test('a fetch that ignores its signal: the call ends at its time limit', async () => {
  const { heliograph } = createClient(app, acme, { fetch: () => new Promise(() => {}), timeoutMs: 50 });
  const error = await errorOf(heliograph.sms.optOuts.put('+447700900555'));
  assert.ok(error instanceof ConnectionError, String(error));
  assert.match(error.message, /no response within 0.05 seconds/);
});

describe('limits', () => {
  test('after a 429 no call is sent before its time; then all get through, each once', async () => {
    const own = await createRegistered(app, ['sms'], 'free');
    const answers: { atMs: number; status: number }[] = [];
    const early: string[] = [];
    const { heliograph } = createClient(app, own, {
      fetch: async (input, init) => {
        const sentAtMs = performance.now();
        const refused = answers.filter(({ status }) => status === 429);
        for (const { atMs } of refused) if (sentAtMs < atMs + 1000) early.push(`${sentAtMs - atMs} ms after a 429`);
        const response = await fetch(input, init);
        answers.push({ atMs: performance.now(), status: response.status });
        // The service's clock stands still, so the sixth call is refused, however slow this machine is.
        if (response.status === 429) app.clock.advance(1100);
        return response;
      },
    });
    const references = Array.from({ length: 8 }, (_, index) => `limited ${index}`);
    await Promise.all(references.map((reference) => heliograph.sms.send({ ...text, reference })));
    assert.ok(
      answers.some(({ status }) => status === 429),
      'the limit was reached',
    );
    assert.deepEqual(early, []);
    assert.deepEqual(await keptTexts(own.id), Object.fromEntries(references.map((reference) => [reference, 1])));
  });

  test('a wait of more than 60 seconds is for the caller to decide; others wait, and can leave', async () => {
    const url = await serve((_, response) => {
      response.writeHead(429, { 'retry-after': '900', 'content-type': 'application/json' }).end('{"message":"Later."}');
    });
    const { heliograph, sent } = createClient({ url }, acme);
    const error = await errorOf(heliograph.sms.send(text));
    assert.ok(error instanceof HeliographError, String(error));
    assert.deepEqual([error.status, error.code, error.message, error.retryAfterSeconds], [429, null, 'Later.', 900]);
    const leaving = new AbortController();
    const waiting = errorOf(heliograph.sms.get('msg_x', { signal: leaving.signal }));
    leaving.abort(new Error('not that long'));
    assert.match(String(await waiting), /not that long/);
    assert.equal(sent.length, 1);
  });
});

let servers: Server[] = [];
afterEach(async () => {
  for (const server of servers) {
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
  }
  servers = [];
});

/** Something else where the service should be. */
async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  servers.push(server);
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** What becomes of a call when its connection is lost each time. */
async function lostBy(act: (client: Heliograph) => Promise<unknown>) {
  let requests = 0;
  const url = await serve((request) => {
    requests++;
    request.socket.destroy();
  });
  const error = await errorOf(act(createClient({ url }, acme).heliograph));
  return { error, requests };
}

describe('what is not the service', () => {
  // PUT is never sent again, so these tests need not wait.
  const put = (url: string, more: object = {}, signal?: AbortSignal) =>
    errorOf(createClient({ url }, acme, more).heliograph.sms.optOuts.put('+447700900555', { signal }));

  test('a redirect is not followed: the key stays here', async () => {
    let reached = 0;
    const elsewhere = await serve((_, response) => {
      reached++;
      response.end('{}');
    });
    for (const status of [301, 302, 303, 307, 308]) {
      const url = await serve((_, response) => response.writeHead(status, { location: elsewhere }).end());
      assert.match(String(await put(url)), new RegExp(`not Heliograph.*${status}`));
    }
    assert.equal(reached, 0);
  });

  test('a page instead of JSON, an empty answer, half an answer', async () => {
    const page = await serve((_, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Hi'));
    assert.match(String(await put(page)), /not Heliograph: check baseUrl/);
    const empty = await serve((_, response) => response.end());
    assert.match(String(await put(empty)), /not Heliograph/);
    const half = await serve((_, response) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"a'),
    );
    assert.ok((await put(half)) instanceof ConnectionError, 'half an answer is a lost connection');
    const refused = await serve((_, response) => response.writeHead(500).end('<h1>Oh'));
    const error = await put(refused);
    assert.ok(error instanceof HeliographError && error.status === 500, String(error));
    const odd = await serve((_, response) =>
      response.writeHead(400).end('{"message":5,"details":[1,{"field":2}],"code":{}}'),
    );
    assert.deepEqual(
      { ...((await put(odd)) as object) },
      {
        name: 'HeliographError',
        status: 400,
        code: null,
        details: [],
        correlationId: null,
        retryAfterSeconds: null,
      },
    );
  });

  test('an answer without an end is not kept', async () => {
    const url = await serve((_, response) => {
      const more = () => response.write('x'.repeat(1024 * 1024), (error) => error ?? more());
      more();
    });
    assert.match(String(await put(url)), /more than 16777216 bytes/);
  });

  test('no answer, and an answer that stops, end by the time limit or the signal', async () => {
    const silent = await serve(() => {});
    const stopping = await serve((_, response) => void response.write('{"a":'));
    for (const url of [silent, stopping]) {
      const late = await put(url, { timeoutMs: 50 });
      assert.ok(late instanceof ConnectionError && /no response within 0.05 seconds/.test(late.message), String(late));
      const leaving = new AbortController();
      const left = put(url, {}, leaving.signal);
      leaving.abort(new Error('enough'));
      assert.match(String(await left), /enough/);
    }
    assert.match(String(await put(silent, {}, AbortSignal.abort(new Error('before')))), /before/);
  });

  test('a call that cannot be saved is sent four times in all, with one key', async () => {
    const keys = new Set<string | undefined>();
    let requests = 0;
    const url = await serve((request, response) => {
      requests++;
      keys.add(String(request.headers['idempotency-key']));
      response.writeHead(503).end();
    });
    const error = await errorOf(createClient({ url }, acme).heliograph.sms.send(text));
    assert.ok(error instanceof HeliographError && error.status === 503, String(error));
    assert.deepEqual([requests, keys.size], [4, 1]);
  });
});
