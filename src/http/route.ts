import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import type { Static, TObject, TSchema } from 'typebox';
import type { ApiError, ErrorCode } from '../platform/errors.ts';
import type { OwnedText } from '../platform/owned-text.ts';
import type { SpanAttributes } from '../platform/tracing/span.ts';
import type { HeaderName } from './openapi/header-table.ts';
import type { SendingRights } from './sending-rights.ts';

export type Scope = 'verify:manage' | 'messaging:send';
export type Api = 'sms' | 'verify' | 'messaging';
/** The APIs that Twilio's libraries can call. */
export type SidApi = 'sms' | 'verify';
/** Stores write an API as its index in this list, so new ones go to the end. */
export const apiNames: readonly Api[] = ['sms', 'verify', 'messaging'];

/**
 * How a route is protected; required, so a forgotten guard does not compile. `visitor`: a portal page before sign-in,
 * protected only against other sites. `client`: the identity endpoints, which check the credential themselves.
 */
export type Auth =
  | { kind: 'none' }
  | { kind: 'apikey' }
  /** Without a scope, any of our tokens will do. */
  | { kind: 'bearer'; scope: Scope | undefined }
  /** With `session`, the caller is the signed-in person if there is one. */
  | { kind: 'visitor'; session?: true }
  /** A signed-in person, with any role: for routes about the person, not an account. */
  | { kind: 'person' }
  /** HTTP Basic with an account sid and its token, as Twilio's libraries send them. */
  | { kind: 'sid'; api: SidApi }
  /** A member of the account. Without a role, reading needs a viewer and everything else a developer. */
  | { kind: 'developer'; role?: Role }
  /** A developer who calls an API in the portal for the path's application: its registration's limits apply. */
  | { kind: 'try'; api: Api }
  | { kind: 'operator' }
  | { kind: 'client' }
  /** A browser that comes back from the provider of single sign-on: the caller is what its cookies hold. */
  | { kind: 'returning' }
  | { kind: 'metrics' }
  /** A provider's callback: the token in its path, and the proof that the handler checks. */
  | { kind: 'callback' }
  /** An identity server's call: the handler checks its proof, then charges the registration. */
  | { kind: 'hook' };

/** Who calls, without the credential. */
export type Caller = { kind: 'anonymous' } | Developer | CallingApplication | CallingClient | ReturningBrowser;

/** An application registered for the API it calls. */
export interface CallingApplication {
  kind: 'application';
  applicationId: string;
  /** Shown in verification texts. */
  applicationName: string;
  registrationId: string;
  /** The key of its rate windows. A registration that is created again keeps them. */
  windowKey: string;
  api: Api;
  /** Whether it may send texts of high priority. */
  highPriority: boolean;
  rights: SendingRights;
}

/** A client of the identity provider. The endpoint checks its secret, so this holds what the client sent. */
export interface CallingClient {
  kind: 'client';
  /** From HTTP Basic; null when the header could not be read. */
  basic: { clientId: string; clientSecret: string } | null | undefined;
}

/** A browser that was at the provider of single sign-on. */
export interface ReturningBrowser {
  kind: 'returning';
  /** The token of its attempt. It proves only that the attempt began in this browser. */
  attempt: string | undefined;
  /** The session that it has, if any. */
  sessionHash: Buffer | undefined;
}

/** What a member of an account may do: read; also change what belongs to applications; also decide who is a member. */
export type Role = 'viewer' | 'developer' | 'owner';
export const roles: readonly Role[] = ['viewer', 'developer', 'owner'];

export interface Developer {
  kind: 'developer';
  personId: string;
  /** The account that the person acts for. */
  accountId: string;
  role: Role;
  operator: boolean;
  /** Whether the person signs in with a second factor. */
  secondFactor: boolean;
  /** Identifies the session; useless as a credential. */
  sessionHash: Buffer;
}

