import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { createRedisWindows } from '../../src/edge/redis-windows.ts';
import { createShareWindows, type ShareWindows } from '../../src/edge/share-windows.ts';
import { ageKey, createWindowBreaker, type WindowBreaker } from '../../src/edge/window-breaker.ts';
import type { Windows } from '../../src/edge/windows.ts';
import type { LimitDecision, Limits } from '../../src/http/admission.ts';
import { createTestClock } from '../support/clock.ts';
import { inShort } from '../support/effort.ts';
import { eventually } from '../support/eventually.ts';
import { createFaultProxy, type FaultProxy, type Target } from '../support/fault-proxy.ts';
import { longAgo } from '../support/limiter-model.ts';
import { createTestLog } from '../support/log.ts';
import { endRedis, type RedisServer, startRedis } from '../support/redis.ts';

/** The service waits 100 ms; a machine that is busy with other things may make its Redis wait longer than that. */
const timeoutMs = 1000;
/** For a machine that is busy with other things. */
const slackMs = inShort(20_000, 2000);
const nodeCount = 3;
const limits: Limits = { perMinute: 100, burst: 1000 };
const shareOfLimits = Math.ceil(limits.perMinute / nodeCount);

interface Node {
  windows: Windows;
  breaker: WindowBreaker;
  share: ShareWindows;
}

after(endRedis);

/** Three nodes on one Redis, each by the same network that breaks on command. */
async function onNodes(
  work: (nodes: Node[], proxy: FaultProxy<Target>, redis: RedisServer) => Promise<void>,
  settledAfterMs?: number,
): Promise<void> {
  const redis = await startRedis();
  const proxy = await createFaultProxy<Target>({ host: '127.0.0.1', port: redis.port });
  const url = `redis://127.0.0.1:${proxy.connection.port}`;
  // The nodes' own windows stand still, so that no time passes in which a share could be whole again.
  const clock = createTestClock();
  const nodes = Array.from({ length: nodeCount }, () => {
    const breaker = createWindowBreaker({
      url,
      log: createTestLog().log,
      timeoutMs,
      ...(settledAfterMs !== undefined && { settledAfterMs }),
    });
    const share = createShareWindows({ clock, liveNodes: () => nodeCount });
    return { breaker, share, windows: createRedisWindows({ breaker, share, clock }) };
  });
  try {
    await begin(nodes);
    await work(nodes, proxy, redis);
  } finally {
    for (const { breaker } of nodes) breaker.stop();
    await proxy.close();
    await redis.stop();
  }
}

async function begin(nodes: Node[]): Promise<void> {
  await Promise.all(nodes.map(({ breaker }) => breaker.start()));
  await eventually('the store is in use', () => nodes.every(({ breaker }) => breaker.redis !== undefined));
}

/** Sends this many requests of one caller to every node at once, and returns how long the slowest took. */
async function volley(
  nodes: Node[],
  key: string,
  each: number,
): Promise<{ decisions: LimitDecision[]; slowestMs: number }> {
  let slowestMs = 0;
  const send = async ({ windows }: Node) => {
    const startedMs = performance.now();
    const decision = await windows.decide(key, limits, longAgo);
    slowestMs = Math.max(slowestMs, performance.now() - startedMs);
    return decision;
  };
  const decisions = await Promise.all(nodes.flatMap((node) => Array.from({ length: each }, () => send(node))));
  return { decisions, slowestMs };
}

function decidedByShare(nodes: Node[]): number {
  return nodes.reduce((sum, { share }) => sum + share.decisions, 0);
}

function admitted(decisions: LimitDecision[]): number {
  return decisions.filter((decision) => decision.admitted).length;
}

interface Loss {
  what: string;
  lose: (proxy: FaultProxy<Target>, redis: RedisServer) => unknown;
  bringBack: (proxy: FaultProxy<Target>, redis: RedisServer) => unknown;
}

