import { readProblem, unreachable } from './problem.ts';

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** One call of the portal API, with the session's cookie. */
export async function call<Answer>(
  method: Method,
  path: string,
  options: { body?: object; signal?: AbortSignal } = {},
): Promise<Answer> {
  const { body, signal } = options;
  const response = await fetch(path, {
    method,
    ...(body && { headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) }),
    ...(signal && { signal }),
  }).catch((error: unknown) => {
    throw signal?.aborted ? error : unreachable;
  });
  if (!response.ok) throw await readProblem(response);
  return (response.status === 204 ? undefined : await response.json()) as Answer;
}

/** Adds the parameters that are set to the path. */
export function withQuery(path: string, parameters: Record<string, string | number | null>): string {
  const given = Object.entries(parameters).filter(([, value]) => value !== null && value !== '');
  const query = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return query === '' ? path : `${path}${path.includes('?') ? '&' : '?'}${query}`;
}

export function operatorPath(rest: string): string {
  return `/portal/v1/operator/${rest}`;
}

export function applicationPath(id: string, rest = ''): string {
  return `/portal/v1/applications/${encodeURIComponent(id)}${rest}`;
}
