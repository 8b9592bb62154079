import { minuteMs } from '../platform/clock.ts';
import type { Log } from '../platform/log.ts';
import { connectRedis, createScript, type Redis } from '../platform/redis.ts';
import { createMasterFinder, isSentinelAddress, readSentinelAddress } from '../platform/redis-sentinel.ts';

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
  /** The URL of Redis, or of Sentinels that name it. */
  url: string;
  log: Log;
  timeoutMs?: number;
  probeEveryMs?: number;
  /** How long the store must have kept its data before nodes rely on it. */
  settledAfterMs?: number;
}

const beatEveryMs = 1000;
/** A master without a replica for longer may be one that was cut off, beside the one that Sentinel has named since. */
const aloneForMs = 3000;
/** How often to poll Sentinels while the master answers: bounds the delay after a failover. */
const askSentinelEveryMs = 250;
/** Sentinels need not be as quick as the windows. */
const sentinelWithinMs = 1000;

export function createWindowBreaker(options: WindowBreakerOptions): WindowBreaker {
  const { url, log, timeoutMs = 100, probeEveryMs = 250, settledAfterMs = minuteMs } = options;
  let connected: Redis | undefined;
  let isSettled = false;
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  let said = '';
  /** Asks the Sentinels for the master. */
  const finder = isSentinelAddress(url) ? createFinder(url) : undefined;
  /** The server that is connected, or was last tried. */
  let triedUrl = url;
  let attempts = 0;
  let watch: NodeJS.Timeout | undefined;
  /** The server whose windows this node relied on, and whether a replica had all that it admitted. */
  let reliedOn: string | undefined;
  let wasReplicated = false;

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
    if (connected !== undefined) wasReplicated = connected.isReplicated();
    connected = undefined;
    say('warn', 'the window store is unavailable: each node enforces its share of the limits', {
      reason: error.message,
    });
    schedule(probe, probeEveryMs);
  }

  async function probe(): Promise<void> {
    const attempt = ++attempts;
    const isNewest = () => attempt === attempts;
    let target = url;
    try {
      if (finder !== undefined) target = await finder.find();
    } catch (error) {
      return onLost(error as Error);
    }
    if (!isNewest()) return;
    triedUrl = target;
    try {
      const onEnd = (error: Error) => isNewest() && onLost(error);
      const redis = await connectRedis({ url: target, timeoutMs, replicated: finder !== undefined, onLost: onEnd });
      if (stopped || !isNewest()) return redis.close();
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
    const args = [redis?.serverId ?? '', heirOf(redis?.serverId)];
    const [ageMs = 0] = (await redis?.run(ageScript, ageKey, args).catch(() => undefined)) ?? [];
    if (redis === undefined || redis !== connected) return;
    isSettled = ageMs >= settledAfterMs;
    if (finder !== undefined) reliedOn = redis.serverId;
    if (isSettled) say('info', 'the window store is in use');
    else say('warn', 'the window store may have lost data: each node enforces its share for one minute');
    schedule(beat, isSettled ? beatEveryMs : Math.min(beatEveryMs, settledAfterMs - ageMs));
  }

  /** Only with Sentinels. A new master has its first replica within a second or two. */
  function isAlone(): boolean {
    if (finder === undefined || connected === undefined) return false;
    return connected.unreplicatedForMs() > aloneForMs;
  }

  /**
   * The server whose windows the connected one may continue without a break, because a replica had confirmed all of them.
   */
  function heirOf(serverId: string | undefined): string {
    if (reliedOn === undefined || reliedOn === serverId) return '';
    return wasReplicated ? reliedOn : lost;
  }

  /** Sentinels may have named another master while the old one still answers, or while a frozen one is waited for. */
  async function watchSentinels(): Promise<void> {
    const named = await finder?.find().catch(() => undefined);
    if (stopped) return;
    if (named !== undefined && named !== triedUrl) {
      connected?.close();
      if (connected !== undefined) onLost(new Error('Sentinel named another master'));
      schedule(probe, 0);
    }
    watch = setTimeout(() => void watchSentinels(), askSentinelEveryMs).unref();
  }

  return {
    get redis() {
      return isSettled && !isAlone() ? connected : undefined;
    },
    async start() {
      await probe();
      if (finder !== undefined) void watchSentinels();
    },
    stop() {
      stopped = true;
      clearTimeout(timer);
      clearTimeout(watch);
      finder?.close();
      connected?.close();
      connected = undefined;
    },
  };
}

function createFinder(url: string) {
  return createMasterFinder({
    address: readSentinelAddress(url),
    connect: (sentinel, onLost) => connectRedis({ url: sentinel, timeoutMs: sentinelWithinMs, onLost }),
  });
}

export const ageKey = 'hg:server';
/** Replaces a server's id if admissions there may be missing on the new server. */
const lost = 'lost';

/**
 * Returns how long this server has kept its data. A server that restarted or took over (the stored server id differs),
 * or that has no stored id, may have lost recent admissions: its age starts at 0. One that takes over from the server
 * that the caller names keeps its age: a replica had confirmed each admission.
 */
const ageScript = createScript(`
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local kept = redis.call('HMGET', KEYS[1], 'server', 'since')
local since = tonumber(kept[2])
if kept[1] and kept[1] == ARGV[2] and since <= now then
  redis.call('HSET', KEYS[1], 'server', ARGV[1])
elseif kept[1] ~= ARGV[1] or since > now or ARGV[2] == 'lost' then
  since = now
  redis.call('HSET', KEYS[1], 'server', ARGV[1], 'since', since)
end
return { now - since }
`);
