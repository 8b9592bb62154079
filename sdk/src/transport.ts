import { HeliographError } from './errors.ts';
import { exchange, requireSuccess, type Wire } from './exchange.ts';
import { checkIdempotencyKey } from './idempotency.ts';
import { closedForMs, mostRetries, retryAfterMs } from './retry.ts';
import type { Token, Tokens } from './tokens.ts';
import { Turnstile } from './turnstile.ts';
import { sleep } from './waiting.ts';

export interface CallOptions {
  /** Aborts the call, its retries and its waits. */
  signal?: AbortSignal | undefined;
}

export interface WriteOptions extends CallOptions {
  /** Your own key, if the call must stay the same after a restart of your program. By default each call gets a new key. */
  idempotencyKey?: string | undefined;
}

export interface ApiRequest {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  path: string;
  query?: Record<string, string | number | boolean | undefined> | undefined;
  body?: unknown;
  idempotencyKey?: string | undefined;
  signal?: AbortSignal | undefined;
  /** A long poll: the service answers late on purpose. */
  waitMs?: number | undefined;
}

/** The credential of an API. */
export type Credential = { apiKey: string } | { tokens: Tokens };

/** A request, identical in each attempt. */
interface Prepared {
  url: string;
  method: string;
  headers: Record<string, string>;
  body: string | undefined;
  signal: AbortSignal | undefined;
  waitMs: number;
  repeatable: boolean;
}

/** Sends the calls of one API with its credential, and retries where that is safe. */
export class Transport {
  readonly #turnstile = new Turnstile();
  readonly #wire: Wire;
  readonly #baseUrl: string;
  readonly #credential: () => Credential;

  constructor(wire: Wire, baseUrl: string, credential: () => Credential) {
    this.#wire = wire;
    this.#baseUrl = baseUrl;
    this.#credential = credential;
  }

  async call<Body>(request: ApiRequest): Promise<Body> {
    const credential = this.#credential();
    const prepared = prepare(this.#baseUrl, request);
    const { signal, repeatable } = prepared;
    let isRenewed = false;
    for (let retries = 0; ; ) {
      retries += await this.#turnstile.enter(mostRetries - retries, signal);
      const token = await this.#tokenInTurn(credential, signal);
      try {
        return (await this.#sendInTurn(prepared, headersOf(credential, token))) as Body;
      } catch (error) {
        signal?.throwIfAborted();
        // The token was revoked or its key withdrawn: retry once with a new token.
        if ('tokens' in credential && token !== undefined && !isRenewed && isRefusal(error, 401)) {
          isRenewed = true;
          credential.tokens.forget(token);
          continue;
        }
        const waitMs = retryAfterMs({ error, retries, repeatable }, Math.random());
        if (waitMs === undefined) throw error;
        // After a 429 the turnstile is closed: the call waits there with all others.
        if (!isRefusal(error, 429)) await sleep(waitMs, signal);
        retries++;
      }
    }
  }

  /** The token of a call inside the turnstile. A failed token request had its own retries, so the call leaves. */
  async #tokenInTurn(credential: Credential, signal: AbortSignal | undefined): Promise<Token | undefined> {
    try {
      return 'tokens' in credential ? await credential.tokens.get(signal) : undefined;
    } catch (error) {
      this.#turnstile.leave(undefined);
      throw error;
    }
  }

  async #sendInTurn(prepared: Prepared, credential: Record<string, string>): Promise<unknown> {
    const { url, waitMs } = prepared;
    // A long poll would block the others.
    const isLong = waitMs > 0;
    if (isLong) this.#turnstile.leave(undefined);
    let remaining: number | undefined;
    try {
      const headers = { ...prepared.headers, ...credential };
      const answer = await exchange(this.#wire, url, { ...prepared, headers, extraMs: waitMs });
      remaining = readCount(answer.headers.get('ratelimit-remaining'));
      return requireSuccess(answer);
    } catch (error) {
      // Close before this call leaves the turnstile, because the next one would be refused too.
      if (isRefusal(error, 429)) this.#turnstile.close(closedForMs(error, Math.random()), error);
      throw error;
    } finally {
      if (!isLong) this.#turnstile.leave(remaining);
    }
  }
}

function prepare(baseUrl: string, request: ApiRequest): Prepared {
  const { method, path, query = {}, body, idempotencyKey, signal, waitMs = 0 } = request;
  const url = new URL(`${baseUrl}${path}`);
  for (const [name, value] of Object.entries(query)) if (value !== undefined) url.searchParams.set(name, String(value));
  return {
    url: url.href,
    method,
    headers: {
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(idempotencyKey !== undefined && { 'idempotency-key': checkIdempotencyKey(idempotencyKey) }),
    },
    // Serialized once: later changes by the caller would be a different call with the same key.
    body: body === undefined ? undefined : JSON.stringify(body),
    signal,
    waitMs,
    repeatable: method === 'GET' || idempotencyKey !== undefined,
  };
}

function headersOf(credential: Credential, token: Token | undefined): Record<string, string> {
  if ('apiKey' in credential) return { apikey: credential.apiKey };
  return { authorization: `Bearer ${token?.value ?? ''}` };
}

function isRefusal(error: unknown, status: number): error is HeliographError {
  return error instanceof HeliographError && error.status === status;
}

function readCount(text: string | null): number | undefined {
  return text !== null && /^[0-9]{1,9}$/.test(text) ? Number(text) : undefined;
}
