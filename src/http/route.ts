import type { Readable } from 'node:stream';
import type { Static, TObject, TSchema } from 'typebox';

export type Scope = 'verify:manage' | 'messaging:send';
export type Api = 'sms' | 'verify' | 'messaging';

/**
 * How a route is protected. It is a required field of every route, so a forgotten guard does not compile. `visitor` is a
 * page of ours before signing in: no session yet, but no other site may act in the visitor's name either. `client` is for
 * the identity endpoints, where the caller proves itself in the request they are there to read.
 */
export type Auth =
  | { kind: 'none' }
  | { kind: 'apikey' }
  | { kind: 'bearer'; scope: Scope }
  | { kind: 'visitor' }
  | { kind: 'developer' }
  | { kind: 'operator' }
  | { kind: 'client' }
  | { kind: 'metrics' };

/** Who calls, without the credential that proved it. */
export type Caller = { kind: 'anonymous' } | Developer;

export interface Developer {
  kind: 'developer';
  accountId: string;
  operator: boolean;
  /** Names the session without being able to open it. */
  sessionHash: Buffer;
}

/** All a handler gets. There are no headers in it, so no service can look at a credential. */
export interface Call<Params = unknown, Query = unknown, Body = unknown> {
  params: Params;
  query: Query;
  body: Body;
  caller: Caller;
  correlationId: string;
  /** The caller's address, behind the proxies we trust. */
  address: string;
  /** Aborted when the caller has gone. */
  signal: AbortSignal;
}

export interface Reply {
  status: number;
  body?: unknown;
  location?: string;
  cookie?: string;
  retryAfterSeconds?: number;
  /** For what is not JSON: a page, a metrics text, a stream of events. */
  content?: { type: string; data: string | Buffer | Readable; headers?: Record<string, string> };
}

export type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';

export interface Answer {
  description: string;
  schema?: TSchema;
  /** The media type when it is not JSON. */
  type?: string;
}

export interface Route {
  method: Method;
  /** As OpenAPI writes it: `/portal/v1/applications/{id}`. */
  path: string;
  auth: Auth | Auth[];
  /** The heading it stands under in the reference. */
  tag: string;
  summary: string;
  description?: string;
  params?: TObject;
  query?: TObject;
  body?: TSchema;
  /** What the body is written in; JSON unless said. */
  consumes?: 'json' | 'form';
  answers: Record<number, Answer>;
  handler: (call: Call) => Reply | Promise<Reply>;
}

type StaticOr<Schema, Otherwise> = Schema extends TSchema ? Static<Schema> : Otherwise;

/** A route whose handler knows the types its own schemas promise. */
export function route<
  Params extends TObject | undefined = undefined,
  Query extends TObject | undefined = undefined,
  Body extends TSchema | undefined = undefined,
>(
  definition: Omit<Route, 'params' | 'query' | 'body' | 'handler'> & {
    params?: Params;
    query?: Query;
    body?: Body;
    handler: (
      call: Call<StaticOr<Params, unknown>, StaticOr<Query, unknown>, StaticOr<Body, unknown>>,
    ) => Reply | Promise<Reply>;
  },
): Route {
  // Sound because the server validates params, query and body by these very schemas before it calls the handler.
  return definition as Route;
}

/** The developer that the edge let through to a route with `auth: developer` or `operator`. */
export function requireDeveloper(call: { caller: Caller }): Developer {
  if (call.caller.kind !== 'developer') throw new Error('this route is not protected by a session');
  return call.caller;
}
