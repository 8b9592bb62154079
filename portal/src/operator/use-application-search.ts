import { useEffect, useRef, useState } from 'react';
import { call, operatorPath, withQuery } from '../api/call.ts';
import type { OperatedApplication } from '../api/operator-types.ts';
import { type Problem, toProblem } from '../api/problem.ts';
import type { Page } from '../api/types.ts';

/** An application as an option of a field. */
export interface FoundApplication {
  value: string;
  label: string;
  email: string;
}

/** Debounce: not every keystroke sends a request. */
const quietMs = 200;
const mostFound = 10;

/** The applications that a search finds, and the chosen ones, with their names. */
export function useApplicationSearch(
  search: string,
  chosen: string[],
): { found: FoundApplication[]; problem: Problem | undefined } {
  const [found, setFound] = useState<FoundApplication[]>([]);
  const [problem, setProblem] = useState<Problem | undefined>(undefined);
  const known = useRef(new Map<string, FoundApplication>());
  // The field shows the chosen application's name. Searching for that name would hide all others.
  const isChosen = chosen.some((id) => known.current.get(id)?.label === search);
  const text = isChosen ? '' : search.trim();
  const missing = chosen.find((id) => !known.current.has(id)) ?? '';

  useEffect(() => {
    const control = new AbortController();
    const { signal } = control;

    async function load(): Promise<void> {
      try {
        const all = await find(text, signal);
        const ofMissing = missing === '' ? [] : await find(missing, signal);
        for (const each of [...all, ...ofMissing]) known.current.set(each.value, each);
        // A deleted application is shown by its id.
        if (missing !== '' && !known.current.has(missing))
          known.current.set(missing, { value: missing, label: missing, email: '' });
        if (signal.aborted) return;
        setFound(all);
        setProblem(undefined);
      } catch (error) {
        if (!signal.aborted) setProblem(toProblem(error));
      }
    }

    const timer = setTimeout(() => void load(), quietMs);
    return () => {
      clearTimeout(timer);
      control.abort();
    };
  }, [text, missing]);

  const shown = new Set(found.map(({ value }) => value));
  const others = chosen.flatMap((id) => (shown.has(id) ? [] : (known.current.get(id) ?? [])));
  return { found: [...found, ...others], problem };
}

async function find(search: string, signal: AbortSignal): Promise<FoundApplication[]> {
  const path = withQuery(operatorPath('applications'), { search, limit: mostFound });
  const { data } = await call<Page<OperatedApplication>>('GET', path, { signal });
  return data.map(({ id, name, account_email }) => ({ value: id, label: name, email: account_email }));
}
