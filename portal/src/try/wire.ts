export interface WireRequest {
  method: string;
  path: string;
  headers: Record<string, string>;
  body: string;
}

export interface WireAnswer {
  status: number;
  statusText: string;
  headers: [name: string, value: string][];
  body: string;
}

/** A request and its answer as they went over the wire. */
export interface Exchange {
  id: string;
  title: string;
  request: WireRequest;
  /** Null when none came back. */
  answer: WireAnswer | null;
  durationMs: number;
  /** What is masked when this is shown. */
  secrets: string[];
}

let count = 0;

/** Sends it as any other program would: the portal's cookie stays at home. */
export async function sendOverWire(title: string, request: WireRequest, secrets: string[]): Promise<Exchange> {
  const { method, path, headers, body } = request;
  const startedMs = performance.now();
  const answer = await fetch(path, { method, headers, body, credentials: 'omit', cache: 'no-store' }).then(
    readAnswer,
    () => null,
  );
  const durationMs = performance.now() - startedMs;
  return { id: `exchange ${++count}`, title, request, answer, durationMs, secrets };
}

async function readAnswer(response: Response): Promise<WireAnswer> {
  const { status, statusText, headers } = response;
  return { status, statusText, headers: [...headers], body: await response.text() };
}

export function headerOf(answer: WireAnswer, name: string): string | undefined {
  return answer.headers.find(([each]) => each === name)?.[1];
}

export function bodyOf<Body>(answer: WireAnswer): Body | undefined {
  try {
    return JSON.parse(answer.body) as Body;
  } catch {
    return undefined;
  }
}
