import { isUtf8 } from 'node:buffer';
import type { Socket } from 'node:net';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest, type HTTPMethods } from 'fastify';
import type { Clock } from '../platform/clock.ts';
import { ApiError, notFound } from '../platform/errors.ts';
import { newId } from '../platform/ids.ts';
import type { Log } from '../platform/log.ts';
import type { Metrics } from '../platform/metrics.ts';
import { errorBody, errorSchema, fromParser, limitedSchema, malformedJson, readApiError } from './error-reply.ts';
import type { Admission, Gate } from './gate.ts';
import { refuseUnreadableBody, wellFormedCorrelationId } from './headers.ts';
import { answerRaw, trackResponses } from './raw-socket.ts';
import type { Call, Caller, Reply, Route } from './route.ts';
import { createRouteTable } from './route-table.ts';
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
  timeouts?: Partial<ServerTimeouts>;
}

export interface ServerTimeouts {
  headersMs: number;
  requestMs: number;
  keepAliveMs: number;
  /** How often Node looks for connections that are over time. */
  checkMs: number;
}

const defaultTimeouts: ServerTimeouts = { headersMs: 10_000, requestMs: 15_000, keepAliveMs: 72_000, checkMs: 1000 };
const bodyLimit = 64 * 1024;

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller;
  }
  interface FastifyContextConfig {
    route?: Route;
  }
}

/** Mounts the routes on Fastify. Every way out of here, errors of Fastify and Node included, goes by the gate's headers. */
export function createServer(options: ServerOptions): FastifyInstance {
  const { routes, gate, clock, log, metrics } = options;
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
    routerOptions: { maxParamLength: 256 },
    // While stopping, what still arrives on an open connection is answered like any other request.
    return503OnClosing: false,
    frameworkErrors: (error, request, reply) => void refuseUnrouted(error, request, reply),
    clientErrorHandler: (error, socket) => answerUnreadable(socket as Socket, fromParser(error.code)),
    http: {
      headersTimeout: timeouts.headersMs,
      connectionsCheckingInterval: timeouts.checkMs,
      // Node's own answer to a missing Host has none of our headers; `refuseUnreadableBody` refuses it instead.
      requireHostHeader: false,
    },
  });
  trackResponses(server.server);
  server.server.on('connect', (_request, socket) => answerUnreadable(socket as Socket, notAProxy()));
  // Node would answer 417 by itself. An expectation we do not know may be ignored (RFC 9110, section 10.1.1).
  server.server.on('checkExpectation', (request, response) => server.server.emit('request', request, response));

  function answerUnreadable(socket: Socket, error: ApiError): void {
    const correlationId = newId('req', clock);
    const headers = { ...securityHeaders, ...gate.headersForUnreadable(socket.remoteAddress ?? '') };
    answerRaw(socket, error, { ...headers, 'X-Correlation-ID': correlationId }, errorBody(error, correlationId));
    log.info({ status: error.status, code: error.code, correlation_id: correlationId }, 'unreadable request');
  }

  function admit(request: FastifyRequest, reply: FastifyReply): Admission | Promise<Admission> {
    reply.headers(securityHeaders).header('X-Correlation-ID', request.id);
    return gate.admit({
      correlationId: request.id,
      method: request.method,
      path: pathOf(request),
      route: request.routeOptions.config?.route,
      headers: request.headers,
      rawHeaders: request.raw.rawHeaders,
      address: request.ip,
    });
  }

  function enter(request: FastifyRequest, reply: FastifyReply, admission: Admission): ApiError | undefined {
    reply.headers(admission.limitHeaders);
    request.caller = admission.caller;
    return admission.refusal ?? refuseUnreadableBody(request.raw, request.routeOptions.config?.route);
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
    const refusal = readApiError(error);
    if (refusal.status === 500)
      log.error({ err: safeError(refusal.cause), correlation_id: request.id }, 'unexpected error');
    void reply
      .code(refusal.status)
      .headers(refusal.headers)
      .type('application/json')
      .send(errorBody(refusal, request.id));
  }

  server.decorateRequest('caller', null as unknown as Caller);
  server.addHook('onRequest', (request, reply, done) => {
    const admission = admit(request, reply);
    if (!(admission instanceof Promise)) return done(enter(request, reply, admission));
    admission.then((admitted) => done(enter(request, reply, admitted)), done);
  });
  server.addHook('onResponse', (request, reply, done) => {
    logRequest(request, reply, log, metrics);
    done();
  });

  server.removeAllContentTypeParsers();
  server.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body: Buffer, done) => {
    try {
      done(null, readJson(body));
    } catch (error) {
      done(error as Error, undefined);
    }
  });
  server.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string' },
    (_request, body: string, done) => done(null, new URLSearchParams(body)),
  );
  server.setValidatorCompiler(({ schema, httpPart }) => {
    const validate = compileValidator(schema as object, httpPart);
    return (value) => (validate(value) ? { value } : { error: validationError(validate.errors ?? [], httpPart) });
  });
  server.setErrorHandler((error, request, reply) => answerError(error, request, reply));
  server.setNotFoundHandler((request, reply) => {
    const allowed = table.methodsAt(pathOf(request));
    answerError(allowed.length === 0 ? notFound() : methodNotAllowed(allowed), request, reply);
  });

  for (const route of routes) mount(server, route);
  return server;
}

