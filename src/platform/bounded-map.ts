import type { Clock } from './clock.ts';

/** Makes a map drop entries that were not used for `unusedMs`; at the latest after twice that time. */
export interface Forgetting {
  clock: Pick<Clock, 'steadyMs'>;
  unusedMs: number;
}

/**
 * A map of at most `limit` recently used entries. It keeps two generations instead of an LRU list: a hit in the young
 * one writes nothing, and dropping the old one costs nothing.
 */
export function createBoundedMap<Key, Value>(limit: number, forgetting?: Forgetting) {
  const half = Math.max(1, Math.floor(limit / 2));
  let turnedMs = forgetting?.clock.steadyMs() ?? 0;
  let young = new Map<Key, Value>();
  let old = new Map<Key, Value>();

  function turn(): void {
    old = young;
    young = new Map();
  }

  function set(key: Key, value: Value): void {
    const nowMs = forgetting?.clock.steadyMs() ?? 0;
    if (forgetting !== undefined && nowMs - turnedMs >= forgetting.unusedMs) {
      turnedMs = nowMs;
      turn();
    }
    if (young.size >= half && !young.has(key)) turn();
    young.set(key, value);
    old.delete(key);
  }

  return {
    get(key: Key): Value | undefined {
      const value = young.get(key);
      if (value !== undefined) return value;
      const older = old.get(key);
      if (older !== undefined) set(key, older);
      return older;
    },
    set,
    delete(key: Key): void {
      young.delete(key);
      old.delete(key);
    },
    clear(): void {
      young = new Map();
      old = new Map();
    },
    get size(): number {
      return young.size + old.size;
    },
  };
}
