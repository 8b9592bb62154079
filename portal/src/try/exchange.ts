export interface SentRequest {
  method: string;
  path: string;
  headers: Record<string, string>;
  body: string;
}

export interface ReceivedAnswer {
  status: number;
  statusText: string;
  headers: [name: string, value: string][];
  body: string;
}

/** One request and its response. */
export interface Exchange {
  id: string;
  title: string;
  request: SentRequest;
  /** Null when no response arrived. */
  answer: ReceivedAnswer | null;
  durationMs: number;
  /** When it ended, by the page's clock. */
  endedAtMs: number;
  /** Masked when the exchange is shown. */
  secrets: string[];
}

let count = 0;

interface SendOptions {
  /** Sends the portal's cookie, for calls of the portal itself. */
  withCookie?: boolean;
  /** The path of the portal that makes the same call with the session, and without the credential in the headers. */
  via?: string;
}

/** Sends the request without the portal's cookie, as the developer's program would, unless the options say otherwise. */
export async function sendRequest(
  title: string,
  request: SentRequest,
  secrets: string[],
  { withCookie = false, via }: SendOptions = {},
): Promise<Exchange> {
  const { method, path, body } = request;
  const startedMs = performance.now();
  const headers = via === undefined ? request.headers : { 'Content-Type': 'application/json' };
  const credentials = withCookie || via !== undefined ? 'same-origin' : 'omit';
  const given = { method, headers, credentials, cache: 'no-store', ...(body !== '' && { body }) } as const;
  const answer = await fetch(via ?? path, given)
    .then(readAnswer)
    .catch(() => null);
  const durationMs = performance.now() - startedMs;
  return { id: `exchange-${++count}`, title, request, answer, durationMs, endedAtMs: Date.now(), secrets };
}

async function readAnswer(response: Response): Promise<ReceivedAnswer> {
  const { status, statusText, headers } = response;
  return { status, statusText, headers: [...headers], body: await response.text() };
}

export function headerOf(answer: ReceivedAnswer, name: string): string | undefined {
  return answer.headers.find(([each]) => each === name)?.[1];
}

export function bodyOf<Body>(answer: ReceivedAnswer): Body | undefined {
  try {
    return JSON.parse(answer.body) as Body;
  } catch {
    return undefined;
  }
}
