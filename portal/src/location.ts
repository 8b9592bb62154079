import { useLocation } from 'wouter';
import { navigate as push, useLocationProperty } from 'wouter/use-browser-location';

/** Pages of the reference have paths of their own; those of the portal follow the `#`. */
export function isReferencePath(path: string): boolean {
  return path === '/docs' || path.startsWith('/docs/');
}

/** The current path without its filters, which follow a `?`. */
function currentPath(): string {
  const { pathname, hash } = location;
  if (isReferencePath(pathname)) return pathname.replace(/(?<=.)\/+$/, '');
  return `/${hash.replace(/^#?\/?/, '').replace(/\?.*$/s, '')}`;
}

function addressOf(path: string): string {
  return isReferencePath(path.split('#')[0] ?? '') ? path : `/#${path}`;
}

function navigate(to: string, options: { replace?: boolean; state?: unknown } = {}): void {
  push(addressOf(to), options);
}

/** The current page for wouter: one router for both kinds of pages, so that moving between them needs no page load. */
export const useAppLocation = Object.assign(
  (): [string, typeof navigate] => [useLocationProperty(currentPath), navigate],
  { hrefs: addressOf },
);

/** The part of a reference address after its `#`: a field or an error. */
export function useFragment(): string {
  return useLocationProperty(() =>
    isReferencePath(location.pathname) ? decodeURIComponent(location.hash.slice(1)) : '',
  );
}

function currentQuery(): string {
  return /\?.*$/s.exec(location.hash)?.[0] ?? '';
}

export interface Filters<Values> {
  values: Values;
  /** Changes some filters, and the address with them, without a new history entry. */
  change: (values: Partial<Values>) => void;
  /** Appended to the address of a record, so that closing the record shows the same list. */
  query: string;
  /** Whether any filter differs from its default. */
  any: boolean;
}

/** The filters of a page, kept in its address: a reload, a bookmark and a link show the same list. */
export function useFilters<Values extends Record<string, string>>(defaults: Values): Filters<Values> {
  const query = useLocationProperty(currentQuery);
  const [path, go] = useLocation();
  const given = new URLSearchParams(query);
  const values = Object.fromEntries(
    Object.entries(defaults).map(([name, standard]) => [name, given.get(name) ?? standard]),
  ) as Values;
  const set = (all: Values) => Object.entries(all).filter(([name, value]) => value !== defaults[name]);
  return {
    values,
    change: (changed) => {
      const text = new URLSearchParams(set({ ...values, ...changed })).toString();
      go(text === '' ? path : `${path}?${text}`, { replace: true });
    },
    query,
    any: set(values).length > 0,
  };
}