const losses: Loss[] = [
  { what: 'falls silent', lose: (proxy) => proxy.set({ kind: 'black-hole' }), bringBack: pass },
  { what: 'resets every connection', lose: (proxy) => proxy.set({ kind: 'reset' }), bringBack: pass },
  { what: 'takes 2 s to answer', lose: (proxy) => proxy.set({ kind: 'latency', ms: 2000 }), bringBack: pass },
  { what: 'is paused', lose: (_, redis) => redis.kill('SIGSTOP'), bringBack: (_, redis) => redis.kill('SIGCONT') },
  {
    what: 'has no memory left',
    lose: (_, redis) => redis.ask('CONFIG', 'SET', 'maxmemory', '1'),
    bringBack: (_, redis) => redis.ask('CONFIG', 'SET', 'maxmemory', '0'),
  },
  {
    what: 'may only be read',
    lose: (_, redis) => redis.ask('REPLICAOF', '127.0.0.1', '1'),
    bringBack: (_, redis) => redis.ask('REPLICAOF', 'NO', 'ONE'),
  },
];

function pass(proxy: FaultProxy<Target>): void {
  proxy.set({ kind: 'pass' });
}

describe('a window store that is lost', { concurrency: 3 }, () => {
  for (const { what, lose, bringBack } of losses) {
    test(`a store that is lost and ${what}: the limit and one share per node at most, no caller waits longer than a time-out`, () =>
      onNodes(async (nodes, proxy, redis) => {
        const before = await volley(nodes, 'reg', 10);
        assert.equal(admitted(before.decisions), 10 * nodeCount);
        // A machine that is busy with other things may have lost it for a moment already.
        const early = decidedByShare(nodes);

        await lose(proxy, redis);
        const first = await volley(nodes, 'reg', 200);
        assert.ok(first.slowestMs < timeoutMs + slackMs, `${first.slowestMs} ms`);
        for (const { breaker } of nodes) assert.equal(breaker.redis, undefined, 'it is not asked again');
        const again = nodes.map(({ windows }) => windows.decide('reg', limits, longAgo));
        for (const decision of again) assert.ok(!(decision instanceof Promise), 'no caller waits');
        // What was on its way may have been admitted and its answer lost, so the share counts alone.
        const byShare = early + admitted([...first.decisions, ...(again as LimitDecision[])]);
        assert.equal(byShare, nodeCount * shareOfLimits, 'never unlimited, and not less than a share');
        for (const { limits: told } of first.decisions) assert.equal(told, limits, 'the headers show the plan');

        await bringBack(proxy, redis);
        for (const { breaker } of nodes) {
          await eventually('the store is in use again', () => breaker.redis !== undefined, { withinMs: 20_000 });
        }
        const after = await volley(nodes, 'reg', 200);
        const total = admitted([...before.decisions, ...first.decisions, ...after.decisions]);
        assert.ok(total <= limits.perMinute + nodeCount * shareOfLimits, `${total} were admitted`);
        await eventually('the shares rest', async () => {
          const kept = decidedByShare(nodes);
          await volley(nodes, 'other', 1);
          return decidedByShare(nodes) === kept;
        });
      }));
  }

  test('by one node alone: the others go on sharing the limit, and it keeps to its share', () =>
    onNodes(async (nodes, proxy, redis) => {
      const [one, ...others] = nodes as [Node, ...Node[]];
      const direct = await createFaultProxy<Target>({ host: '127.0.0.1', port: redis.port });
      for (const other of others) {
        other.breaker.stop();
        other.breaker = createWindowBreaker({
          url: `redis://127.0.0.1:${direct.connection.port}`,
          log: createTestLog().log,
          timeoutMs,
        });
        other.windows = createRedisWindows({ breaker: other.breaker, share: other.share, clock: createTestClock() });
      }
      await begin(others);
      proxy.set({ kind: 'black-hole' });
      const cutOff = await volley([one], 'reg', 200);
      assert.equal(admitted(cutOff.decisions), shareOfLimits);
      const connected = await volley(others, 'reg', 200);
      assert.equal(admitted(connected.decisions), limits.perMinute);
      for (const { breaker } of others) breaker.stop();
      await direct.close();
    }));

  test('a store that comes back empty: nodes keep to shares for a minute, so that nothing is granted twice', () =>
    onNodes(async (nodes, _, redis) => {
      const before = await volley(nodes, 'reg', 100);
      assert.equal(admitted(before.decisions), limits.perMinute);
      await redis.stop();
      const during = await volley(nodes, 'reg', 100);
      await redis.start();
      const connected = async () => String(await redis.ask('CLIENT', 'LIST')).match(/name=heliograph/g)?.length;
      await eventually('all are connected again', async () => (await connected()) === nodeCount);
      const late = await volley(nodes, 'reg', 100);
      assert.equal(admitted([...during.decisions, ...late.decisions]), nodeCount * shareOfLimits);
      // A node that starts only now knows nothing of the server that was there before, and learns it from this one.
      const url = `redis://127.0.0.1:${redis.port}`;
      const fresh = createWindowBreaker({ url, log: createTestLog().log, timeoutMs });
      await fresh.start();
      assert.equal(fresh.redis, undefined, 'nor does a node that has just started rely on it');
      fresh.stop();
    }));

  test('a store that comes back empty is in use again after its probation', () =>
    onNodes(async (nodes, _, redis) => {
      await redis.stop();
      await volley(nodes, 'reg', 1);
      await redis.start();
      await eventually('it is in use', () => nodes.every(({ breaker }) => breaker.redis !== undefined), {
        withinMs: 20_000,
      });
      assert.equal(admitted((await volley(nodes, 'reg', 100)).decisions), limits.perMinute);
    }, 300));

  test('a replica that takes over may lack the last writes: nodes keep to shares for a minute', async () => {
    const [first, replica] = await Promise.all([startRedis(), startRedis({ settled: false })]);
    await replica.ask('REPLICAOF', '127.0.0.1', String(first.port));
    await eventually('it has copied everything', async () => (await replica.ask('EXISTS', ageKey)) === 1);
    await first.stop();
    await replica.ask('REPLICAOF', 'NO', 'ONE');
    const breaker = createWindowBreaker({ url: replica.url, log: createTestLog().log, timeoutMs });
    await breaker.start();
    assert.equal(breaker.redis, undefined);
    breaker.stop();
  });

  test('a store that is emptied by hand: within a second or so the nodes keep to their shares', () =>
    onNodes(async (nodes, _, redis) => {
      await redis.ask('FLUSHALL');
      await eventually('it is noticed', () => nodes.every(({ breaker }) => breaker.redis === undefined), {
        withinMs: 20_000,
      });
    }));
});

