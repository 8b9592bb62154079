import { useEffect, useMemo, useState } from 'react';
import { useLocation } from 'wouter';
import type { SearchEntry } from '../docs/search/search-index.ts';
import { useSession } from '../session/session.tsx';
import { words } from '../words/find.tsx';
import { pageEntries, searchPages } from './page-entries.ts';
import { entryOf, isRecord, type ResultEntry } from './result-entries.ts';
import { type FindState, useFind } from './use-find.ts';

export interface ResultGroup {
  title: string;
  entries: ResultEntry[];
}

export interface Results extends FindState {
  groups: ResultGroup[];
  isSearching: boolean;
}

const mostPages = 6;

/** Everything that a query finds, by group: what the service knows, pages, and the reference. */
export function useResults(query: string): Results {
  const { account } = useSession();
  const state = useFind(query);
  const pages = usePages(query);
  const reference = useReference(query);
  const accountId = account?.id ?? '';
  const groups = useMemo(() => {
    const found = state.found ?? [];
    const toEntries = (some: typeof found) => some.map((each) => entryOf(each, accountId));
    return [
      { title: words.groups.records, entries: toEntries(found.filter(isRecord)) },
      { title: words.groups.places, entries: toEntries(found.filter((each) => !isRecord(each))) },
      { title: words.groups.pages, entries: pages },
      { title: words.groups.reference, entries: reference },
    ].filter(({ entries }) => entries.length > 0);
  }, [state.found, accountId, pages, reference]);
  return { ...state, groups, isSearching: state.found === undefined };
}

function usePages(query: string): ResultEntry[] {
  const { account } = useSession();
  const [path] = useLocation();
  const application = /^\/applications\/(app_\w+)/.exec(path)?.[1];
  return useMemo(() => {
    const given = { isOperator: account?.operator === true, isOwner: account?.role === 'owner', application };
    return searchPages(pageEntries(given), query, mostPages).map(plainEntry);
  }, [query, account, application]);
}

/** The first search loads the reference. */
function useReference(query: string): ResultEntry[] {
  const [search, setSearch] = useState<(query: string) => SearchEntry[]>(() => () => []);
  const isWanted = query.trim().length > 2;
  useEffect(() => {
    let gone = false;
    if (!isWanted) return;
    // What cannot be loaded is not searched; its own page shows the error.
    import('./reference-search.ts')
      .then(({ loadReferenceSearch }) => loadReferenceSearch())
      .then((loaded) => gone || setSearch(() => loaded))
      .catch(() => {});
    return () => {
      gone = true;
    };
  }, [isWanted]);
  return useMemo(
    () =>
      (isWanted ? search(query) : []).map(({ kind, title, about, href }) =>
        plainEntry({ kind: words.kinds[kind] ?? kind, title, about, href }),
      ),
    [search, query, isWanted],
  );
}

function plainEntry({ kind, title, about, href }: Pick<ResultEntry, 'kind' | 'title' | 'about' | 'href'>): ResultEntry {
  return { key: href, kind, title, isCode: false, about, status: undefined, at: undefined, href };
}
