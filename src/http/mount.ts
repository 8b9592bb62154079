import { type IncomingMessage, validateHeaderValue } from 'node:http';
import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify';
import { readIdempotencyKey } from './headers.ts';
import type { Call, Caller, Reply, Route } from './route.ts';
import { pathOf } from './route-table.ts';
import type { AnswerParts } from './write-answer.ts';

export interface MountOptions {
  addressOf: (request: IncomingMessage) => string;
  answer: (request: FastifyRequest, reply: FastifyReply, parts: AnswerParts) => void;
}

const anonymous: Caller = { kind: 'anonymous' };

/** Makes a route of ours one of Fastify's. Validation and serialisation come from the route's own schemas. */
export function mount(server: FastifyInstance, route: Route, options: MountOptions): void {
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
      let signal: AbortSignal | undefined;
      const call: Call = {
        params: request.params,
        query: request.query,
        body: request.body ?? (route.consumes === 'form' ? new URLSearchParams() : undefined),
        caller: request.raw.exchange?.admission?.caller ?? anonymous,
        method: request.method,
        path: pathOf(request.url),
        idempotencyKey: route.idempotent ? readIdempotencyKey(request.headers['idempotency-key']) : undefined,
        correlationId: request.id,
        get address() {
          return options.addressOf(request.raw);
        },
        get signal() {
          signal ??= signalOf(reply);
          return signal;
        },
      };
      const parts = partsOf(reply, await route.handler(call));
      options.answer(request, reply, parts);
      return reply;
    },
  });
}

/** Refusals are written in one place and by no schema, so a route is free to describe its own. */
function responseSchemas(route: Route): Record<string, unknown> {
  const schemas: Record<string, unknown> = {};
  for (const [status, answer] of Object.entries(route.answers)) {
    if (answer.schema !== undefined) schemas[status] = answer.schema;
  }
  return schemas;
}

/** Nothing is written before all of it is known to be sound: a failed answer must not carry half of the one it replaces. */
function partsOf(reply: FastifyReply, answer: Reply): AnswerParts {
  const headers = headersOf(answer);
  for (const name in headers) validateHeaderValue(name, headers[name] ?? '');
  const { status, body, content } = answer;
  if (content === undefined) {
    if (body === undefined) return { status, headers, type: undefined, data: '' };
    // By the schema of this status.
    const data = reply.code(status).serialize(body) as string;
    return { status, headers, type: withCharset('application/json'), data };
  }
  const { type, data, gzip } = content;
  if (gzip === undefined)
    return { status, headers, type: withCharset(type), data: bodyFor(reply.request.method, data) };
  headers.Vary = 'Accept-Encoding';
  if (!acceptsGzip(reply.request.headers['accept-encoding'])) return { status, headers, type, data };
  headers['Content-Encoding'] = 'gzip';
  return { status, headers, type, data: gzip };
}

function withCharset(type: string): string {
  return type === 'application/json' || type === 'text/html' ? `${type}; charset=utf-8` : type;
}

/** Whoever names gzip takes it, unless it is named to be refused (RFC 9110, section 12.5.3). */
function acceptsGzip(accepted: string | string[] | undefined): boolean {
  return /\bgzip\b(?!\s*;\s*q=0(\.0*)?\s*(,|$))/i.test(String(accepted ?? ''));
}

/** HEAD wants no body: a stream that was opened for it is closed, since nobody would ever read it to its end. */
function bodyFor(method: string, data: string | Buffer | Readable): string | Buffer | Readable {
  if (method !== 'HEAD' || !(data instanceof Readable)) return data;
  data.destroy();
  return '';
}

function headersOf({ location, cookie, retryAfterSeconds, headers, content }: Reply): Record<string, string> {
  return {
    ...(location !== undefined && { Location: location }),
    ...(cookie !== undefined && { 'Set-Cookie': cookie }),
    ...(retryAfterSeconds !== undefined && { 'Retry-After': String(retryAfterSeconds) }),
    ...headers,
    ...content?.headers,
  };
}

/**
 * Aborted when the caller goes before it has its answer. Fastify's own signal listens to the request, which Node closes
 * as soon as its body has been read.
 */
function signalOf({ raw }: FastifyReply): AbortSignal {
  const gone = new AbortController();
  raw.once('close', () => {
    if (!raw.writableFinished) gone.abort();
  });
  if (raw.destroyed) gone.abort();
  return gone.signal;
}
