import type { FastifyInstance, FastifyReply, HTTPMethods } from 'fastify';
import type { Call, Reply, Route } from './route.ts';

/** Makes a route of ours one of Fastify's. Validation and serialisation come from the route's own schemas. */
export function mount(server: FastifyInstance, route: Route, beforeAnswer: (reply: FastifyReply) => void): void {
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
        caller: request.caller,
        correlationId: request.id,
        address: request.ip,
        get signal() {
          signal ??= signalOf(reply);
          return signal;
        },
      };
      const answer = await route.handler(call);
      beforeAnswer(reply);
      return send(reply, answer);
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

function send(reply: FastifyReply, answer: Reply): FastifyReply {
  reply.code(answer.status);
  if (answer.location !== undefined) reply.header('Location', answer.location);
  if (answer.cookie !== undefined) reply.header('Set-Cookie', answer.cookie);
  if (answer.headers !== undefined) reply.headers(answer.headers);
  if (answer.retryAfterSeconds !== undefined) reply.header('Retry-After', String(answer.retryAfterSeconds));
  if (answer.content === undefined) {
    return answer.body === undefined ? reply.send() : reply.type('application/json').send(answer.body);
  }
  if (answer.content.headers !== undefined) reply.headers(answer.content.headers);
  return reply.type(answer.content.type).send(answer.content.data);
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
