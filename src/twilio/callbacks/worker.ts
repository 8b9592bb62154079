// Tests: test/twilio/callbacks.test.ts, test/twilio/callback-worker.test.ts
import { setMaxListeners } from 'node:events';
import { findByKeys } from '../../messages/message-store.ts';
import { findTextTraces } from '../../messages/text/text-traces.ts';
import { createBoundedMap } from '../../platform/bounded-map.ts';
import type { Clock } from '../../platform/clock.ts';
import { randomFraction } from '../../platform/crypto/random.ts';
import type { Database } from '../../platform/database/database.ts';
import type { CallAnswer, GuardedClient } from '../../platform/http-out/client.ts';
import type { Log } from '../../platform/log.ts';
import { type SpanIds, toTraceparent } from '../../platform/tracing/trace-context.ts';
import type { Tracer } from '../../platform/tracing/tracer.ts';
import { createWakeableSleep } from '../../platform/work/wakeable-sleep.ts';
import { type Health, laneOf, latencyAfter, quickWithinMs } from '../../webhooks/pace.ts';
import { readRetryAfter, waitAfterMs } from '../../webhooks/schedule.ts';
import { createShares, type Holding, type Seeker } from '../../webhooks/shares.ts';
import type { TwilioTokens } from '../token.ts';
import { findNewest, hasTokens } from '../token-store.ts';
import { type StatusCall, toRequest } from './call.ts';
import { toSpan } from './span.ts';
import {
  claimCalls,
  deleteCalls,
  deleteCallsOf,
  findAccounts,
  findReady,
  giveBackCall,
  type ReadyCall,
  repeatCall,
} from './store.ts';

export interface CallbackWorkerOptions {
  database: Database;
  clock: Clock;
  log: Log;
  client: GuardedClient;
  tokens: TwilioTokens;
  /** Undefined unless texts are traced. */
  tracer?: Tracer | undefined;
  /** Maximum concurrent calls. */
  most?: number;
}

/** Calls the status callback URLs of texts. Several nodes may run a worker: a call is claimed by one at a time. */
export interface CallbackWorker {
  start(): void;
  stop(): Promise<void>;
  /** A text may have changed. */
  wake(): void;
}

/** The attempts follow after 0 s, 5 s, 30 s, 2 min and 10 min. */
const mostAttempts = 5;
/** Maximum claims of one poll: it reads their messages together. */
const mostTaken = 40;
const pollEveryMs = 1000;
/** Minimum pause between searches, however often texts change: after one that found calls, and after one that found none. */
const shortestPauseMs = { found: 50, none: 250 };
/** Maximum time for calls under way when the worker stops. */
const endWithinMs = 800;
const rememberedEndpoints = 10_000;

/** An address that waits for a call. */
interface Waiting extends Seeker {
  call: ReadyCall;
}

