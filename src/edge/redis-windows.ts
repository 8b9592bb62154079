import { readDecision, readStanding, windowScript } from './redis-window-script.ts';
import type { ShareWindows } from './share-windows.ts';
import type { Decision, Limits } from './sliding-window.ts';
import type { WindowBreaker } from './window-breaker.ts';
import type { RegistrationWindows } from './windows.ts';

export interface RedisWindowsOptions {
  breaker: Pick<WindowBreaker, 'redis'>;
  /** Decides when the store cannot. */
  share: ShareWindows;
  /** Tests turn the time; otherwise Redis's own clock decides. */
  timeUs?: () => number;
}

/** Requests of one caller that arrived together: one call of the script decides them all. */
interface Batch {
  limits: Limits;
  waiting: ((decision: Decision) => void)[];
}

/** The exact windows of all registrations, shared by all nodes. */
export function createRedisWindows({ breaker, share, timeUs }: RedisWindowsOptions): RegistrationWindows {
  let batches = new Map<string, Batch>();

  /** What the sockets bring in one turn goes out in one write: one call for each caller, pipelined. */
  function sendAll(): void {
    const sending = batches;
    batches = new Map();
    for (const [key, batch] of sending) void send(key, batch);
  }

  async function send(key: string, { limits, waiting }: Batch): Promise<void> {
    const answer = await ask(key, limits, waiting.length);
    waiting.forEach((resolve, place) => {
      resolve(answer === undefined ? share.decide(key, limits) : readDecision(answer, place, limits));
    });
  }

  /** Undefined when the store has no answer, of which the breaker knows by then. */
  async function ask(key: string, limits: Limits, requests: number): Promise<number[] | undefined> {
    const args = [limits.perMinute, limits.burst, requests, ...(timeUs === undefined ? [] : [timeUs()])];
    return breaker.redis?.run(windowScript, keyOf(key), args.map(String)).catch(() => undefined);
  }

  function decide(key: string, limits: Limits): Decision | Promise<Decision> {
    if (breaker.redis === undefined) return share.decide(key, limits);
    if (batches.size === 0) setImmediate(sendAll);
    const batch = batches.get(key);
    return new Promise((resolve) => {
      if (batch?.limits.perMinute === limits.perMinute && batch.limits.burst === limits.burst) {
        batch.waiting.push(resolve);
        return;
      }
      // The plan changed within this turn: each is decided by the limits it came with.
      if (batch !== undefined) void send(key, batch);
      batches.set(key, { limits, waiting: [resolve] });
    });
  }

  return {
    decide,
    of: (key) => ({ decide: (limits) => decide(key, limits) }),
    async peek(key, limits) {
      const answer = await ask(key, limits, 0);
      return answer === undefined ? share.peek(key, limits) : readStanding(answer, limits);
    },
  };
}

/** The braces are a hash tag: a cluster of Redis servers is divided by registration. */
function keyOf(key: string): string {
  return `hg:{${key}}`;
}
