import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createClient } from '@redis/client';
import { windowScript } from '../../src/edge/redis-window-script.ts';
import { createRedisWindows } from '../../src/edge/redis-windows.ts';
import { createShareWindows } from '../../src/edge/share-windows.ts';
import { createWindowBreaker, type WindowBreaker } from '../../src/edge/window-breaker.ts';
import type { Windows } from '../../src/edge/windows.ts';
import type { Limits } from '../../src/http/admission.ts';
import { createTestClock } from '../support/clock.ts';
import { inShort } from '../support/effort.ts';
import { type Limiter, longAgo } from '../support/limiter-model.ts';
import { describeLimiter } from '../support/limiter-suite.ts';
import { createTestLog } from '../support/log.ts';
import { endRedis, type RedisServer, startRedis } from '../support/redis.ts';

let server: RedisServer;
let operator: ReturnType<typeof createClient>;
const breakers: WindowBreaker[] = [];
before(async () => {
  server = await startRedis();
  operator = createClient({ url: server.url, RESP: 2 }) as typeof operator;
  await operator.connect();
  for (let node = 0; node < 3; node++) {
    // Nothing is to be taken over by the node itself here, so a busy machine gets its time.
    const breaker = createWindowBreaker({ url: server.url, log: createTestLog().log, timeoutMs: 5000 });
    await breaker.start();
    assert.ok(breaker.redis, 'the store is in use');
    breakers.push(breaker);
  }
});
after(async () => {
  for (const breaker of breakers) breaker.stop();
  operator.destroy();
  await endRedis();
});

/** Stands still: each test says when a connection was last informed. */
const clock = createTestClock();

function windowsOf(node: number, timeUs?: () => number): Windows {
  const share = createShareWindows({ clock, liveNodes: () => 3 });
  const breaker = {
    get redis() {
      return breakers[node]?.redis;
    },
  };
  return createRedisWindows({ breaker, share, clock, ...(timeUs && { timeUs }) });
}

let callers = 0;
function newCaller(): string {
  callers += 1;
  return `reg_${callers}`;
}

/** One caller, whose requests come to one node or another, at times that add up exactly in both units. */
function limiterOn(nodes: number, key = newCaller()): Limiter {
  let timeUs = 0;
  const windows = Array.from({ length: nodes }, (_, node) => windowsOf(node, () => timeUs));
  let turn = 0;
  const next = (nowMs: number) => {
    timeUs = nowMs * 1000;
    turn += 1;
    return windows[turn % nodes] as Windows;
  };
  return {
    decide: (limits, nowMs, quietMs) => next(nowMs).decide(key, limits, clock.steadyMs() - quietMs),
    peek: (limits, nowMs) => next(nowMs).peek(key, limits),
    giveBack: (decision, nowMs) => next(nowMs).giveBack(key, decision),
    async copy() {
      const copy = newCaller();
      await operator.copy(`hg:{${key}}`, `hg:{${copy}}`);
      return limiterOn(nodes, copy);
    },
  };
}

const largest = inShort(20_000, 1_000_000);
const tickMs = 1 / 8;
describeLimiter('windows in Redis', {
  newLimiter: () => limiterOn(1),
  tickMs,
  effort: { steps: inShort(900, 20_000), fills: 1.3, runs: inShort(4, 200) },
  // In short the largest plan is tried in one process only: to fill it takes as many calls.
  mostPerMinute: inShort(600, 6000),
});
describeLimiter('windows in Redis, over three nodes', {
  newLimiter: () => limiterOn(3),
  tickMs,
  effort: { steps: inShort(900, 20_000), fills: 1.3, runs: inShort(2, 100) },
  // The large plans are tried above, on one node.
  mostPerMinute: inShort(60, 6000),
});