/** The parts of a request that a provider's proof covers. */
export interface RawRequest {
  /** With its query. */
  target: string;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

/** An application whose call has proved to be its own, with its limits. */
export interface ProvedCaller {
  caller: CallingApplication;
  limits: { readonly perMinute: number; readonly burst: number };
}

/**
 * For a call whose proof covers its body: charges the registration of a proved one, else the address, after the fact.
 * `refusal` is the 429 of a limit. The answer's headers show the decision.
 */
export type Charge = (
  proved: ProvedCaller | undefined,
) => Promise<{ retryAfterMs: number; refusal: ApiError | undefined }>;

/** The trace of a sampled request. */
export interface RequestTrace {
  readonly traceId: string;
  /** The request's span, as rows store it: later spans of these rows become its children. */
  readonly kept: string;
  /** A span of work that began at `startMs` (steady) and ends now. */
  note(name: string, startMs: number, attributes?: SpanAttributes): void;
}

/** Names the request that records come from. */
export type Origin = Pick<Call, 'correlationId' | 'trace'>;

/** All that a handler gets. It has no headers, so no service can see a credential. */
export interface Call<Params = unknown, Query = unknown, Body = unknown> {
  params: Params;
  query: Query;
  body: Body;
  caller: Caller;
  method: string;
  /** Without the query. */
  path: string;
  /** Only on `idempotent` routes. */
  idempotencyKey: string | undefined;
  correlationId: string;
  /** Undefined unless the request is sampled. */
  trace: RequestTrace | undefined;
  /** The caller's address, behind the proxies we trust. */
  address: OwnedText;
  /** Maximum requests of this caller in the queue of a bulkhead: as many as its plan admits in a minute. */
  room: number;
  /** Aborted when the caller disconnects. */
  signal: AbortSignal;
  /** Only on `stream` routes, unchecked: the last event that a returning caller has. */
  lastEventId: string | undefined;
  /**
   * Only on `stream` and `waits` routes: calls back once when the caller's credential ends. The returned function stops
   * watching.
   */
  onCredentialEnd(act: () => void): () => void;
  /** Only on routes that consume `raw`. */
  raw: RawRequest | undefined;
  /** Only on hooks and routes of developers: charges a registration, or without one the address. */
  charge: Charge | undefined;
}

export interface Reply {
  status: number;
  body?: unknown;
  location?: string;
  cookie?: string;
  retryAfterSeconds?: number;
  /** The outcome of the request, for its trace. Nothing that the caller wrote. */
  outcome?: string;
  /** The answer is a 503 in another form: the registration gets the slot back. */
  isUnserved?: boolean;
  headers?: Record<string, string>;
  /** For answers that are not JSON: a page, metrics, an event stream. */
  content?: {
    type: string;
    data: string | Buffer | Readable;
    /** The same data for callers that accept gzip. */
    gzip?: Buffer;
    headers?: Record<string, string>;
  };
}

export type Bulkhead = 'side' | 'outside';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export interface Answer {
  description: string;
  schema?: TSchema;
  /** The media type, if not JSON. */
  type?: string;
  /** Headers beside those of every answer. */
  headers?: HeaderName[];
  /** Replaces the example that is generated from the schema. */
  example?: unknown;
}

export interface Route {
  method: Method;
  /** In OpenAPI's form: `/portal/v1/applications/{id}`. */
  path: string;
  /** Also answers with a slash at the end of its path, because people type page addresses that way. */
  slash?: true;
  auth: Auth | Auth[];
  /** Its name in generated clients, like `sendMessage`. It stays the same for good. */
  operationId?: string;
  /** Its section in the reference. */
  tag: string;
  summary: string;
  description?: string;
  params?: TObject;
  query?: TObject;
  body?: TSchema;
  /** The body's format; JSON by default. `raw`: the handler reads it, with headers and target. */
  consumes?: 'json' | 'form' | 'raw';
  /** Bytes of the longest body; 64 KiB by default. */
  longestBody?: number;
  answers: Record<number, Answer>;
  /**
   * What its handler refuses, with the reason. The reference adds what follows from the definition: of the credential,
   * the limits, the body, the parameters and the Idempotency-Key.
   */
  refuses?: Partial<Record<ErrorCode, string>>;
  /** Accepts an Idempotency-Key. */
  idempotent?: true;
  /**
   * The bulkhead for work that is not batched. `side`: lists, reports and all portal routes, on their own connections.
   * `outside`: it may wait seconds for another machine. `none`: the handler has limits of its own.
   */
  bulkhead?: Bulkhead | 'none';
  /** Equal requests of a registration that wait in the bulkhead get one answer: for reads of the registration's own data. */
  shared?: true;
  /** The answer lasts until the caller disconnects or its credential ends. Last-Event-ID resumes it. */
  stream?: true;
  /** The answer may wait for something to happen, so the caller's credential is watched. */
  waits?: true;
  /** Limits by address although the caller is known: a convenience that must not use up its quota. */
  limitedBy?: 'address';
  /** The error format: the contract's by default, that of RFC 6749, or one that the folder of the route defines. */
  errors?: 'oauth' | ErrorFormat;
  handler: (call: Call) => Reply | Promise<Reply>;
}

/** How the routes of a folder write their errors. A 429 has one field everywhere. */
export interface ErrorFormat {
  /** The title of its schema. */
  title: string;
  schema: TSchema;
  bodyOf(error: ApiError): object;
}

type StaticOr<Schema, Otherwise> = Schema extends TSchema ? Static<Schema> : Otherwise;

/** Defines a route whose handler gets its types from the schemas. */
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
  // Safe: the server validates params, query and body by these schemas before it calls the handler.
  return definition as Route;
}

/** The person whom the edge admitted to a route with `auth: person`, `developer` or `operator`. */
export function requireDeveloper(call: { caller: Caller }): Developer {
  if (call.caller.kind !== 'developer') throw new Error('this route is not protected by a session');
  return call.caller;
}

export function requireClient(call: { caller: Caller }): CallingClient {
  if (call.caller.kind !== 'client') throw new Error('this route is not one of the identity provider');
  return call.caller;
}

export function requireReturning(call: { caller: Caller }): ReturningBrowser {
  if (call.caller.kind !== 'returning') throw new Error('this route is not the callback of single sign-on');
  return call.caller;
}

export function requireApplication(call: { caller: Caller }): CallingApplication {
  if (call.caller.kind !== 'application')
    throw new Error('this route is not protected by a credential of an application');
  return call.caller;
}
