import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTestApp, type TestApp } from '../support/app.ts';
import { inShort } from '../support/effort.ts';
import { eventually } from '../support/eventually.ts';
import { createRandom, mutatedRequest, type Random } from './mutations.ts';
import { openRaw, type RawAnswer, shown } from './raw-connection.ts';
import { createSocketRoutes } from './routes.ts';

const seed = Number(process.env.FUZZ_SEED ?? 20_260_801);
const total = inShort(700, 10_500);
const atOnce = 128;
const timeouts = { headersMs: 200, requestMs: 250, keepAliveMs: 200, checkMs: 50 };
const last = 'GET /ok HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n';

/** Says a few mutated requests on one connection, in one of the ways in which callers end, and reads all that comes. */
async function attack(port: number, bytes: Buffer, random: Random): Promise<RawAnswer[]> {
  const connection = openRaw(port, { patienceMs: 20_000 });
  const { socket } = connection;
  const manner = random.below(100);
  if (manner < 5) {
    socket.write(bytes, () => socket.resetAndDestroy());
    await connection.untilClosed().catch(() => []);
    return [];
  }
  const split = manner < 20 ? random.below(bytes.length) : 0;
  if (split > 0) await new Promise<void>((resolve) => socket.write(bytes.subarray(0, split), () => resolve()));
  connection.send(bytes.subarray(split));
  // Either the last request is read as one and ends the connection, or something before it has swallowed it, and the
  // server must find an end by itself.
  if (manner < 60) connection.send(last);
  else socket.end(last);
  return connection.untilClosed();
}

function check(answer: RawAnswer, seen: Set<string>): void {
  // An interim answer is not one.
  if (answer.status < 200) return;
  assert.ok(answer.status < 500, `it is our error: ${answer.status} ${answer.body}`);
  const id = answer.headers['x-correlation-id'] ?? '';
  assert.match(id, /^req_[0-9a-z]{26}$/, `no correlation id: ${answer.status}`);
  assert.equal(seen.has(id), false, 'a correlation id was used before');
  seen.add(id);
  for (const name of ['limit', 'remaining', 'reset']) assert.match(answer.headers[`ratelimit-${name}`] ?? '', /^\d+$/);
  if (answer.status < 400 || answer.body === '') return;
  const { correlation_id, error } = JSON.parse(answer.body) as Record<string, unknown>;
  if (error === undefined) assert.equal(correlation_id, id);
}

async function openConnections({ app }: TestApp): Promise<number> {
  return new Promise((resolve, reject) => {
    app.server.listener.getConnections((error, count) => (error ? reject(error) : resolve(count)));
  });
}

test(`${total} malformed requests: never a 500, a missing correlation id or a hung connection`, async () => {
  const limits = { HELIOGRAPH_ADDRESS_PER_MINUTE: '1000000', HELIOGRAPH_ADDRESS_BURST: '1000000' };
  const app = await createTestApp({ env: limits, extraRoutes: createSocketRoutes().routes, timeouts });
  const random = createRandom(seed);
  const seen = new Set<string>();
  let said = 0;

  async function keepAttacking(): Promise<void> {
    while (said < total) {
      const requests = Array.from({ length: 1 + random.below(3) }, () => mutatedRequest(random));
      said += requests.length;
      const bytes = Buffer.concat(requests);
      try {
        for (const answer of await attack(app.port, bytes, random)) check(answer, seen);
      } catch (error) {
        throw new Error(`With FUZZ_SEED=${seed}, after ${shown(bytes)}: ${(error as Error).message}`);
      }
    }
  }

  try {
    await Promise.all(Array.from({ length: atOnce }, keepAttacking));
    assert.ok(seen.size > total / 4, `only ${seen.size} answers: most of it must be answered`);
    // A machine that stands still for as long as a header may take makes it a 408.
    for (const path of ['/healthz', '/readyz'])
      await eventually(`${path} to answer`, async () => (await fetch(app.url + path)).status === 200);
    const surprises = app.logLines.filter((line) => line.includes('unexpected error'));
    assert.equal(surprises.length, 0, surprises[0]);
    // The connections of the two questions above are kept alive, all others must have gone.
    const deadlineMs = performance.now() + 5000;
    while ((await openConnections(app)) > 2 && performance.now() < deadlineMs) {
      await new Promise((resolve) => setImmediate(resolve));
    }
    assert.ok((await openConnections(app)) <= 2, 'connections are left over');
  } finally {
    await app.close();
  }
});
