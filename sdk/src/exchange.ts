import { type Answer, ConnectionError, isObject, toError } from './errors.ts';

export interface Wire {
  fetch: typeof fetch;
  /** For one attempt, including its whole response. */
  timeoutMs: number;
  userAgent: string | undefined;
}

export interface OneRequest {
  method: string;
  headers: Record<string, string>;
  body?: string | undefined;
  signal?: AbortSignal | undefined;
  /** A long poll takes longer than other calls. */
  extraMs?: number | undefined;
}

/** Far above any response of the service. It limits the memory that a faulty proxy can use. */
const mostBytes = 16 * 1024 * 1024;

/** Sends a request once. Throws a ConnectionError without a complete response, and the caller's reason on abort. */
export async function exchange(wire: Wire, url: string, request: OneRequest): Promise<Answer> {
  const { method, body, signal, extraMs = 0 } = request;
  signal?.throwIfAborted();
  const limitMs = wire.timeoutMs + extraMs;
  // AbortSignal.any would leak a listener on a long-lived signal with each request.
  const ending = new AbortController();
  const stop = () => ending.abort(signal?.reason);
  const late = setTimeout(() => ending.abort(new Error(`no response within ${limitMs / 1000} seconds`)), limitMs);
  signal?.addEventListener('abort', stop, { once: true });
  // Node's fetch was seen to ignore its signal after a connection broke at a bad moment.
  const ended = new Promise<never>((_, reject) => {
    ending.signal.addEventListener('abort', () => reject(ending.signal.reason), { once: true });
  });
  const send = async () => {
    const response = await wire.fetch(url, {
      method,
      headers: { accept: 'application/json', ...request.headers, ...userAgentHeader(wire) },
      ...(body !== undefined && { body }),
      signal: ending.signal,
      // A key or token must not follow a redirect, and a page's cookies must not be sent.
      redirect: 'manual',
      credentials: 'omit',
      cache: 'no-store',
    });
    return readAnswer(response);
  };
  try {
    return await Promise.race([send(), ended]);
  } catch (error) {
    if (signal?.aborted) throw signal.reason;
    throw toConnectionError(ending.signal.aborted ? ending.signal.reason : error);
  } finally {
    clearTimeout(late);
    signal?.removeEventListener('abort', stop);
  }
}

function userAgentHeader({ userAgent }: Wire): Record<string, string> {
  return userAgent === undefined ? {} : { 'user-agent': userAgent };
}

async function readAnswer(response: Response): Promise<Answer> {
  const { status, headers } = response;
  const text = await readText(response);
  if (text === '') return { status, headers, body: undefined };
  try {
    return { status, headers, body: JSON.parse(text) };
  } catch (error) {
    // Truncated JSON is a lost connection. Anything else is a page of a proxy.
    if (response.ok && /^application\/json\b/i.test(headers.get('content-type') ?? '')) throw error;
    return { status, headers, body: undefined };
  }
}

async function readText({ body }: Response): Promise<string> {
  if (body === null) return '';
  const decoder = new TextDecoder();
  const reader = body.getReader();
  let text = '';
  for (let bytes = 0; ; ) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    bytes += value.length;
    if (bytes > mostBytes) {
      await reader.cancel();
      throw new Error(`the response has more than ${mostBytes} bytes`);
    }
    text += decoder.decode(value, { stream: true });
  }
}

function toConnectionError(error: unknown): ConnectionError {
  if (error instanceof ConnectionError) return error;
  const cause = isObject(error) && error.cause instanceof Error ? error.cause : error;
  const reason = cause instanceof Error ? cause.message || cause.name : String(cause);
  return new ConnectionError(`The service could not be reached: ${reason}`, { cause: error });
}

/** The JSON of a success; throws the service's error otherwise. */
export function requireSuccess(answer: Answer): unknown {
  const { status, body } = answer;
  if (status < 200 || status > 299) {
    // A browser hides the status of a redirect: 0.
    if (body !== undefined || (status >= 400 && status <= 599)) throw toError(answer);
    throw toError({ ...answer, body: { message: `${notTheService} It answered ${status}.` } });
  }
  if (body === undefined && status !== 204) throw toError({ ...answer, body: { message: notTheService } });
  return body;
}

const notTheService = 'The server at this address is not Heliograph: check baseUrl.';
