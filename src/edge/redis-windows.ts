import type { LimitDecision, Limits } from '../http/admission.ts';
import type { Clock } from '../platform/clock.ts';
import { graceMs } from './lockout.ts';
import { readDecision, readStanding, windowScript } from './redis-window-script.ts';
import type { ShareWindows } from './share-windows.ts';
import type { WindowBreaker } from './window-breaker.ts';
import type { Windows } from './windows.ts';

export interface RedisWindowsOptions {
  breaker: Pick<WindowBreaker, 'redis'>;
  /** Decides while Redis is away. */
  share: ShareWindows;
  clock: Clock;
  /** Tests set the time; otherwise Redis's own clock decides. */
  timeUs?: () => number;
}

interface Waiting {
  informedAtMs: number;
  resolve(decision: LimitDecision): void;
}

/** Requests of one caller from the same event-loop turn. One script call decides them all. */
interface Batch {
  limits: Limits;
  waiting: Waiting[];
}

/** The exact windows of all registrations, shared by all nodes through Redis. */
export function createRedisWindows({ breaker, share, clock, timeUs }: RedisWindowsOptions): Windows {
  let batches = new Map<string, Batch>();
  /** Decisions that this node's share made: their charges are given back to the share. */
  const ofShare = new WeakSet<LimitDecision>();
  /** Duration of the last call. The script runs about half of it after we sent its arguments. */
  let lastTripMs = 0;

  /** Sends the requests of one event-loop turn in one write: one pipelined call per caller. */
  function sendAll(): void {
    const sending = batches;
    batches = new Map();
    for (const [key, batch] of sending) void send(key, batch);
  }

  async function send(key: string, { limits, waiting }: Batch): Promise<void> {
    const sentMs = clock.steadyMs();
    const quiet = waiting.map(({ informedAtMs }) => quietUs(sentMs - informedAtMs + lastTripMs / 2));
    const answer = await ask(key, limits, quiet);
    lastTripMs = clock.steadyMs() - sentMs;
    waiting.forEach(({ informedAtMs, resolve }, place) => {
      resolve(answer === undefined ? decideByShare(key, limits, informedAtMs) : readDecision(answer, place, limits));
    });
  }

  function decideByShare(key: string, limits: Limits, informedAtMs: number): LimitDecision {
    const decision = share.decide(key, limits, informedAtMs);
    ofShare.add(decision);
    return decision;
  }

  /** Undefined when Redis did not answer; the breaker has noticed by then. */
  async function ask(
    key: string,
    { perMinute, burst }: Limits,
    rest: (number | 'back')[],
  ): Promise<number[] | undefined> {
    const args = [perMinute, burst, timeUs?.() ?? '', ...rest].map(String);
    return breaker.redis?.run(windowScript, keyOf(key), args).catch(() => undefined);
  }

  function decide(key: string, limits: Limits, informedAtMs: number): LimitDecision | Promise<LimitDecision> {
    if (breaker.redis === undefined) return decideByShare(key, limits, informedAtMs);
    if (batches.size === 0) setImmediate(sendAll);
    const batch = batches.get(key);
    return new Promise((resolve) => {
      if (batch?.limits.perMinute === limits.perMinute && batch.limits.burst === limits.burst) {
        batch.waiting.push({ informedAtMs, resolve });
        return;
      }
      // The plan changed within this turn: each request is decided by the limits it came with.
      if (batch !== undefined) void send(key, batch);
      batches.set(key, { limits, waiting: [{ informedAtMs, resolve }] });
    });
  }

  return {
    decide,
    async peek(key, limits) {
      const answer = await ask(key, limits, []);
      return answer === undefined ? share.peek(key, limits) : readStanding(answer, limits);
    },
    async giveBack(key, decision) {
      const { limits, chargedAtMs } = decision;
      if (ofShare.has(decision)) return share.giveBack(key, decision);
      const charge = chargedAtMs === undefined ? [] : (['back', Math.round(chargedAtMs * 1000)] as const);
      const answer = await ask(key, limits, [...charge]);
      return answer === undefined ? share.peek(key, limits) : readStanding(answer, limits);
    },
  };
}

const noPenalty = -1;

/** Rounds up, so that a request already on its way is never punished. After `graceMs` every request can know. */
function quietUs(quietMs: number): number {
  if (Number.isNaN(quietMs)) return noPenalty;
  return Math.ceil(Math.min(Math.max(quietMs, 0), graceMs) * 1000);
}

/** The braces are a Redis Cluster hash tag: registrations are spread over the servers. */
function keyOf(key: string): string {
  return `hg:{${key}}`;
}
