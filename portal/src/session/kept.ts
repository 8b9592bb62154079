import { useCallback, useState } from 'react';

/** Lives as long as the page: a reload, or signing out, forgets it. That is why a secret may be here and nowhere else. */
const kept = new Map<string, unknown>();

export function recall<Value>(key: string, initial: Value): Value {
  return kept.has(key) ? (kept.get(key) as Value) : initial;
}

export function keep(key: string, value: unknown): void {
  kept.set(key, value);
}

export type Keep<Value> = (change: (before: Value) => Value) => void;

/** State that outlives its component, so that going to another tab and back loses nothing. */
export function useKept<Value>(key: string, initial: Value): [Value, Keep<Value>] {
  const [first] = useState(initial);
  const [value, setValue] = useState<Value>(() => recall(key, first));
  const change = useCallback<Keep<Value>>(
    (changed) => {
      const next = changed(recall(key, first));
      keep(key, next);
      setValue(next);
    },
    [key, first],
  );
  return [value, change];
}

export function forgetKept(): void {
  kept.clear();
}
