import { Readable } from 'node:stream';
import buildSerializer from 'fast-json-stringify';
import type { FieldProblem } from '../platform/errors.ts';
import type { OwnedText } from '../platform/owned-text.ts';
import { type FairShare, LeftQueue } from '../platform/work/fair-share.ts';
import { createSharedReads } from '../platform/work/shared-reads.ts';
import { jsonType } from './error-reply.ts';
import type { AnswerData, AnswerParts, Exchange, MountedRoute } from './exchange.ts';
import { placeOf, roomOf } from './queue-place.ts';
import { readForm, readJson } from './request/body.ts';
import { compileOnce } from './request/compiled-schemas.ts';
import { fieldProblems, mergeProblems } from './request/field-problems.ts';
import { readIdempotencyKey } from './request/headers.ts';
import { createQueryReader } from './request/query.ts';
import { compileValidator, listsByItem, validationError } from './request/validation.ts';
import type { Bulkhead, Call, Caller, Charge, RawRequest, Reply, RequestTrace, Route } from './route.ts';

/** Where callers take turns, for work that is not batched. */
export type Bulkheads = Record<Bulkhead, FairShare>;

/** Compiles a route's schemas when its first request needs them: to compile all would be a third of a start's work. */
export function mount(route: Route, bulkheads?: Bulkheads): MountedRoute {
  const isForm = route.consumes === 'form';
  const isRaw = route.consumes === 'raw';
  const paramsProblems = validator(route.params, 'params');
  const bodyProblems = validator(isForm || isRaw ? undefined : route.body, 'body');
  const queryProblems = validator(route.query, 'querystring');
  const readQuery = route.query === undefined ? undefined : createQueryReader(route.query);
  const hasSecret = [route.auth].flat().some(({ kind }) => kind === 'client');
  const byItem = listsByItem(route.body);
  const serialize = serializer(route);
  const bulkhead = bulkheadOf(route);
  const share = bulkhead && bulkheads?.[bulkhead];
  const reads = route.shared === true && share !== undefined ? createSharedReads(share) : undefined;

  /** Also refuses text that Postgres cannot store, which no schema checks. */
  function readBody(bytes: Buffer | undefined): unknown {
    if (isForm) return bytes === undefined ? new URLSearchParams() : readForm(bytes, !hasSecret);
    // The connection reads the next request into the same bytes.
    if (isRaw) return Buffer.from(bytes ?? []);
    const { value, problems } = bytes === undefined ? nothing : readJson(bytes, byItem);
    // Validate a missing body as null, so that the error names what to send.
    refuse(mergeProblems(bodyProblems(value ?? null), problems));
    return value;
  }

  function readCall(exchange: Exchange, bytes: Buffer | undefined): Call {
    const { params, target } = exchange;
    refuse(paramsProblems(params));
    const body = readBody(bytes);
    const query = readQuery?.(target) ?? { value: {}, problems: [] };
    refuse(mergeProblems(query.problems, queryProblems(query.value)));
    const key = route.idempotent ? readIdempotencyKey(exchange.headers['idempotency-key']) : undefined;
    return new RouteCall(exchange, params, query.value, body, key);
  }

  function runNow(exchange: Exchange, call: Call): AnswerParts | Promise<AnswerParts> {
    const reply = route.handler(call);
    return reply instanceof Promise
      ? reply.then((answer) => partsOf(exchange, answer, serialize))
      : partsOf(exchange, reply, serialize);
  }

  /** Equal reads get the same answer, written once: thousands that wait take little memory. */
  function runInTurn(exchange: Exchange, call: Call, share: FairShare): Promise<AnswerParts> {
    const place = placeOf(exchange, call.caller);
    const work = async () => runNow(exchange, call);
    const key = reads === undefined ? undefined : keyOf(exchange, call);
    const answer = reads === undefined || key === undefined ? share.run(place, work) : reads(key, place, work);
    return answer.catch((error: unknown) => {
      if (error instanceof LeftQueue) return unanswered;
      throw error;
    });
  }

  return {
    ...route,
    run(exchange, body) {
      const call = readCall(exchange, body);
      return share === undefined ? runNow(exchange, call) : runInTurn(exchange, call, share);
    },
  };
}

/** For a caller that left before its turn. Logged and counted, but never read. */
const unanswered: AnswerParts = { status: 499, headers: {}, type: undefined, data: '' };

/** Names everything the answer depends on; undefined if requests cannot share it. Registrations never share a read. */
function keyOf({ method, target }: Exchange, { caller, body, idempotencyKey }: Call): string | undefined {
  if (caller.kind !== 'application' || idempotencyKey !== undefined) return undefined;
  return JSON.stringify([caller.registrationId, method, target, body ?? null]);
}

const anonymous: Caller = { kind: 'anonymous' };

/** Portal routes run in the `side` bulkhead by default. */
function bulkheadOf({ bulkhead, auth }: Route): Bulkhead | undefined {
  if (bulkhead === 'none') return undefined;
  const portal = [auth].flat().some(({ kind }) => ['person', 'developer', 'operator'].includes(kind));
  return bulkhead ?? (portal ? 'side' : undefined);
}

/** A class with getters, because every request creates one: rarely used values are computed on demand. */
class RouteCall implements Call {
  readonly #exchange: Exchange;
  #signal: AbortSignal | undefined;
  readonly params: unknown;
  readonly query: unknown;
  readonly body: unknown;
  readonly idempotencyKey: string | undefined;

