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
  /** Without a scope any token of ours will do. */
  | { kind: 'bearer'; scope: Scope | undefined }
  | { kind: 'visitor' }
  | { kind: 'developer' }
  | { kind: 'operator' }
  | { kind: 'client' }
  | { kind: 'metrics' };

/** Who calls, without the credential that proved it. */
export type Caller = { kind: 'anonymous' } | Developer | CallingApplication | CallingClient;

/** An application registered for the API it calls. */
export interface CallingApplication {
  kind: 'application';
  applicationId: string;
  /** As people see it in verification texts. */
  applicationName: string;
  /** What the limits are counted by. */
  registrationId: string;
  api: Api;
}

/** Whoever asks the identity provider. Its secret is checked by the endpoint, so here it is all that was sent. */
export interface CallingClient {
  kind: 'client';
  /** From HTTP Basic; null when that header was there and could not be read. */
  basic: { clientId: string; clientSecret: string } | null | undefined;
}

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
  method: string;
  /** Without the query. */
  path: string;
  /** Only on routes that are `idempotent`. */
  idempotencyKey: string | undefined;
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
  headers?: Record<string, string>;
  /** For what is not JSON: a page, a metrics text, a stream of events. */
  content?: {
    type: string;
    data: string | Buffer | Readable;
    /** The same, compressed, for whoever takes that. */
    gzip?: Buffer;
    headers?: Record<string, string>;
  };
}

export type Bulkhead = 'side' | 'single';

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
  /** Takes an Idempotency-Key. */
  idempotent?: true;
  /**
   * The bulkhead its work runs in, where it is not batched with that of other callers. `side`: lists and reports, on
   * connections of their own; all portal routes are there. `single`: a statement of its own, on the main connections.
   */
  bulkhead?: Bulkhead;
  /** Counts by address although the caller is identified: a convenience that must not use up a quota. */
  limitedBy?: 'address';
  /** How refusals are written: as the contract's error, or as RFC 6749 has it. */
  errors?: 'oauth';
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

export function requireClient(call: { caller: Caller }): CallingClient {
  if (call.caller.kind !== 'client') throw new Error('this route is not one of the identity provider');
  return call.caller;
}

export function requireApplication(call: { caller: Caller }): CallingApplication {
  if (call.caller.kind !== 'application')
    throw new Error('this route is not protected by a credential of an application');
  return call.caller;
}
