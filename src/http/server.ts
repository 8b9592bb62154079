import { createServer as createNodeServer, type Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock } from '../platform/clock.ts';
import { waitedMs } from '../platform/event-loop.ts';
import { newId } from '../platform/ids.ts';
import type { Log } from '../platform/log.ts';
import type { Metrics } from '../platform/metrics.ts';
import { createAnswered } from './answered.ts';
import { createAddressReader } from './caller-address.ts';
import { watchConnections } from './connections.ts';
import { errorBody, fromParser } from './error-reply.ts';
import type { Gate } from './gate.ts';
import { linesOf, withHeaders } from './header-lines.ts';
import { type Bulkheads, mount } from './mount.ts';
import { createNodeLane } from './node-lane.ts';
import { createOpenings } from './openings.ts';
import { createPlainLane } from './plain-lane.ts';
import { answerRaw } from './raw-socket.ts';
import type { Route } from './route.ts';
import { createRouteTable } from './route-table.ts';
import { createSecurityHeaders } from './security-headers.ts';
import { createServe } from './serve.ts';
import { createAnswerWriter } from './write-answer.ts';

export interface ServerOptions {
  routes: Route[];
  gate: Gate;
  clock: Clock;
  log: Log;
  metrics: Metrics;
  bulkheads?: Bulkheads;
  trustedProxies?: string[];
  /** Adds HSTS. Set it only when callers reach us by https. */
  https?: boolean;
  /** True once the service is stopping: every answer then closes its connection. */
  isDraining?: () => boolean;
  timeouts?: Partial<ServerTimeouts>;
  /** Tests pass their own idle time; the default is the event loop's. */
  waitedMs?: () => number;
}

export interface ServerTimeouts {
  headersMs: number;
  requestMs: number;
  keepAliveMs: number;
  /** How long a caller may stop reading in the middle of an answer. */
  stalledMs: number;
  /** How often both lanes check their connections for timeouts. */
  checkMs: number;
}

const defaultTimeouts: ServerTimeouts = {
  headersMs: 10_000,
  requestMs: 15_000,
  keepAliveMs: 72_000,
  stalledMs: 120_000,
  checkMs: 1000,
};

export interface HttpServer {
  /** Node's server, for its address and connections. */
  readonly server: Server;
  listen(at: { port: number; host: string }): Promise<void>;
  /**
   * Stops accepting connections. Each open one closes after its next answer; idle ones close after `drainMs`. Resolves
   * when all are closed.
   */
  close(drainMs?: number): Promise<void>;
  /** Destroys every connection. */
  closeAllConnections(): void;
}

/** Serves the routes. Every answer, also to bytes that are not a request, carries the gate's headers. */
export function createServer(options: ServerOptions): HttpServer {
  const { gate, clock, log, metrics, isDraining = () => false } = options;
  const timeouts = { ...defaultTimeouts, ...options.timeouts };
  const securityHeaders = createSecurityHeaders(options.https === true);
  const table = createRouteTable(options.routes.map((route) => mount(route, options.bulkheads)));
  const addressOf = createAddressReader(options.trustedProxies ?? []);
  let closing = false;
  const isEnding = () => closing || isDraining();

  const writer = createAnswerWriter({
    gate,
    securityHeaders,
    errorsAt: table.errorsAt,
    onAnswered: createAnswered({ clock, log, metrics }),
  });
  const { receive, refuse } = createServe({ gate, table, writer, log });

  const server = createNodeServer({
    headersTimeout: timeouts.headersMs,
    requestTimeout: timeouts.requestMs,
    keepAliveTimeout: timeouts.keepAliveMs,
    connectionsCheckingInterval: timeouts.checkMs,
    // Node's answer to a missing Host lacks our headers; the node lane refuses it instead.
    requireHostHeader: false,
  });
  server.setTimeout(timeouts.stalledMs);
  const connections = watchConnections(server, {
    isEnding,
    refuse,
    answerSocket(socket, error) {
      const correlationId = newId('req', clock);
      const lines = linesOf(securityHeaders) + gate.linesForUnreadable(socket.remoteAddress ?? '');
      const head = withHeaders(lines, { ...error.headers, 'X-Correlation-ID': correlationId });
      answerRaw(socket, error.status, head, errorBody(error, correlationId));
      log.info({ status: error.status, code: error.code, correlation_id: correlationId }, 'unreadable request');
    },
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket) =>
    connections.refuse(socket as Socket, fromParser(error.code)),
  );
  const informing = { openings: createOpenings(clock, options.waitedMs ?? waitedMs), informedAtMs: new WeakMap() };
  createNodeLane({ server, clock, connections, addressOf, receive, ...informing });
  // Node would destroy idle connections at close. Ours get time to send requests already on their way.
  server.closeIdleConnections = () => {};
  const plainLane = createPlainLane({
    server,
    clock,
    addressOf,
    isEnding,
    receive,
    onGivenToNode: connections.add,
    timeouts,
    ...informing,
  });

  return {
    server,
    listen: ({ port, host }) =>
      new Promise((resolve, reject) => {
        server.once('error', reject);
        server.listen({ port, host }, () => {
          server.off('error', reject);
          resolve();
        });
      }),
    async close(drainMs = 0) {
      await untilAllAccepted(server, clock);
      closing = true;
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      await within(drainMs, closed);
      plainLane.closeIdle();
      connections.closeIdle();
      await closed;
      plainLane.stop();
    },
    closeAllConnections() {
      server.closeAllConnections();
      plainLane.closeAll();
    },
  };
}

/**
 * Closing the listener resets connections that the kernel accepted and Node did not. Node accepts one per turn of its
 * loop, so after a short turn without a new connection none is left.
 */
async function untilAllAccepted(server: Server, clock: Clock): Promise<void> {
  const [mostTurns, shortMs] = [100, 0.3];
  let accepted = false;
  const note = () => {
    accepted = true;
  };
  server.on('connection', note);
  // Start at the beginning of a turn, to time whole turns.
  await new Promise((next) => setImmediate(next));
  for (let turn = 0; turn < mostTurns; turn++) {
    accepted = false;
    const beganMs = clock.steadyMs();
    await new Promise((next) => setImmediate(next));
    if (!accepted && clock.steadyMs() - beganMs < shortMs) break;
  }
  server.off('connection', note);
}

/** Resolves with the promise, or after `ms`. */
async function within(ms: number, promise: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([promise, late]);
  clearTimeout(timer);
}