describe('by the clock of Redis itself', () => {
  async function sendTogether(key: string, limits: Limits, each: number): Promise<number> {
    const nodes = [0, 1, 2].map((node) => windowsOf(node));
    const decisions = await Promise.all(
      nodes.flatMap((windows) => Array.from({ length: each }, async () => windows.decide(key, limits, longAgo))),
    );
    return decisions.filter(({ admitted }) => admitted).length;
  }

  test('three nodes at once admit exactly what fits', async () => {
    const many = inShort(1000, 6000);
    assert.equal(await sendTogether(newCaller(), { perMinute: 40, burst: 1000 }, 100), 40);
    assert.equal(await sendTogether(newCaller(), { perMinute: many, burst: many }, many / 2), many);
  });

  test('callers do not touch one another', async () => {
    const windows = windowsOf(0);
    const limits = { perMinute: 5, burst: 5 };
    const keys = Array.from({ length: 50 }, newCaller);
    const decisions = await Promise.all(
      keys.flatMap((key) => Array.from({ length: 7 }, () => windows.decide(key, limits, longAgo))),
    );
    assert.equal(decisions.filter(({ admitted }) => admitted).length, 250);
  });

  test('requests of one turn are decided by one call of the script each caller, in order', async () => {
    const windows = windowsOf(0);
    const key = newCaller();
    const limits = { perMinute: 10, burst: 10 };
    const calls = async () =>
      Number(/cmdstat_evalsha:calls=(\d+)/.exec(String(await server.ask('INFO', 'commandstats')))?.[1]);
    const before = await calls();
    const decisions = await Promise.all(Array.from({ length: 12 }, () => windows.decide(key, limits, longAgo)));
    assert.deepEqual(
      decisions.map(({ remaining }) => remaining),
      [9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 0, 0],
    );
    assert.ok((await calls()) - before <= 4, 'one for the twelve, and the heartbeats of the nodes');
  });

  test('a plan that changes within a turn: each request is decided by the limits it came with', async () => {
    const windows = windowsOf(0);
    const key = newCaller();
    const [one, other] = [
      { perMinute: 2, burst: 2 },
      { perMinute: 9, burst: 9 },
    ];
    const sent = [one, one, one, other, other].map((limits) => windows.decide(key, limits, longAgo));
    const decisions = await Promise.all(sent);
    assert.deepEqual(
      decisions.map(({ admitted, limits, remaining }) => [admitted, limits, remaining]),
      [
        [true, one, 1],
        [true, one, 0],
        [false, one, 0],
        [true, other, 6],
        [true, other, 5],
      ],
    );
  });

  test('a server that has forgotten the script gets it again', async () => {
    const windows = windowsOf(0);
    const key = newCaller();
    await windows.decide(key, { perMinute: 5, burst: 5 }, longAgo);
    await server.ask('SCRIPT', 'FLUSH');
    assert.equal((await windows.decide(key, { perMinute: 5, burst: 5 }, longAgo)).remaining, 3);
    assert.ok(breakers[0]?.redis, 'and is relied on as before');
  });

  test('what is idle is gone by itself, and a block is kept to its end', async () => {
    const windows = windowsOf(0);
    const key = newCaller();
    const limits = { perMinute: 3, burst: 9 };
    await Promise.all(Array.from({ length: 2 }, () => windows.decide(key, limits, longAgo)));
    const ttl = async () => Number(await server.ask('PTTL', `hg:{${key}}`));
    assert.ok((await ttl()) > 55_000 && (await ttl()) <= 61_000);
    await windows.peek(key, limits);
    await windows.peek(newCaller(), limits);
    assert.equal(await server.ask('EXISTS', `hg:{reg_${callers}}`), 0, 'a peek stores no caller');
  });
});

describe('large limits', () => {
  test(`a full window of 6,000 takes 24 kB, one of ${largest} is exact`, async () => {
    for (const [limit, most] of [
      [6000, 26_000],
      [largest, inShort(100_000, 4_200_000)],
    ] as const) {
      const key = newCaller();
      let timeUs = 1e9;
      const windows = windowsOf(0, () => timeUs);
      const limits = { perMinute: limit, burst: limit };
      const step = limit / 50;
      let last: number[] = [];
      for (let part = 0; part < 50; part++, timeUs += 1000) {
        const args = [limit, limit, timeUs, ...Array.from({ length: step }, () => 0)].map(String);
        last = (await breakers[0]?.redis?.run(windowScript, `hg:{${key}}`, args)) ?? [];
      }
      assert.deepEqual(last.slice(-5, -1), [0, 0, 60_000, 60_000 - 49], 'the last one fits');
      const refused = await windows.decide(key, limits, longAgo);
      assert.deepEqual([refused.admitted, refused.retryAfterMs], [false, 60_000 - 50]);
      const bytes = Number(await server.ask('MEMORY', 'USAGE', `hg:{${key}}`));
      assert.ok(bytes < most, `${bytes} bytes`);
      timeUs = 1e9 + 60_000_000 + 24_000;
      assert.equal((await windows.decide(key, limits, longAgo)).remaining, 25 * step - 1, 'half of them have run out');
    }
  });

  test('what a burst has taken is given back when it is over', async () => {
    const key = newCaller();
    let timeUs = 1e9;
    const windows = windowsOf(0, () => timeUs);
    const limits = { perMinute: 6000, burst: 6000 };
    await Promise.all(Array.from({ length: 5000 }, () => windows.decide(key, limits, longAgo)));
    timeUs += 61_000_000;
    await windows.decide(key, limits, longAgo);
    const bytes = Number(await server.ask('MEMORY', 'USAGE', `hg:{${key}}`));
    assert.ok(bytes < 400, `${bytes} bytes`);
  });
});
