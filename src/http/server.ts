import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { Clock } from '../platform/clock.ts';
import type { ApiError } from '../platform/errors.ts';
import { newId } from '../platform/ids.ts';
import type { Log } from '../platform/log.ts';
import type { Metrics } from '../platform/metrics.ts';
import { createAnswered } from './answered.ts';
import { addBodyParsers, bodyLimit } from './body-parser.ts';
import { createAddressReader } from './caller-address.ts';
import { watchConnections } from './connections.ts';
import { errorBody, fromParser, readApiError } from './error-reply.ts';
import type { Exchange } from './exchange.ts';
import { createFront } from './front.ts';
import type { Admission, Answered, Gate } from './gate.ts';
import { refuseBody, refuseMessage } from './headers.ts';
import { mount } from './mount.ts';
import { answerRaw } from './raw-socket.ts';
import { safeError } from './request-log.ts';
import type { Route } from './route.ts';
import { createRouteTable, pathOf } from './route-table.ts';
import { createSecurityHeaders } from './security-headers.ts';
import { compileValidator, validationError } from './validation.ts';
import { createAnswerWriter } from './write-answer.ts';

export interface ServerOptions {
  routes: Route[];
  gate: Gate;
  clock: Clock;
  log: Log;
  metrics: Metrics;
  trustedProxies?: string[];
  /** Adds HSTS: only true when callers reach us by https. */
  https?: boolean;
  /** True from when the service is about to stop: then every answer is the last on its connection. */
  isDraining?: () => boolean;
  /** Told of every request that was counted against an application's quota, once it is answered. */
  onAnswered?: (answered: Answered) => void;
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

declare module 'fastify' {
  interface FastifyContextConfig {
    route?: Route;
  }
}

/** Mounts the routes on Fastify. Every way out of here, errors of Fastify and Node included, goes by the gate's headers. */
export function createServer(options: ServerOptions): FastifyInstance {
  const { routes, gate, clock, log, metrics, onAnswered, isDraining = () => false } = options;
  const timeouts = { ...defaultTimeouts, ...options.timeouts };
  const securityHeaders = createSecurityHeaders(options.https === true);
  const table = createRouteTable(routes);
  const addressOf = createAddressReader(options.trustedProxies ?? []);
  const finish = createAnswered({ clock, log, metrics, onAnswered });

  const server = Fastify({
    logger: false,
    bodyLimit,
    genReqId: (raw) => (raw as IncomingMessage).exchange?.correlationId ?? newId('req', clock),
    requestTimeout: timeouts.requestMs,
    keepAliveTimeout: timeouts.keepAliveMs,
    connectionTimeout: timeouts.stalledMs,
    routerOptions: { maxParamLength: 256 },
    // While stopping, what still arrives on an open connection is answered like any other request.
    return503OnClosing: false,
    frameworkErrors: (error, request, reply) => void refuseUnrouted(error, request, reply),
    clientErrorHandler: (error, socket) => connections.refuse(socket as Socket, fromParser(error.code)),
    http: {
      headersTimeout: timeouts.headersMs,
      connectionsCheckingInterval: timeouts.checkMs,
      // Node's own answer to a missing Host has none of our headers; `refuseMessage` refuses it instead.
      requireHostHeader: false,
    },
  });
  const connections = watchConnections(server.server, {
    isDraining,
    answerSocket(socket, error) {
      const correlationId = newId('req', clock);
      const headers = { ...securityHeaders, ...gate.headersForUnreadable(socket.remoteAddress ?? '') };
      answerRaw(socket, error, { ...headers, 'X-Correlation-ID': correlationId }, errorBody(error, correlationId));
      log.info({ status: error.status, code: error.code, correlation_id: correlationId }, 'unreadable request');
    },
  });
  const writer = createAnswerWriter({
    gate,
    connections,
    securityHeaders,
    addressOf,
    errorsAt: table.errorsAt,
    onAnswered: finish,
  });
  const front = createFront({ gate, clock, table, connections, addressOf, refuse, next: takeListener(server.server) });
  server.server.on('request', front.receive);

  function refuse(exchange: Exchange, error: unknown): void {
    const refusal = readApiError(error, exchange.request.complete);
    if (refusal.status === 500) {
      const told = { err: safeError(refusal.cause ?? refusal), correlation_id: exchange.correlationId };
      log.error(told, 'unexpected error');
    }
    writer.refuse(exchange, refusal);
  }

  /** The front has begun with it, unless it came by no socket. Fastify reads what it asks for, and leaves the answer to us. */
  function begin(request: FastifyRequest, reply: FastifyReply): Exchange {
    reply.hijack();
    return request.raw.exchange ?? front.begin(request.raw, reply.raw);
  }

  /** The front has asked the gate already, for all requests whose target is written plainly. */
  function admit(exchange: Exchange, route: Route | undefined): Admission | Promise<Admission> {
    if (exchange.admission !== undefined && exchange.route === route) return exchange.admission;
    exchange.route = route;
    return front.admit(exchange);
  }

  function enter(exchange: Exchange, admission: Admission): ApiError | undefined {
    exchange.admission = admission;
    return admission.refusal ?? refuseMessage(exchange.request);
  }

  function enterRoute(exchange: Exchange, admission: Admission): ApiError | undefined {
    const { request, response, route } = exchange;
    const refusal =
      enter(exchange, admission) ??
      (route === undefined ? table.refuse(pathOf(request.url ?? '')) : refuseBody(request, route));
    if (refusal === undefined) connections.askForBody(response);
    return refusal;
  }

  /** For what Fastify refuses before its hooks run, such as a path that cannot be decoded. */
  async function refuseUnrouted(error: unknown, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const exchange = begin(request, reply);
    try {
      refuse(exchange, enter(exchange, await admit(exchange, undefined)) ?? error);
    } catch (failure) {
      refuse(exchange, failure);
    }
  }

  server.addHook('onRequest', (request, reply, done) => {
    const exchange = request.raw.exchange ?? front.begin(request.raw, reply.raw);
    const admission = admit(exchange, request.routeOptions.config?.route);
    if (!(admission instanceof Promise)) return done(enterRoute(exchange, admission));
    admission.then((admitted) => enterRoute(exchange, admitted)).then(done, done);
  });
  server.addHook('preClose', (done) => {
    connections.stop();
    done();
  });

  addBodyParsers(server);
  server.setValidatorCompiler(({ schema, httpPart }) => {
    const validate = compileValidator(schema as object, httpPart);
    return (value) => (validate(value) ? { value } : { error: validationError(validate.errors ?? [], httpPart) });
  });
  server.setErrorHandler((error, request, reply) => refuse(begin(request, reply), error));
  for (const route of routes) {
    mount(server, route, {
      addressOf,
      answer(request, reply, parts) {
        const { id } = (request.params ?? {}) as { id?: string };
        writer.answer(begin(request, reply), parts, { id, location: parts.headers.Location });
      },
    });
  }
  return server;
}

/** Fastify's own listener, taken off its server: requests come to it through the front. */
function takeListener(server: Server): (request: IncomingMessage, response: ServerResponse) => void {
  const [listener] = server.listeners('request');
  if (listener === undefined) throw new Error('Fastify does not listen to its server');
  server.removeAllListeners('request');
  return listener as (request: IncomingMessage, response: ServerResponse) => void;
}
