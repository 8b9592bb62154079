import type { Admission, Gateway, LimitDecision } from '../../src/http/admission.ts';
import type { Bulkheads } from '../../src/http/mount.ts';
import type { Route } from '../../src/http/route.ts';
import { createServer, type ServerTimeouts } from '../../src/http/server.ts';
import type { Clock } from '../../src/platform/clock.ts';
import { createMetrics } from '../../src/platform/metrics/metrics.ts';
import { createTestClock } from '../support/clock.ts';
import { createTestLog } from '../support/log.ts';

export function decisionOf(perMinute: number): LimitDecision {
  return {
    admitted: true,
    limits: { perMinute, burst: perMinute },
    remaining: perMinute - 1,
    resetMs: 60_000,
    nextFreeMs: 0,
    retryAfterMs: 0,
    refusedBy: undefined,
    chargedAtMs: undefined,
  };
}

/** What the tests' gateway gives every answer, also to bytes that are not a request. */
export const gatewayHeaders = { 'RateLimit-Limit': '60', 'RateLimit-Remaining': '59', 'RateLimit-Reset': '60' };
export const admission: Admission = {
  caller: { kind: 'anonymous' },
  decision: decisionOf(60),
  counted: false,
  refusal: undefined,
};

const openGateway: Gateway = { admit: () => admission, giveBack: () => decisionOf(60), peek: () => decisionOf(60) };

export interface BareServer {
  port: number;
  logLines: string[];
  /** How many requests each lane has read. */
  requestsByLane(): Promise<Record<string, number>>;
  close(drainMs?: number): Promise<void>;
}

export interface BareServerOptions {
  routes: Route[];
  gateway?: Gateway;
  bulkheads?: Bulkheads;
  timeouts?: Partial<ServerTimeouts>;
  clock?: Clock;
  waitedMs?: () => number;
  /** By default the lane that the test runner asks for. */
  plainLane?: boolean;
}

/** The HTTP layer alone on a real socket, behind a gateway of the test's own. */
export async function startBareServer({
  routes,
  gateway = openGateway,
  bulkheads,
  timeouts = {},
  clock = createTestClock(),
  waitedMs,
  plainLane = process.env.HELIOGRAPH_HTTP_LANE !== 'node',
}: BareServerOptions): Promise<BareServer> {
  const { log, lines } = createTestLog();
  const metrics = createMetrics();
  const server = createServer({
    routes,
    gateway,
    clock,
    plainLane,
    log,
    metrics,
    timeouts,
    ...(bulkheads && { bulkheads }),
    ...(waitedMs && { waitedMs }),
  });
  await server.listen({ port: 0, host: '127.0.0.1' });
  const address = server.listener.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    port,
    logLines: lines,
    async requestsByLane() {
      const { values } = (await metrics.registry.getSingleMetric('heliograph_lane_requests_total')?.get()) ?? {};
      return Object.fromEntries((values ?? []).map(({ labels, value }) => [labels.lane, value]));
    },
    close: (drainMs) => server.close(drainMs),
  };
}
