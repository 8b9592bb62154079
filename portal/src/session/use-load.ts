import { useCallback, useEffect, useMemo, useState } from 'react';
import { call, withQuery } from '../api/call.ts';
import { type Problem, toProblem } from '../api/problem.ts';
import type { Page } from '../api/types.ts';
import { useFirstLoad } from './first-loads.ts';
import { useSession } from './session.tsx';

export interface Loaded<Data> {
  /** Kept until the next response arrives. */
  data: Data | undefined;
  problem: Problem | undefined;
  reload: () => void;
}

type Load<Data> = (signal: AbortSignal) => Promise<Data>;

/** Loads when `load` changes, and every `everyMs` while the page is visible. A busy service is retried. */
function useLoading<Data>(load: Load<Data> | undefined, everyMs?: number): Loaded<Data> {
  const { expire } = useSession();
  const [state, setState] = useState<Pick<Loaded<Data>, 'data' | 'problem'>>({ data: undefined, problem: undefined });
  const [round, setRound] = useState(0);
  useFirstLoad(load === undefined || state.data !== undefined || state.problem !== undefined);

  // biome-ignore lint/correctness/useExhaustiveDependencies: a new round loads the same data again.
  useEffect(() => {
    if (load === undefined) return setState({ data: undefined, problem: undefined });
    const request = load;
    const control = new AbortController();
    const { signal } = control;
    let timer: ReturnType<typeof setTimeout> | undefined;

    async function run(): Promise<void> {
      let againMs = everyMs;
      try {
        const data = await request(signal);
        if (!signal.aborted) setState({ data, problem: undefined });
      } catch (error) {
        if (signal.aborted) return;
        const problem = toProblem(error);
        if (problem.status === 401) return expire();
        setState(({ data }) => ({ data, problem }));
        againMs ??= problem.retryAfterMs;
      }
      if (againMs !== undefined && !signal.aborted) timer = setTimeout(runWhenVisible, againMs);
    }

    function runWhenVisible(): void {
      if (document.visibilityState === 'visible') void run();
      else document.addEventListener('visibilitychange', runWhenVisible, { once: true, signal });
    }

    void run();
    return () => {
      control.abort();
      clearTimeout(timer);
    };
  }, [load, everyMs, expire, round]);

  const reload = useCallback(() => setRound((before) => before + 1), []);
  return { ...state, reload };
}

/** Without a path it sends no request and has no data. */
export function useLoad<Data>(path: string | undefined, everyMs?: number): Loaded<Data> {
  const load = useMemo(
    () => (path === undefined ? undefined : (signal: AbortSignal) => call<Data>('GET', path, { signal })),
    [path],
  );
  return useLoading(load, everyMs);
}

/** What one screen shows of a long list. */
const shownOfPage = 50;

/** One page of a list that begins after a cursor. */
export function usePage<Item>(path: string, cursor: string, everyMs?: number) {
  const load = useCallback(
    (signal: AbortSignal) => loadItems<Item>(path, shownOfPage, signal, cursor === '' ? null : cursor),
    [path, cursor],
  );
  return useLoading(load, everyMs);
}

const pageSize = 20;
const largestPage = 100;
/** A search may return pages with few records or none, so limit how many pages one load reads. */
const pagesPerLook = 4;

export interface LoadedList<Item> extends Loaded<Item[]> {
  /** Undefined when the whole list is loaded. */
  showMore: (() => void) | undefined;
}

/** A list that can show more items and refreshes all that it shows. */
export function useList<Item>(path: string, everyMs?: number): LoadedList<Item> {
  const [wanted, setWanted] = useState(pageSize);
  const load = useCallback((signal: AbortSignal) => loadItems<Item>(path, wanted, signal), [path, wanted]);
  const { data, problem, reload } = useLoading(load, everyMs);
  const showMore = data?.more ? () => setWanted((before) => before + pageSize) : undefined;
  return { data: data?.items, problem, reload, showMore };
}

async function loadItems<Item>(path: string, wanted: number, signal: AbortSignal, after: string | null = null) {
  const items: Item[] = [];
  const responses: Page<Item>[] = [];
  let cursor = after;
  let pagesLeft = pagesPerLook * Math.ceil(wanted / pageSize);
  do {
    const limit = Math.min(largestPage, wanted - items.length);
    const page: Page<Item> = await call('GET', withQuery(path, { limit, cursor }), { signal });
    items.push(...page.data);
    responses.push(page);
    cursor = page.next_cursor;
  } while (cursor !== null && items.length < wanted && --pagesLeft > 0);
  return { items, responses, more: cursor !== null, next: cursor };
}
