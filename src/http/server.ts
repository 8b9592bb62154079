import { createServer as createListener, type Server, type Socket } from 'node:net';
import type { Clock } from '../platform/clock.ts';
import type { ApiError } from '../platform/errors.ts';
import { newId } from '../platform/ids.ts';
import type { Log } from '../platform/log.ts';
import type { Metrics } from '../platform/metrics/metrics.ts';
import { waitedMs } from '../platform/processes/event-loop.ts';
import type { Tracer } from '../platform/tracing/tracer.ts';
import type { CountedRequest, Gateway, LimitDecision } from './admission.ts';
import { createAddressReader } from './caller-address.ts';
import { closeGently } from './close-gently.ts';
import { createEndOfTurn } from './end-of-turn.ts';
import { refusalParts } from './error-reply.ts';
import type { Exchange } from './exchange.ts';
import { createHead, createHeadWriter } from './head.ts';
import { createHelpLinks } from './help-links.ts';
import { type Bulkheads, mount } from './mount.ts';
import { createNodeLane, type NodeTimeouts } from './node/lane.ts';
import { createOpenings } from './openings.ts';
import { createPipeline } from './pipeline.ts';
import { createPlainLane } from './plain/lane.ts';
import { createRequestEnd } from './request-end.ts';
import { createRequestSpans } from './request-spans.ts';
import type { Route } from './route.ts';
import { createRouteTable } from './route-table.ts';
import { untilAllAccepted, within } from './stop-listening.ts';

export interface ServerOptions {
  routes: Route[];
  gateway: Gateway;
  clock: Clock;
  log: Log;
  metrics: Metrics;
  /** Called once for each request that a registration's limits decided. */
  onCounted?: (request: CountedRequest) => void;
  bulkheads?: Bulkheads;
  trustedProxies?: string[];
  /** The base of the links from errors to their pages. */
  publicUrl?: string;
  /** Adds HSTS. Set it only when callers reach us by https. */
  https?: boolean;
  /** Whether plainly written requests take the quick lane. Otherwise Node's own server reads all (decision 0006). */
  plainLane?: boolean;
  /** True once the service is stopping: every answer then closes its connection. */
  isDraining?: () => boolean;
  timeouts?: Partial<ServerTimeouts>;
  /** Other processes answer on the same port: one of them may have informed a caller before. */
  sharesPort?: boolean;
  /** Undefined unless requests are traced. */
  tracer?: Tracer | undefined;
  /** Tests pass their own idle time; the default is the event loop's. */
  waitedMs?: () => number;
}

export type ServerTimeouts = NodeTimeouts;

const defaultTimeouts: ServerTimeouts = {
  headersMs: 10_000,
  requestMs: 15_000,
  keepAliveMs: 72_000,
  // How long a caller may stop reading in the middle of an answer.
  stalledMs: 120_000,
  // How often both lanes check their connections for timeouts.
  checkMs: 1000,
};

export interface HttpServer {
  /** For its address and its number of connections. */
  readonly listener: Server;
  listen(at: { port: number; host: string }): Promise<void>;
  /**
   * Stops accepting connections. Each open one closes after its next answer; idle ones close after `drainMs`. Resolves
   * when all are closed.
   */
  close(drainMs?: number): Promise<void>;
  /** Destroys every connection. */
  closeAllConnections(): void;
}

/** Serves the routes. Every answer, also to bytes that are not a request, carries the gateway's headers. */
export function createServer(options: ServerOptions): HttpServer {
  const { gateway, clock, log, metrics, plainLane: usesPlainLane = true, isDraining = () => false } = options;
  const timeouts = { ...defaultTimeouts, ...options.timeouts };
  const table = createRouteTable(options.routes.map((route) => mount(route, options.bulkheads)));
  const heads = createHeadWriter({ clock, https: options.https === true, keepAliveMs: timeouts.keepAliveMs });
  const help = createHelpLinks(options.publicUrl ?? '');
  const onEnd = createRequestEnd({ clock, log, metrics, onCounted: options.onCounted ?? (() => {}) });
  const spans = options.tracer && createRequestSpans(options.tracer, clock);
  const { receive, refuse } = createPipeline({ gateway, table, log, help, spans, onEnd });

  let closing = false;
  const isEnding = () => closing || isDraining();
  const addressOf = createAddressReader(options.trustedProxies ?? []);
  const openings = createOpenings(clock, options.waitedMs ?? waitedMs, options.sharesPort);
  const atEndOfTurn = createEndOfTurn(openings.noteAnswers);
  const shared = { clock, heads, addressOf, isEnding, atEndOfTurn, timeouts };
  const taken = countLanes(metrics);

  /** Answers bytes that Node could not parse, then closes: nothing that follows on the socket can be trusted. */
  function answerUnreadable(socket: Socket, error: ApiError): void {
    if (!socket.writable) return;
    const correlationId = newId('req', clock);
    const { status, headers: own, type, data } = refusalParts(error, { errors: undefined, correlationId, help });
    const answer = (decision: LimitDecision) => {
      const head = createHead({ status, correlationId, decision, own, type });
      socket.write(heads.forSocket(head, { length: Buffer.byteLength(data), last: true }) + data);
      closeGently(socket);
      log.info({ status, code: error.code, correlation_id: correlationId }, 'unreadable request');
    };
    const standing = gateway.peek(addressOf(socket, {}));
    if (standing instanceof Promise) void standing.then((made) => socket.writable && answer(made));
    else answer(standing);
  }

  const nodeLane = createNodeLane({
    ...shared,
    receive: counting(taken, 'node', receive),
    refuse,
    answerUnreadable,
    onWritten: openings.noteAnswers,
  });
  const plainLane = usesPlainLane
    ? createPlainLane({
        ...shared,
        receive: counting(taken, 'plain', receive),
        openings,
        giveToNode: nodeLane.take,
      })
    : undefined;
  const listener = createListener({ allowHalfOpen: true, noDelay: true }, (socket) => {
    if (plainLane === undefined) nodeLane.take(socket, openings.openedAtMs());
    else plainLane.take(socket);
  });

  return {
    listener,
    listen: ({ port, host }) =>
      new Promise((resolve, reject) => {
        listener.once('error', reject);
        listener.listen({ port, host }, () => {
          listener.off('error', reject);
          nodeLane.start();
          resolve();
        });
      }),
    async close(drainMs = 0) {
      await untilAllAccepted(listener, clock);
      closing = true;
      const closed = new Promise<void>((resolve) => listener.close(() => resolve()));
      await within(drainMs, closed);
      plainLane?.closeIdle();
      nodeLane.closeIdle();
      await closed;
      plainLane?.stop();
      nodeLane.stop();
    },
    closeAllConnections() {
      nodeLane.closeAll();
      plainLane?.closeAll();
    },
  };
}

type LaneName = 'plain' | 'node';

function countLanes(metrics: Metrics): Record<LaneName, number> {
  const taken = { plain: 0, node: 0 };
  metrics.counters('heliograph_lane_requests_total', 'Requests by the lane that read them', 'lane', () => taken);
  return taken;
}

function counting(taken: Record<LaneName, number>, lane: LaneName, receive: (exchange: Exchange) => void) {
  return (exchange: Exchange): void => {
    taken[lane]++;
    receive(exchange);
  };
}
