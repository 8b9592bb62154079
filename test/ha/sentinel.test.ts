// run: alone
// Redis behind Sentinels loses its master again and again, while two nodes use up the limits of a few callers.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createRedisWindows } from '../../src/edge/redis-windows.ts';
import { createShareWindows } from '../../src/edge/share-windows.ts';
import { createWindowBreaker, type WindowBreaker } from '../../src/edge/window-breaker.ts';
import type { Windows } from '../../src/edge/windows.ts';
import type { Limits } from '../../src/http/admission.ts';
import { minuteMs, systemClock } from '../../src/platform/clock.ts';
import { inShort } from '../support/effort.ts';
import { eventually } from '../support/eventually.ts';
import { tellFigure } from '../support/figures.ts';
import { longAgo } from '../support/limiter-model.ts';
import { createTestLog } from '../support/log.ts';
import { type SentinelWorld, startSentinels } from '../support/sentinels.ts';

const failovers = inShort(1, 20);
const nodeCount = 2;
/** Of one minute and one second: callers that meet the first, the second, or both. */
const callers: Record<string, Limits> = {
  minute: { perMinute: 120, burst: 120 },
  burst: { perMinute: 6000, burst: 20 },
  both: { perMinute: 300, burst: 30 },
};
const pauseMs = 25;
/** Longer than any failover. */
const probationMs = 50_000;

interface Node {
  windows: Windows;
  breaker: WindowBreaker;
}

interface Admission {
  caller: string;
  atMs: number;
  /** By the shared windows, or by the node's share. */
  isShared: boolean;
}

const admissions: Admission[] = [];
let world: SentinelWorld;
let nodes: Node[];
let isOver = false;
let load: Promise<unknown>;
before(async () => {
  world = await startSentinels();
  nodes = Array.from({ length: nodeCount }, () => {
    const breaker = createWindowBreaker({ url: world.url, log: createTestLog().log, timeoutMs: inShort(500, 100) });
    const share = createShareWindows({ clock: systemClock, liveNodes: () => nodeCount });
    return { breaker, windows: createRedisWindows({ breaker, share, clock: systemClock }) };
  });
  await Promise.all(nodes.map(({ breaker }) => breaker.start()));
  await areInUse();
  load = Promise.all(nodes.flatMap((node) => Object.keys(callers).map((caller) => send(node, caller))));
});
after(async () => {
  isOver = true;
  await load;
  for (const { breaker } of nodes) breaker.stop();
  await world.close();
});

/** Decisions of a share carry no time of Redis: its clock counts from 1970, a node's own from its start. */
async function send({ windows }: Node, caller: string): Promise<void> {
  const limits = callers[caller] ?? assert.fail(caller);
  while (!isOver) {
    const { admitted, chargedAtMs } = await windows.decide(caller, limits, longAgo);
    const isShared = (chargedAtMs ?? 0) > 1e12;
    if (admitted) admissions.push({ caller, atMs: isShared ? (chargedAtMs ?? 0) : Date.now(), isShared });
    await new Promise((done) => setTimeout(done, pauseMs));
  }
}

function areInUse(): Promise<unknown> {
  return eventually(
    'both nodes use the shared windows',
    () => nodes.every(({ breaker }) => breaker.redis !== undefined),
    {
      withinMs: 120_000,
    },
  );
}

test('a master is lost: nodes take their share, follow Sentinel, and no window exceeds its limit by more', async () => {
  const followedMs: number[] = [];
  let probations = 0;
  for (let turn = 0; turn < failovers; turn++) {
    await world.replicated();
    // Until a replica has confirmed what the nodes admitted.
    await new Promise((done) => setTimeout(done, 2500));
    const lost = await world.master();
    // A frozen one wakes up later, still as a master.
    const isFrozen = turn % 2 === 1;
    const decision = world.decision();
    const before = nodes.map(({ breaker }) => breaker.redis?.serverId);
    world.signal(lost, isFrozen ? 'SIGSTOP' : 'SIGKILL');
    const decidedAtMs = await decision;
    await Promise.all(nodes.map((node, place) => usesAnother(node, before[place])));
    const tookMs = Math.max(0, performance.now() - decidedAtMs);
    if (tookMs > probationMs) probations++;
    else followedMs.push(tookMs);
    if (isFrozen) world.signal(lost, 'SIGCONT');
    else await world.restart(lost);
  }
  if (failovers > 1) await new Promise((done) => setTimeout(done, minuteMs));
  const sorted = followedMs.map(Math.round).toSorted((one, other) => one - other);
  tellFigure(`failovers of Redis by Sentinel: ${failovers}, half of them frozen masters`);
  tellFigure(`ms from Sentinel's +switch-master until both nodes used the new master: ${sorted.join(', ')}`);
  // A short form runs beside other tests, on a machine that is busy with them.
  const slowestMs = inShort(60_000, 2000);
  assert.ok((sorted.at(-1) ?? 0) <= slowestMs, `a failover took ${sorted.at(-1)} ms from Sentinel's decision`);
  tellFigure(`failovers after which the windows were on probation for a minute: ${probations}`);
  for (const [caller, { perMinute, burst }] of Object.entries(callers)) {
    const own = admissions.filter((admission) => admission.caller === caller);
    assert.ok(own.some(({ isShared }) => isShared));
    const shared = own.filter(({ isShared }) => isShared);
    const most = { minute: mostWithin(own, minuteMs), second: mostWithin(own, 1000) };
    const mostShared = { minute: mostWithin(shared, minuteMs), second: mostWithin(shared, 1000) };
    tellFigure(`${caller} (${perMinute} a minute, ${burst} a second): most in a window ${most.minute}, ${most.second}`);
    tellFigure(`${caller}, by the shared windows alone: ${mostShared.minute}, ${mostShared.second}`);
    const shares = (limit: number) => nodeCount * Math.ceil(limit / nodeCount);
    assert.ok(most.minute <= perMinute + shares(perMinute), `${caller}: ${most.minute} in a minute`);
    assert.ok(most.second <= burst + shares(burst), `${caller}: ${most.second} in a second`);
    // A replica had each of them, so the windows stayed exact.
    if (probations === 0)
      assert.ok(mostShared.minute <= perMinute, `${caller}: ${mostShared.minute} shared in a minute`);
    if (probations === 0) assert.ok(mostShared.second <= burst, `${caller}: ${mostShared.second} shared in a second`);
  }
});

function usesAnother({ breaker }: Node, before: string | undefined): Promise<unknown> {
  const isAnother = () => breaker.redis !== undefined && breaker.redis.serverId !== before;
  return eventually('the node uses the new master', isAnother, { withinMs: 120_000 });
}

function mostWithin(list: Admission[], windowMs: number): number {
  const times = list.map(({ atMs }) => atMs).sort((one, other) => one - other);
  let most = 0;
  for (let first = 0, last = 0; last < times.length; last++) {
    while ((times[last] ?? 0) - (times[first] ?? 0) >= windowMs) first++;
    most = Math.max(most, last - first + 1);
  }
  return most;
}
