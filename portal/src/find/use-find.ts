import { useEffect, useState } from 'react';
import { call, withQuery } from '../api/call.ts';
import type { FindPage, Found } from '../api/find-types.ts';
import { type Problem, toProblem } from '../api/problem.ts';
import { useSession } from '../session/session.tsx';

export interface FindState {
  /** Undefined before the first answer to this query. */
  found: Found[] | undefined;
  indexing: string[];
  problem: Problem | undefined;
  /** Searches further back; undefined when all was searched. */
  more: (() => void) | undefined;
}

const nothing: FindState = { found: undefined, indexing: [], problem: undefined, more: undefined };
/** Time after the last key before the service is asked. */
const pauseMs = 180;
const shortest = 2;

/** Searches as a person types. An operator searches in all accounts, or in the own one without a second factor. */
export function useFind(query: string): FindState {
  const { account, expire } = useSession();
  const [state, setState] = useState<FindState & { query: string }>({ ...nothing, query: '' });
  const text = query.trim();
  const isOperator = account?.operator === true;

  useEffect(() => {
    if (text.length < shortest) return;
    const control = new AbortController();
    const { signal } = control;

    async function ask(cursor: string | null, before: Found[]): Promise<void> {
      try {
        const page = await askService(isOperator, text, cursor, signal);
        if (signal.aborted) return;
        const known = new Set(before.map(({ id }) => id));
        const found = [...before, ...page.data.filter(({ id }) => !known.has(id))];
        const { next_cursor: next, indexing } = page;
        const more = next === null ? undefined : () => void ask(next, found);
        setState({ query: text, found, indexing, problem: undefined, more });
      } catch (error) {
        if (signal.aborted) return;
        const problem = toProblem(error);
        if (problem.status === 401) return expire();
        setState({ ...nothing, query: text, found: before, problem });
      }
    }

    const timer = setTimeout(() => void ask(null, []), pauseMs);
    return () => {
      clearTimeout(timer);
      control.abort();
    };
  }, [text, isOperator, expire]);

  if (text.length < shortest) return { ...nothing, found: [] };
  return state.query === text ? state : nothing;
}

async function askService(
  isOperator: boolean,
  q: string,
  cursor: string | null,
  signal: AbortSignal,
): Promise<FindPage> {
  const own = () => call<FindPage>('GET', withQuery('/portal/v1/find', { q, cursor }), { signal });
  if (!isOperator) return own();
  try {
    return await call<FindPage>('GET', withQuery('/portal/v1/operator/find', { q, cursor }), { signal });
  } catch (error) {
    if (toProblem(error).status !== 403) throw error;
    return own();
  }
}
