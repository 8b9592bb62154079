import { useCallback, useSyncExternalStore } from 'react';
import { onPageStateCleared, pastedKey } from '../session/page-state.ts';
import { latestSecrets } from '../session/secrets.ts';
import type { Credentials } from './samples/make-request.ts';

const none: Credentials = { apiKey: '', clientId: '', clientSecret: '' };

let pasted: Credentials | undefined;
const listeners = new Set<() => void>();

onPageStateCleared(() => change(none));

function change(next: Credentials): void {
  pasted = next;
  for (const listener of listeners) listener();
}

/** Credentials that the reader pasted. Those that the portal showed in this tab fill the gaps, and stay in memory only. */
function read(): Credentials {
  pasted ??= stored();
  const shown = latestSecrets();
  const merged = {
    apiKey: pasted.apiKey || shown.apiKey,
    clientId: pasted.clientId || shown.clientId,
    clientSecret: pasted.clientSecret || shown.clientSecret,
  };
  return sameAsBefore(merged);
}

let before = none;

/** React compares snapshots by identity. */
function sameAsBefore(next: Credentials): Credentials {
  const names = Object.keys(none) as (keyof Credentials)[];
  if (names.some((name) => before[name] !== next[name])) before = next;
  return before;
}

function stored(): Credentials {
  try {
    return { ...none, ...(JSON.parse(sessionStorage.getItem(pastedKey) ?? '{}') as Partial<Credentials>) };
  } catch {
    return none;
  }
}

export function useCredentials(): [Credentials, (given: Partial<Credentials>) => void] {
  const credentials = useSyncExternalStore((listener) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  }, read);
  const set = useCallback((given: Partial<Credentials>) => {
    const next = { ...(pasted ?? none), ...given };
    sessionStorage.setItem(pastedKey, JSON.stringify(next));
    change(next);
  }, []);
  return [credentials, set];
}