function mount(server: FastifyInstance, route: Route): void {
  server.route({
    method: route.method as HTTPMethods,
    url: route.path.replaceAll(/\{(\w+)\}/g, ':$1'),
    config: { route },
    schema: {
      ...(route.params && { params: route.params }),
      ...(route.query && { querystring: route.query }),
      ...(route.body && route.consumes !== 'form' && { body: route.body }),
      response: responseSchemas(route),
    },
    async handler(request, reply) {
      const call: Call = {
        params: request.params,
        query: request.query,
        body: request.body,
        caller: request.caller,
        correlationId: request.id,
        address: request.ip,
        get signal() {
          return request.signal;
        },
      };
      return send(reply, await route.handler(call));
    },
  });
}

function responseSchemas(route: Route): Record<string, unknown> {
  const schemas: Record<string, unknown> = { 429: limitedSchema, '4xx': errorSchema, '5xx': errorSchema };
  for (const [status, answer] of Object.entries(route.answers)) {
    if (answer.schema !== undefined) schemas[status] = answer.schema;
  }
  return schemas;
}

function send(reply: FastifyReply, answer: Reply): FastifyReply {
  reply.code(answer.status);
  if (answer.location !== undefined) reply.header('Location', answer.location);
  if (answer.cookie !== undefined) reply.header('Set-Cookie', answer.cookie);
  if (answer.retryAfterSeconds !== undefined) reply.header('Retry-After', String(answer.retryAfterSeconds));
  if (answer.content === undefined) {
    return answer.body === undefined ? reply.send() : reply.type('application/json').send(answer.body);
  }
  if (answer.content.headers !== undefined) reply.headers(answer.content.headers);
  return reply.type(answer.content.type).send(answer.content.data);
}

function readJson(body: Buffer): unknown {
  if (body.length === 0) return undefined;
  // JSON.parse keeps `__proto__` as a plain own property, and handlers read named properties only.
  if (!isUtf8(body)) throw malformedJson();
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    throw malformedJson();
  }
}

function logRequest(request: FastifyRequest, reply: FastifyReply, log: Log, metrics: Metrics): void {
  const route = request.routeOptions.config?.route;
  const pattern = route?.path ?? 'unknown';
  const ms = Math.round(reply.elapsedTime * 10) / 10;
  metrics.observeRequest(route === undefined ? 'ANY' : request.method, pattern, reply.statusCode, ms / 1000);
  const given = wellFormedCorrelationId(request.headers['x-correlation-id']);
  log[reply.statusCode >= 500 ? 'error' : 'info']({
    method: request.method,
    route: pattern,
    status: reply.statusCode,
    ms,
    correlation_id: request.id,
    ...(given !== undefined && { caller_correlation_id: given }),
  });
}

/** An error of the database's own quotes the row it failed on: only its code goes to the log. */
function safeError(error: unknown): object {
  const { name, message, stack, code, constraint } = error as Error & { code?: string; constraint?: string };
  const database = /^[0-9A-Z]{5}$/.test(code ?? '');
  const frames = stack?.split('\n').slice(1).join('\n') ?? '';
  const told = database ? `database error ${code} ${constraint ?? ''}` : message;
  return { name, message: told, stack: `${name}: ${told}\n${frames}` };
}

function createSecurityHeaders(https: boolean): Record<string, string> {
  return {
    'Cache-Control': 'no-store',
    'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
    'Cross-Origin-Resource-Policy': 'same-origin',
    'Referrer-Policy': 'no-referrer',
    'X-Content-Type-Options': 'nosniff',
    ...(https && { 'Strict-Transport-Security': 'max-age=31536000; includeSubDomains' }),
  };
}

function pathOf(request: FastifyRequest): string {
  const end = request.url.indexOf('?');
  return end === -1 ? request.url : request.url.slice(0, end);
}

function methodNotAllowed(allowed: string[]): ApiError {
  const message = `This address answers to ${allowed.join(', ')}.`;
  return new ApiError('METHOD_NOT_ALLOWED', message, { headers: { Allow: allowed.join(', ') } });
}

function notAProxy(): ApiError {
  return new ApiError('METHOD_NOT_ALLOWED', 'CONNECT is for proxies.', { headers: { Allow: 'GET, HEAD, POST' } });
}