  constructor(exchange: Exchange, params: unknown, query: unknown, body: unknown, idempotencyKey: string | undefined) {
    this.#exchange = exchange;
    this.params = params;
    this.query = query;
    this.body = body;
    this.idempotencyKey = idempotencyKey;
  }

  get caller(): Caller {
    return this.#exchange.admission?.caller ?? anonymous;
  }

  get room(): number {
    return roomOf(this.#exchange);
  }

  get method(): string {
    return this.#exchange.method;
  }

  get path(): string {
    const { route, path, params } = this.#exchange;
    return route !== undefined && path.includes('%') ? plainPath(route.path, params) : path;
  }

  get correlationId(): string {
    return this.#exchange.correlationId;
  }

  get trace(): RequestTrace | undefined {
    return this.#exchange.span;
  }

  get address(): OwnedText {
    return this.#exchange.address;
  }

  get lastEventId(): string | undefined {
    const { route, headers } = this.#exchange;
    const sent = headers['last-event-id'];
    return route?.stream === true && typeof sent === 'string' && sent !== '' ? sent : undefined;
  }

  onCredentialEnd(act: () => void): () => void {
    return this.#exchange.admission?.onCredentialEnd?.(act) ?? (() => {});
  }

  get raw(): RawRequest | undefined {
    const { route, target, headers } = this.#exchange;
    return route?.consumes === 'raw' && Buffer.isBuffer(this.body) ? { target, headers, body: this.body } : undefined;
  }

  get charge(): Charge | undefined {
    return this.#exchange.admission?.charge;
  }

  get signal(): AbortSignal {
    if (this.#signal === undefined) {
      const gone = new AbortController();
      this.#signal = gone.signal;
      this.#exchange.onGone(() => gone.abort());
    }
    return this.#signal;
  }
}

/** The path of these values in one spelling: escaped only where two paths would become the same. */
function plainPath(pattern: string, params: Record<string, string>): string {
  return pattern.replace(/\{(\w+)\}/g, (_, name: string) =>
    (params[name] ?? '').replaceAll('%', '%25').replaceAll('/', '%2F'),
  );
}

const nothing = { value: undefined, problems: [] };
const none: FieldProblem[] = [];

function validator(schema: object | undefined, part: 'params' | 'body' | 'querystring') {
  if (schema === undefined) return () => none;
  let compiled: ReturnType<typeof compileValidator> | undefined;
  return (value: unknown): FieldProblem[] => {
    const validate = compiled ?? compileValidator(schema);
    compiled = validate;
    return validate(value) ? none : fieldProblems(validate.errors ?? [], part);
  };
}

function refuse(problems: FieldProblem[]): void {
  if (problems.length > 0) throw validationError(problems);
}

/** Serialises a body by the schema of its status. Fields that the schema does not name are left out. */
type Serialize = (status: number, body: unknown) => string;

const compileSerializer = compileOnce((schema): ((body: unknown) => string) => buildSerializer(schema));

function serializer({ answers }: Route): Serialize {
  const byStatus = new Map<number, (body: unknown) => string>();
  return (status, body) => {
    const known = byStatus.get(status);
    if (known !== undefined) return known(body);
    const { schema, type } = answers[status] ?? {};
    const compiled = schema !== undefined && type === undefined ? compileSerializer(schema) : JSON.stringify;
    byStatus.set(status, compiled);
    return compiled(body);
  };
}

function partsOf(exchange: Exchange, answer: Reply, serialize: Serialize): AnswerParts {
  const { method, headers: sent } = exchange;
  exchange.outcome = answer.outcome;
  exchange.isUnserved = answer.isUnserved === true;
  const headers = headersOf(answer);
  const { status, body, content } = answer;
  if (content === undefined) {
    if (body === undefined) return { status, headers, type: undefined, data: '' };
    return { status, headers, type: jsonType, data: serialize(status, body) };
  }
  const { type, data, gzip } = content;
  if (gzip === undefined) return { status, headers, type: withCharset(type), data: bodyFor(method, data) };
  headers.Vary = 'Accept-Encoding';
  if (!acceptsGzip(sent['accept-encoding'])) return { status, headers, type, data };
  headers['Content-Encoding'] = 'gzip';
  return { status, headers, type, data: gzip };
}

function withCharset(type: string): string {
  if (type === 'application/json') return jsonType;
  return type === 'text/html' ? `${type}; charset=utf-8` : type;
}

/** Accepts gzip if the header names it without q=0 (RFC 9110, section 12.5.3). */
function acceptsGzip(accepted: string | string[] | undefined): boolean {
  return String(accepted ?? '')
    .split(',')
    .some((coding) => {
      const [name = '', weight = ''] = coding.toLowerCase().split(';', 2);
      return name.trim() === 'gzip' && !/^q=0(\.0*)?$/.test(weight.trim());
    });
}

/** HEAD has no body: destroy a stream, because nothing will read it. */
function bodyFor(method: string, data: AnswerData): AnswerData {
  if (method !== 'HEAD' || !(data instanceof Readable)) return data;
  data.destroy();
  return '';
}

function headersOf({ location, cookie, retryAfterSeconds, headers, content }: Reply): Record<string, string> {
  const all: Record<string, string> = {};
  if (location !== undefined) all.Location = location;
  if (cookie !== undefined) all['Set-Cookie'] = cookie;
  if (retryAfterSeconds !== undefined) all['Retry-After'] = String(retryAfterSeconds);
  if (headers !== undefined) Object.assign(all, headers);
  if (content?.headers !== undefined) Object.assign(all, content.headers);
  return all;
}
