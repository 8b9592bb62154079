import type { Socket } from 'node:net';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { Clock } from '../platform/clock.ts';
import type { ApiError } from '../platform/errors.ts';
import { newId } from '../platform/ids.ts';
import type { Log } from '../platform/log.ts';
import type { Metrics } from '../platform/metrics.ts';
import { addBodyParsers, bodyLimit } from './body-parser.ts';
import { watchConnections } from './connections.ts';
import { errorBody, fromParser, oauthRefusal, readApiError } from './error-reply.ts';
import type { Admission, Answered, Gate, LimitDecision } from './gate.ts';
import { refuseBody, refuseMessage } from './headers.ts';
import { addressOf, mount } from './mount.ts';
import { answerRaw, closeGentlyAfterAnswer } from './raw-socket.ts';
import { logRequest, safeError } from './request-log.ts';
import type { Caller, CallingApplication, Route } from './route.ts';
import { createRouteTable, pathOf } from './route-table.ts';
import { createSecurityHeaders } from './security-headers.ts';
import { compileValidator, validationError } from './validation.ts';

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
  interface FastifyRequest {
    /** Null until the gate has decided; missing where Fastify had no route to make a request for. */
    caller: Caller;
    decision: LimitDecision | undefined;
    refusal: ApiError | undefined;
  }
  interface FastifyContextConfig {
    route?: Route;
  }
}

/** Mounts the routes on Fastify. Every way out of here, errors of Fastify and Node included, goes by the gate's headers. */
export function createServer(options: ServerOptions): FastifyInstance {
  const { routes, gate, clock, log, metrics, onAnswered } = options;
  const timeouts = { ...defaultTimeouts, ...options.timeouts };
  const securityHeaders = createSecurityHeaders(options.https === true);
  const table = createRouteTable(routes);

  const server = Fastify({
    logger: false,
    bodyLimit,
    genReqId: () => newId('req', clock),
    trustProxy: options.trustedProxies?.length ? options.trustedProxies : false,
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
    answerRequest: (reply, error) => answerError(error, reply.request, reply),
    answerSocket(socket, error) {
      const correlationId = newId('req', clock);
      const headers = { ...securityHeaders, ...gate.headersForUnreadable(socket.remoteAddress ?? '') };
      answerRaw(socket, error, { ...headers, 'X-Correlation-ID': correlationId }, errorBody(error, correlationId));
      log.info({ status: error.status, code: error.code, correlation_id: correlationId }, 'unreadable request');
    },
  });

  function admit(request: FastifyRequest, reply: FastifyReply): Admission | Promise<Admission> {
    connections.begin(reply);
    reply.headers(securityHeaders).header('X-Correlation-ID', request.id);
    return gate.admit({
      correlationId: request.id,
      method: request.method,
      path: pathOf(request.url),
      route: request.routeOptions.config?.route,
      headers: request.headers,
      rawHeaders: request.raw.rawHeaders,
      address: addressOf(request),
    });
  }

  function enter(request: FastifyRequest, reply: FastifyReply, admission: Admission): ApiError | undefined {
    reply.headers(admission.limitHeaders);
    request.caller = admission.caller;
    request.decision = admission.decision;
    return admission.refusal ?? refuseMessage(request.raw);
  }

  function enterRoute(request: FastifyRequest, reply: FastifyReply, admission: Admission): ApiError | undefined {
    const route = request.routeOptions.config?.route;
    const refusal =
      enter(request, reply, admission) ??
      (route === undefined ? table.refuse(pathOf(request.url)) : refuseBody(request.raw, route));
    if (refusal === undefined) connections.askForBody(reply);
    return refusal;
  }

  /** For what Fastify refuses before its hooks run, such as a path that cannot be decoded. */
  async function refuseUnrouted(error: unknown, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    try {
      const admission = await admit(request, reply);
      answerError(enter(request, reply, admission) ?? error, request, reply);
    } catch (failure) {
      answerError(failure, request, reply);
    }
    logRequest(request, reply, log, metrics);
  }

  function answerError(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
    const { complete, socket } = request.raw;
    const refusal = readApiError(error, complete);
    request.refusal = refusal;
    if (refusal.status === 500) {
      log.error({ err: safeError(refusal.cause ?? refusal), correlation_id: request.id }, 'unexpected error');
    }
    if ((request.caller ?? null) === null) reply.headers(gate.headersForUnreadable(addressOf(request)));
    // Fastify closes behind a body it could not use. Node can read the rest of it away, so that the caller, who may
    // still be sending, comes to read its answer.
    reply.removeHeader('connection');
    if (!complete) closeGentlyAfterAnswer(socket);
    announceEnd(reply);
    const oauth = request.routeOptions.config?.route?.errors === 'oauth';
    const { status, body } = oauth
      ? oauthRefusal(refusal)
      : { status: refusal.status, body: errorBody(refusal, request.id) };
    void reply.code(status).headers(refusal.headers).type('application/json').send(JSON.stringify(body));
  }

  function announceEnd(reply: FastifyReply): void {
    if (connections.endsWith(reply) || options.isDraining?.() === true) reply.header('Connection', 'close');
  }

  server.decorateRequest('caller', null as never);
  server.decorateRequest('decision', undefined);
  server.decorateRequest('refusal', undefined);
  server.addHook('onRequest', (request, reply, done) => {
    const admission = admit(request, reply);
    if (!(admission instanceof Promise)) return done(enterRoute(request, reply, admission));
    admission.then((admitted) => enterRoute(request, reply, admitted)).then(done, done);
  });
  server.addHook('onResponse', (request, reply, done) => {
    connections.end(reply);
    logRequest(request, reply, log, metrics);
    const { caller, decision } = request;
    if (onAnswered !== undefined && decision !== undefined && caller?.kind === 'application') {
      onAnswered(answeredOf(request, reply, caller, decision));
    }
    done();
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
  server.setErrorHandler((error, request, reply) => answerError(error, request, reply));
  for (const route of routes) mount(server, route, announceEnd);
  return server;
}

function answeredOf(
  request: FastifyRequest,
  reply: FastifyReply,
  caller: CallingApplication,
  decision: LimitDecision,
): Answered {
  return {
    correlationId: request.id,
    caller,
    decision,
    method: request.method,
    path: request.routeOptions.config?.route?.path,
    status: reply.statusCode,
    refusal: request.refusal,
    durationMs: reply.elapsedTime,
    id: (request.params as { id?: string } | undefined)?.id,
    location: reply.getHeader('location') as string | undefined,
  };
}
