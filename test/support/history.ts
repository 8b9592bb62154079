import assert from 'node:assert/strict';

/**
 * What became of an operation, as its caller sees it. No answer, and a 503, leave open whether it was done: a comparison
 * with the records must take either for right.
 */
export type Outcome = 'answered' | 'refused' | 'unknown';

export interface Entry {
  operation: string;
  outcome: Outcome;
  /** 0 without an answer. */
  status: number;
  startedMs: number;
  tookMs: number;
}

export interface Reply<Body> {
  status: number;
  body: Body;
}

/** Everything that callers did and received, in the order of the answers. */
export interface History {
  entries: Entry[];
  /** Sends a request and writes down what came of it; undefined when nothing is known. */
  request<Body>(operation: string, url: string, init: RequestInit): Promise<Reply<Body> | undefined>;
  count(operation: string, outcome: Outcome): number;
  /** When the newest request was sent that had no answer, or this one. */
  lastTroubleMs(status?: number): number;
}

const patienceMs = 20_000;

export function createHistory(): History {
  const entries: Entry[] = [];
  return {
    entries,
    async request<Body>(operation: string, url: string, init: RequestInit) {
      const startedMs = performance.now();
      const note = (outcome: Outcome, status: number) =>
        entries.push({ operation, outcome, status, startedMs, tookMs: performance.now() - startedMs });
      try {
        const response = await fetch(url, { ...init, signal: AbortSignal.timeout(patienceMs) });
        const text = await response.text();
        const { status, headers } = response;
        if (status >= 500) {
          assert.equal(status, 503, `${operation}: ${status} ${text}`);
          assert.ok(Number(headers.get('Retry-After')) >= 1, `${operation}: a 503 without Retry-After`);
          note('unknown', status);
          return undefined;
        }
        note(status < 300 ? 'answered' : 'refused', status);
        return { status, body: (text === '' ? undefined : JSON.parse(text)) as Body };
      } catch (error) {
        if (error instanceof assert.AssertionError) throw error;
        note('unknown', 0);
        return undefined;
      }
    },
    count: (operation, outcome) =>
      entries.filter((entry) => entry.operation === operation && entry.outcome === outcome).length,
    lastTroubleMs: (wanted) =>
      entries.findLast(({ outcome, status }) => outcome === 'unknown' && (wanted ?? status) === status)?.startedMs ?? 0,
  };
}
