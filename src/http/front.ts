import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '../platform/clock.ts';
import { newId } from '../platform/ids.ts';
import type { Connections } from './connections.ts';
import type { Exchange } from './exchange.ts';
import type { Admission, Gate } from './gate.ts';
import { pathOf, type RouteTable } from './route-table.ts';

export interface FrontOptions {
  gate: Gate;
  clock: Clock;
  table: RouteTable;
  connections: Connections;
  addressOf: (request: IncomingMessage) => string;
  refuse: (exchange: Exchange, error: unknown) => void;
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
 * Stands in front of Fastify: whom the gate refuses is answered here, before it has cost anything more. A flood of
 * refusals is the one load that its sender does not pay for.
 */
export function createFront(options: FrontOptions): Front {
  const { gate, clock, table, connections, addressOf, refuse, next } = options;

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
        admission.then((decided) => proceed(exchange, decided)).catch((error) => refuse(exchange, error));
      } catch (error) {
        refuse(exchange, error);
      }
    },
  };
}