test('a node that stood still itself does not take the store for lost', async () => {
  // Without the proxy, which would stand still as well.
  const redis = await startRedis();
  const breaker = createWindowBreaker({ url: redis.url, log: createTestLog().log, timeoutMs: 500 });
  const share = createShareWindows({ clock: createTestClock(), liveNodes: () => 1 });
  const windows = createRedisWindows({ breaker, share, clock: createTestClock() });
  await breaker.start();
  for (let pause = 0; pause < 4; pause++) {
    const decision = windows.decide('reg', limits, longAgo);
    // Before it is written, or after.
    for (let turn = 0; turn < pause; turn++) await new Promise((done) => setImmediate(done));
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 600);
    assert.equal((await decision).admitted, true);
  }
  assert.ok(breaker.redis);
  assert.equal(share.decisions, 0);
  breaker.stop();
});

test('without a store at its start a node serves by its share', async () => {
  const breaker = createWindowBreaker({ url: 'redis://127.0.0.1:1', log: createTestLog().log, timeoutMs });
  await breaker.start();
  const share = createShareWindows({ clock: createTestClock(), liveNodes: () => 4 });
  const windows = createRedisWindows({ breaker, share, clock: createTestClock() });
  const decisions = await Promise.all(Array.from({ length: 40 }, async () => windows.decide('reg', limits, longAgo)));
  assert.equal(admitted(decisions), 25);
  assert.equal((await windows.peek('reg', limits)).remaining, 0);
  breaker.stop();
});
