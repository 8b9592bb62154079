import { Pool } from 'undici';
import type { Ledger } from './ledger.ts';
import type { Meter } from './meter.ts';

export interface Reply {
  status: number;
  header(name: string): string | undefined;
  // biome-ignore lint/suspicious/noExplicitAny: the answers of every route; each caller knows its own.
  body: any;
}

export interface Ask {
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  path: string;
  headers?: Record<string, string>;
  json?: object;
  form?: Record<string, string>;
  /** When it should have been sent: a request that waits for its turn here is late for its caller too. */
  dueMs?: number;
  /** A long poll waits by its nature. */
  isTimed?: boolean;
}

/** Requests over connections that stay open. `undefined` is no answer or a 5xx, which the ledger has noted. */
export interface Client {
  url: string;
  ask(operation: string, ask: Ask): Promise<Reply | undefined>;
  /** The body as it comes, for a stream. */
  open(path: string, headers: Record<string, string>, signal: AbortSignal): Promise<AsyncIterable<Buffer>>;
  close(): Promise<void>;
}

const connections = 64;
const patienceMs = 30_000;

export function createClient(url: string, meter: Meter, ledger: Ledger): Client {
  const pool = new Pool(url, { connections, headersTimeout: patienceMs, bodyTimeout: patienceMs });
  return {
    url,
    async ask(
      operation,
      { method = 'GET', path, headers = {}, json, form, dueMs = performance.now(), isTimed = true },
    ) {
      const type = json !== undefined ? 'application/json' : form !== undefined ? formType : undefined;
      const body = json !== undefined ? JSON.stringify(json) : form && new URLSearchParams(form).toString();
      const all = type === undefined ? headers : { ...headers, 'content-type': type };
      try {
        const answer = await pool.request({ method, path, headers: all, body: body ?? null });
        const text = await answer.body.text();
        const status = answer.statusCode;
        if (isTimed) meter.time(operation, performance.now() - dueMs);
        ledger.check(answered, status < 500, () => `${operation}: ${status} ${text.slice(0, 200)}`);
        if (status >= 500) return undefined;
        const header = (name: string) => answer.headers[name]?.toString();
        return { status, header, body: text === '' ? undefined : JSON.parse(text) };
      } catch (error) {
        meter.time(operation, performance.now() - dueMs);
        ledger.check(answered, false, () => `${operation}: ${(error as Error).message}`);
        return undefined;
      }
    },
    async open(path, headers, signal) {
      const answer = await pool.request({ method: 'GET', path, headers, signal });
      if (answer.statusCode !== 200) throw new Error(`${path} answered ${answer.statusCode}`);
      return answer.body;
    },
    close: () => pool.destroy(),
  };
}

const answered = 'a request is answered, and not with a 5xx';
const formType = 'application/x-www-form-urlencoded';
