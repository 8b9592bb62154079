import type { Gate } from '../../src/http/gate.ts';
import { linesOf } from '../../src/http/header-lines.ts';
import type { Route } from '../../src/http/route.ts';
import { createServer, type ServerTimeouts } from '../../src/http/server.ts';
import type { Clock } from '../../src/platform/clock.ts';
import { createMetrics } from '../../src/platform/metrics.ts';
import { createTestClock } from '../support/clock.ts';
import { createTestLog } from '../support/log.ts';

/** What the gate of the tests gives every response, and every answer to what could not be read as a request. */
export const gateHeaders = { 'RateLimit-Limit': '60', 'RateLimit-Remaining': '59', 'RateLimit-Reset': '60' };
export const gateLines = linesOf(gateHeaders);

const openGate: Gate = {
  admit: () => ({ caller: { kind: 'anonymous' }, limitLines: gateLines }),
  linesForUnreadable: () => gateLines,
};

export interface BareServer {
  port: number;
  logLines: string[];
  close(drainMs?: number): Promise<void>;
}

export interface BareServerOptions {
  routes: Route[];
  gate?: Gate;
  timeouts?: Partial<ServerTimeouts>;
  clock?: Clock;
  waitedMs?: () => number;
}

/** The HTTP layer alone on a real socket, behind a gate of the test's own. */
export async function startBareServer({
  routes,
  gate = openGate,
  timeouts = {},
  clock = createTestClock(),
  waitedMs,
}: BareServerOptions): Promise<BareServer> {
  const { log, lines } = createTestLog();
  const server = createServer({
    routes,
    gate,
    clock,
    log,
    metrics: createMetrics(),
    timeouts,
    ...(waitedMs && { waitedMs }),
  });
  await server.listen({ port: 0, host: '127.0.0.1' });
  const address = server.server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return { port, logLines: lines, close: (drainMs) => server.close(drainMs) };
}
