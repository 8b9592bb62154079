// run: with cluster
// "Redis gone for 5 s under load: never more than the limit plus one share per node in a window, no 500, added latency at
// most one command timeout."
import assert from 'node:assert/strict';
import { before, describe, type TestContext, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { createRegistered } from '../support/applications.ts';
import type { Cluster } from '../support/cluster.ts';
import { send, type TestDeveloper } from '../support/developer.ts';
import { inShort } from '../support/effort.ts';
import { eventually } from '../support/eventually.ts';
import { smallPlan as plan, shareCluster } from '../support/shared-cluster.ts';

const share = Math.ceil(plan.per_minute / 3);
/** What a request may take: one time-out of 100 ms, and what a machine that is busy with other things adds to it. */
const withinMs = 100 + inShort(20_000, 2500);

let cluster: Cluster;
let developer: TestDeveloper;
before(async () => {
  ({ cluster, developer } = await shareCluster());
});

/** Between two requests of one caller. */
const breathMs = inShort(40, 10);

interface Shot {
  atMs: number;
  tookMs: number;
  status: number;
}

interface Storm {
  shots: Shot[];
  admitted(): Shot[];
  stop(): Promise<void>;
}

/** Callers at every node who take no notice of being refused. */
function startStorm(apikey: string): Storm {
  const shots: Shot[] = [];
  let stopped = false;
  async function shoot({ url }: { url: string }): Promise<void> {
    while (!stopped) {
      const atMs = performance.now();
      const { status, headers } = await send({ url }, 'POST', '/sms/v1/messages/preview', {
        headers: { apikey },
        body: { from: 'ACME', message: 'Hello' },
      });
      shots.push({ atMs, tookMs: performance.now() - atMs, status });
      assert.equal(headers.get('RateLimit-Limit'), String(plan.per_minute), 'the plan, no matter which node decides');
      if (status === 429) assert.ok(Number(headers.get('Retry-After')) >= 1);
      await pause(breathMs);
    }
  }
  const callers = cluster.nodes.flatMap((node) => [shoot(node), shoot(node)]);
  return {
    shots,
    admitted: () => shots.filter(({ status }) => status === 200),
    async stop() {
      stopped = true;
      await Promise.all(callers);
    },
  };
}

function assertBounded(t: TestContext, { shots, admitted }: Storm): void {
  const statuses = new Set(shots.map(({ status }) => status));
  assert.deepEqual(
    [...statuses].filter((status) => status !== 200 && status !== 429),
    [],
    'nothing but answers and refusals',
  );
  const slowestMs = Math.max(...shots.map(({ tookMs }) => tookMs));
  assert.ok(slowestMs < withinMs, `the slowest took ${slowestMs} ms`);
  const times = admitted().map(({ atMs, tookMs }) => atMs + tookMs);
  let most = 0;
  for (const start of times) most = Math.max(most, times.filter((at) => at >= start && at < start + 60_000).length);
  t.diagnostic(
    `${shots.length} requests, ${times.length} admitted, ${most} in a window, slowest ${Math.round(slowestMs)} ms`,
  );
  assert.ok(most <= plan.per_minute + 3 * share, `${most} were admitted in a window`);
  assert.ok(times.length > plan.burst, 'and the shares were granted');
}

async function usesItsLimit({ admitted }: Storm): Promise<void> {
  await eventually('the limit is used', () => admitted().length >= plan.burst);
}

async function storeIs(state: 'ok' | 'away'): Promise<void> {
  await eventually(`the store is ${state} for all`, async () => {
    const answers = await Promise.all(
      cluster.nodes.map((node) => send<{ checks: Record<string, string> }>(node, 'GET', '/readyz')),
    );
    for (const { status } of answers) assert.equal(status, 200, 'a lost store takes no node out of rotation');
    return answers.every(({ body }) => body.checks.window_store === state);
  });
}

describe('Redis gone under load', () => {
  const settleMs = inShort(700, 1500);
  const goneMs = inShort(1500, 5000);

  for (const kind of inShort(['black-hole'] as const, ['black-hole', 'reset'] as const)) {
    test(`${kind === 'reset' ? 'Redis resets connections' : 'Redis falls silent'}: the limit and one share per node`, async (t) => {
      await storeIs('ok');
      const own = await createRegistered(cluster.nodes[0] as { url: string }, ['sms'], 'free', developer);
      const storm = startStorm(own.apiKey);
      await usesItsLimit(storm);
      for (const { redis } of cluster.nodes) redis.set({ kind });
      await pause(goneMs);
      for (const { redis } of cluster.nodes) redis.set({ kind: 'pass' });
      await storeIs('ok');
      await pause(settleMs);
      await storm.stop();
      assertBounded(t, storm);
    });
  }

  test('it is killed and comes back empty: the limit and one share per node', async (t) => {
    await storeIs('ok');
    const own = await createRegistered(cluster.nodes[0] as { url: string }, ['sms'], 'free', developer);
    const storm = startStorm(own.apiKey);
    await usesItsLimit(storm);
    await cluster.redis.stop();
    await pause(goneMs);
    await cluster.redis.start();
    await pause(inShort(1500, 70_000));
    await storm.stop();
    assertBounded(t, storm);
  });
});
