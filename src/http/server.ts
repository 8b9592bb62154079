import { createServer as createNodeServer, type Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock } from '../platform/clock.ts';
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
  /** Adds HSTS: only true when callers reach us by https. */
  https?: boolean;
  /** True from when the service is about to stop: then every answer is the last on its connection. */
  isDraining?: () => boolean;
  timeouts?: Partial<ServerTimeouts>;
}

export interface ServerTimeouts {
  headersMs: number;
  requestMs: number;
  keepAliveMs: number;
  /** How long a connection may stand still in the middle of an answer: its caller has stopped reading. */
  stalledMs: number;
  /** How often Node looks for connections that are over time. */
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
  /** Node's own, for its address and its connections. */
  readonly server: Server;
  listen(at: { port: number; host: string }): Promise<void>;
  /** Accepts no more; resolves when everything under way is answered and every connection closed. */
  close(): Promise<void>;
  /** Cuts every connection off. */
  closeAllConnections(): void;
}

/** The routes on a socket. Every way out of here, also for what is no request at all, goes by the gate's headers. */
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
    // Node's own answer to a missing Host has none of our headers; the node lane refuses it instead.
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
  createNodeLane({ server, clock, connections, addressOf, receive });
  const plainLane = createPlainLane({ server, clock, addressOf, isEnding, receive, timeouts });

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
    close() {
      closing = true;
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      plainLane.closeIdle();
      return closed.finally(plainLane.stop);
    },
    closeAllConnections() {
      server.closeAllConnections();
      plainLane.closeAll();
    },
  };
}
