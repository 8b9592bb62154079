import { minuteMs } from '../platform/clock.ts';
import type { Log } from '../platform/log.ts';
import { connectRedis, createScript, type Redis } from '../platform/redis.ts';

/**
 * The connection to the window store. At the first timeout it gives up all waiting requests, so none waits longer, and
 * reconnects in the background.
 */
export interface WindowBreaker {
  /** The connection, while the store is reliable. */
  readonly redis: Redis | undefined;
  /** Resolves after the first attempt, successful or not. */
  start(): Promise<void>;
  stop(): void;
}

export interface WindowBreakerOptions {
  url: string;
  log: Log;
  timeoutMs?: number;
  probeEveryMs?: number;
  /** How long the store must have kept its data before nodes rely on it. */
  settledAfterMs?: number;
}

const beatEveryMs = 1000;

export function createWindowBreaker(options: WindowBreakerOptions): WindowBreaker {
  const { url, log, timeoutMs = 100, probeEveryMs = 250, settledAfterMs = minuteMs } = options;
  let connected: Redis | undefined;
  let isSettled = false;
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  let said = '';

  /** Logs each change of state once. */
  function say(level: 'info' | 'warn', state: string, detail: object = {}): void {
    if (state !== said && !stopped) log[level](detail, state);
    said = state;
  }

  function schedule(work: () => Promise<void>, afterMs: number): void {
    clearTimeout(timer);
    if (!stopped) timer = setTimeout(() => void work(), afterMs).unref();
  }

  function onLost(error: Error): void {
    connected = undefined;
    say('warn', 'the window store is unavailable: each node enforces its share of the limits', {
      reason: error.message,
    });
    schedule(probe, probeEveryMs);
  }

  async function probe(): Promise<void> {
    try {
      const redis = await connectRedis({ url, timeoutMs, onLost });
      if (stopped) return redis.close();
      isSettled = false;
      connected = redis;
      await beat();
    } catch {
      // `onLost` has already scheduled the next attempt.
    }
  }

  /** Also detects that an unused store has gone away or was emptied. */
  async function beat(): Promise<void> {
    const redis = connected;
    const [ageMs = 0] = (await redis?.run(ageScript, ageKey, [redis.serverId]).catch(() => undefined)) ?? [];
    if (redis === undefined || redis !== connected) return;
    isSettled = ageMs >= settledAfterMs;
    if (isSettled) say('info', 'the window store is in use');
    else say('warn', 'the window store may have lost data: each node enforces its share for one minute');
    schedule(beat, isSettled ? beatEveryMs : Math.min(beatEveryMs, settledAfterMs - ageMs));
  }

  return {
    get redis() {
      return isSettled ? connected : undefined;
    },
    start: probe,
    stop() {
      stopped = true;
      clearTimeout(timer);
      connected?.close();
      connected = undefined;
    },
  };
}

export const ageKey = 'hg:server';

/**
 * Returns how long this server has kept its data. A server that restarted or took over (the stored server id differs),
 * or that has no stored id, may have lost recent admissions: its age starts at 0.
 */
const ageScript = createScript(`
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local kept = redis.call('HMGET', KEYS[1], 'server', 'since')
local since = tonumber(kept[2])
if kept[1] ~= ARGV[1] or since > now then
  since = now
  redis.call('HSET', KEYS[1], 'server', ARGV[1], 'since', since)
end
return { now - since }
`);
