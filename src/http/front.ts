import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '../platform/clock.ts';
import type { ApiError } from '../platform/errors.ts';
import { newId } from '../platform/ids.ts';
import type { Connections } from './connections.ts';
import { readApiError, refusalBody } from './error-reply.ts';
import type { Exchange } from './exchange.ts';
import type { Admission, Gate } from './gate.ts';
import { closeGentlyAfterAnswer } from './raw-socket.ts';
import { pathOf, type RouteTable } from './route-table.ts';

export interface FrontOptions {
  gate: Gate;
  clock: Clock;
  table: RouteTable;
  connections: Connections;
  securityHeaders: Record<string, string>;
  addressOf: (request: IncomingMessage) => string;
  /** What was refused by mistake of ours is told to the log. */
  onFailure: (refusal: ApiError, correlationId: string) => void;
  onAnswered: (exchange: Exchange) => void;
  /** Where requests go that are let in, and those the front does not know. */
  next: (request: IncomingMessage, response: ServerResponse) => void;
}

export interface Front {
  receive(request: IncomingMessage, response: ServerResponse): void;
  /** Names a request; for one that came by another way than `receive` as well. */
  begin(request: IncomingMessage, response: ServerResponse): Exchange;
  admit(exchange: Exchange): Admission | Promise<Admission>;
}

/**
 * Stands in front of Fastify: whom the gate refuses is answered here, at half the cost. A flood of refusals is the one
 * load that its sender does not pay for.
 */
export function createFront(options: FrontOptions): Front {
  const { gate, clock, table, connections, addressOf, onAnswered, next } = options;
  const fixedHeaders = Object.entries(options.securityHeaders).flat();

  function begin(request: IncomingMessage, response: ServerResponse): Exchange {
    const exchange: Exchange = {
      correlationId: newId('req', clock),
      request,
      response,
      startedMs: clock.steadyMs(),
      route: undefined,
      admission: undefined,
      refusal: undefined,
      answer: (error) => refuse(exchange, error),
    };
    request.exchange = exchange;
    connections.begin(exchange);
    return exchange;
  }

  function admit({ correlationId, request, route }: Exchange): Admission | Promise<Admission> {
    return gate.admit({
      correlationId,
      method: request.method ?? '',
      path: pathOf(request.url ?? ''),
      route,
      headers: request.headers,
      rawHeaders: request.rawHeaders,
      address: addressOf(request),
    });
  }

  function proceed(exchange: Exchange, admission: Admission): void {
    const { request, response } = exchange;
    // Its body broke off while the gate was thinking, and it was answered.
    if (response.headersSent) return;
    exchange.admission = admission;
    if (admission.refusal === undefined) next(request, response);
    else refuse(exchange, admission.refusal);
  }

  function fail(exchange: Exchange, error: unknown): void {
    if (exchange.response.headersSent) return;
    const refusal = readApiError(error, exchange.request.complete);
    options.onFailure(refusal, exchange.correlationId);
    refuse(exchange, refusal);
  }

  function refuse(exchange: Exchange, refusal: ApiError): void {
    const { correlationId, request, response, route, admission } = exchange;
    exchange.refusal = refusal;
    const { status, body } = refusalBody(refusal, route, correlationId);
    const text = JSON.stringify(body);
    const limitHeaders = admission?.limitHeaders ?? gate.headersForUnreadable(addressOf(request));
    const headers = [...fixedHeaders, 'X-Correlation-ID', correlationId];
    for (const name in limitHeaders) headers.push(name, limitHeaders[name] ?? '');
    for (const name in refusal.headers) headers.push(name, refusal.headers[name] ?? '');
    headers.push('Content-Type', 'application/json; charset=utf-8', 'Content-Length', String(Buffer.byteLength(text)));
    if (connections.endsWith(request)) headers.push('Connection', 'close');
    // Whoever still sends its body comes to read its answer.
    if (!request.complete) closeGentlyAfterAnswer(request.socket);
    response.writeHead(status, headers).end(text);
    if (request.complete && response.writableFinished) connections.end(exchange);
    else response.once('close', () => connections.end(exchange));
    onAnswered(exchange);
  }

  return {
    begin,
    admit,
    receive(request, response) {
      const exchange = begin(request, response);
      exchange.route = table.find(request.method ?? '', request.url ?? '');
      if (exchange.route === undefined) return next(request, response);
      try {
        const admission = admit(exchange);
        if (!(admission instanceof Promise)) return proceed(exchange, admission);
        admission.then((decided) => proceed(exchange, decided)).catch((error) => fail(exchange, error));
      } catch (error) {
        fail(exchange, error);
      }
    },
  };
}
