import type { Answer } from '../../../sdk/src/errors.ts';
import { exchange, requireSuccess } from '../../../sdk/src/exchange.ts';
import { retryAfterMs } from '../../../sdk/src/retry.ts';
import { sleep } from '../../../sdk/src/waiting.ts';
import { userAgent } from '../version.ts';

export interface Request {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  url: URL;
  headers: Record<string, string>;
  body?: unknown;
  signal: AbortSignal;
}

const wire = { fetch: (...given: Parameters<typeof fetch>) => fetch(...given), timeoutMs: 30_000, userAgent };

export async function getJson<Body>(url: URL, headers: Record<string, string>, signal: AbortSignal): Promise<Body> {
  return (await request({ method: 'GET', url, headers, signal })).body as Body;
}

/** For calls that the client does not have. It retries reads and throws errors like the client. */
export async function request({ method, url, headers, body, signal }: Request): Promise<Answer> {
  const content: Record<string, string> = body === undefined ? {} : { 'content-type': 'application/json' };
  for (let retries = 0; ; retries++) {
    try {
      const answer = await exchange(wire, url.href, {
        method,
        headers: { ...headers, ...content },
        body: body === undefined ? undefined : JSON.stringify(body),
        signal,
      });
      requireSuccess(answer);
      return answer;
    } catch (error) {
      signal.throwIfAborted();
      const waitMs = retryAfterMs({ error, retries, repeatable: method === 'GET' }, Math.random());
      if (waitMs === undefined) throw error;
      await sleep(waitMs, signal);
    }
  }
}