export function createCallbackWorker(options: CallbackWorkerOptions): CallbackWorker {
  const { database, clock, log, client, tokens, tracer, most = 64 } = options;
  const sleep = createWakeableSleep();
  const shares = createShares(most);
  const health = createBoundedMap<string, Pick<Health, 'failures' | 'latencyMs'>>(rememberedEndpoints);
  const underWay = new Set<Promise<void>>();
  const broken = new AbortController();
  // Each call under way adds a listener, so there is no maximum.
  setMaxListeners(0, broken.signal);
  let isHeldUp = false;
  /** Whether any application had a token at the last check: without one, no text has a callback URL. */
  let isUsed = true;
  /** Where the next search begins: with many applications, one search does not see them all. */
  let from: string | undefined;
  let running: Promise<void> = Promise.resolve();

  const healthOf = (endpoint: string) => health.get(endpoint) ?? { failures: 0, latencyMs: null };

  async function findWaiting(): Promise<Set<Waiting>> {
    const { calls, next } = await findReady(database, from, clock.nowMs());
    from = next;
    if (calls.length === 0) return new Set();
    const accounts = await findAccounts(database, [...new Set(calls.map(({ applicationId }) => applicationId))]);
    const gone = calls.filter(({ applicationId }) => !accounts.has(applicationId));
    if (gone.length > 0)
      await deleteCallsOf(
        database,
        gone.map(({ applicationId }) => applicationId),
      );
    const waiting = calls.flatMap((call): Waiting[] => {
      const account = accounts.get(call.applicationId) ?? null;
      if (account === null) return [];
      const endpoint = endpointOf(call.applicationId, call.host);
      return [{ account, endpoint, lane: laneOf(healthOf(endpoint)), call }];
    });
    return new Set(waiting);
  }

  /** Claims due calls in turns, by account and then by endpoint, and begins them. Returns how many. */
  async function takeTurn(): Promise<number> {
    const waiting = await findWaiting();
    const chosen = new Map<string, Holding>();
    const keys: ReadyCall[] = [];
    while (keys.length < mostTaken) {
      const turn = shares.next(waiting);
      if (turn === undefined) break;
      waiting.delete(turn.seeker);
      const { call } = turn.seeker;
      chosen.set(keyOf(call), shares.take(turn));
      keys.push(call);
    }
    if (keys.length === 0) return 0;
    try {
      await beginAll(await claimCalls(database, keys, clock.nowMs()), chosen);
    } finally {
      // Another worker was faster, or the database is down.
      for (const holding of chosen.values()) shares.free(holding);
    }
    return keys.length;
  }

  async function beginAll(claimed: StatusCall[], chosen: Map<string, Holding>): Promise<void> {
    const applications = [...new Set(claimed.map(({ applicationId }) => applicationId))];
    const newest = await findNewest(database, applications);
    const texts = await findByKeys(
      database,
      claimed.map(({ applicationId, messageId: id }) => ({ applicationId, api: 'sms', id })),
    );
    const ids = claimed.map(({ messageId }) => messageId);
    const traces = tracer && (await findTextTraces(database, ids));
    const unsigned: StatusCall[] = [];
    claimed.forEach((call, index) => {
      const [token, text, holding] = [newest.get(call.applicationId), texts[index], chosen.get(keyOf(call))];
      // The credentials or the text were deleted: there is nothing to sign with, or to report.
      if (token === undefined || text === undefined) unsigned.push(call);
      else if (holding !== undefined) {
        chosen.delete(keyOf(call));
        begin(
          call,
          toRequest(call, text, tokens.derive(token)),
          holding,
          tracer?.belowKept(traces?.get(call.messageId)),
        );
      }
    });
    if (unsigned.length > 0) await deleteCalls(database, unsigned);
  }

  function begin(
    call: StatusCall,
    request: ReturnType<typeof toRequest>,
    holding: Holding,
    ids: SpanIds | undefined,
  ): void {
    const startMs = clock.steadyMs();
    if (ids !== undefined) request.headers.traceparent = toTraceparent(ids);
    const slow = setTimeout(() => shares.move(holding, 'slow'), quickWithinMs);
    const made = client
      .call({ ...request, signal: broken.signal })
      .then((answer) => {
        if (ids !== undefined) tracer?.end(toSpan(ids, call, answer, { startMs, endMs: clock.steadyMs() }));
        return settle(call, answer, holding.endpoint);
      })
      .catch((error: Error) =>
        log.warn({ reason: error.message }, 'a status callback was not recorded; it is repeated'),
      )
      .finally(() => {
        clearTimeout(slow);
        shares.free(holding);
        underWay.delete(made);
        sleep.wake();
      });
    underWay.add(made);
  }

  async function settle(
    call: StatusCall,
    { error, statusCode, milliseconds, retryAfter }: CallAnswer,
    endpoint: string,
  ) {
    if (broken.signal.aborted && error !== null) return giveBackCall(database, call);
    const { failures, latencyMs } = healthOf(endpoint);
    health.set(endpoint, {
      failures: error === null ? 0 : failures + 1,
      latencyMs: latencyAfter(latencyMs, milliseconds),
    });
    const nowMs = clock.nowMs();
    const mayAsk = statusCode === 429 || statusCode === 503;
    const retryAfterMs = mayAsk ? readRetryAfter(retryAfter, nowMs) : undefined;
    const waitMs = waitAfterMs(call.attempts, { fraction: randomFraction(), retryAfterMs });
    if (error === null || call.attempts >= mostAttempts || waitMs === undefined) return deleteCalls(database, [call]);
    return repeatCall(database, call, nowMs + waitMs);
  }

  /** Returns whether there may be more to find. */
  async function search(): Promise<boolean> {
    if (!shares.hasRoom(true) && !shares.hasRoom(false)) return false;
    const began = await takeTurn();
    isUsed = began > 0 || (await hasTokens(database));
    return began === mostTaken || from !== undefined;
  }

  async function work(): Promise<void> {
    while (!sleep.stopped) {
      const seen = sleep.wakes;
      let hasMore = false;
      try {
        hasMore = await search();
        isHeldUp = false;
      } catch (error) {
        if (!isHeldUp && !sleep.stopped)
          log.warn({ reason: (error as Error).message }, 'status callbacks cannot be called; will retry');
        isHeldUp = true;
      }
      await sleep.ignoringWakes(hasMore || underWay.size > 0 ? shortestPauseMs.found : shortestPauseMs.none);
      if (!hasMore && sleep.wakes === seen) await sleep.untilWoken(pollEveryMs);
    }
  }

  return {
    start() {
      running = client.prepare().then(work);
    },
    async stop() {
      sleep.stop();
      await running;
      const timer = setTimeout(() => broken.abort(), endWithinMs);
      await Promise.all(underWay);
      clearTimeout(timer);
      await client.close();
    },
    wake() {
      if (isUsed) sleep.wake();
    },
  };
}

function keyOf({ messageId, sequence }: { messageId: string; sequence: number }): string {
  return `${messageId} ${sequence}`;
}

/** The host of an application is one endpoint, whatever its paths. */
function endpointOf(applicationId: string, host: string): string {
  return `${applicationId} ${host}`;
}
