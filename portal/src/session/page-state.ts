import { useCallback, useState } from 'react';

/** Kept in memory until a reload or sign-out. Secrets may be here and nowhere else. */
const values = new Map<string, unknown>();

export function readPageState<Value>(key: string, initial: Value): Value {
  return values.has(key) ? (values.get(key) as Value) : initial;
}

export function writePageState(key: string, value: unknown): void {
  values.set(key, value);
}

export type Update<Value> = (change: (before: Value) => Value) => void;

/** State that outlives its component, so that switching tabs loses nothing. */
export function usePageState<Value>(key: string, initial: Value): [Value, Update<Value>] {
  const [first] = useState(initial);
  const [value, setValue] = useState<Value>(() => readPageState(key, first));
  const change = useCallback<Update<Value>>(
    (changed) => {
      const next = changed(readPageState(key, first));
      writePageState(key, next);
      setValue(next);
    },
    [key, first],
  );
  return [value, change];
}

/** The key under which the reference keeps pasted credentials in this tab's session storage. */
export const pastedKey = 'heliograph-pasted-credentials';

const onCleared: (() => void)[] = [];

/** Runs after the state is cleared, for parts that still show it. */
export function onPageStateCleared(act: () => void): void {
  onCleared.push(act);
}

export function clearPageState(): void {
  values.clear();
  sessionStorage.removeItem(pastedKey);
  for (const act of onCleared) act();
}
