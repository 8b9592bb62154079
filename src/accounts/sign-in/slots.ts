export interface SlotsOptions {
  perKey: number;
  total: number;
  onKeyFull: () => Error;
  onAllFull: () => Error;
}

/** Bounds how much work is accepted at once, per key and in total. Work beyond the bound is refused, not queued. */
export function createSlots({ perKey, total, onKeyFull, onAllFull }: SlotsOptions) {
  const takenBy = new Map<string, number>();
  let taken = 0;

  function take(key: string): void {
    const own = takenBy.get(key) ?? 0;
    if (own >= perKey) throw onKeyFull();
    if (taken >= total) throw onAllFull();
    takenBy.set(key, own + 1);
    taken++;
  }

  function leave(key: string): void {
    const own = takenBy.get(key) ?? 0;
    if (own > 1) takenBy.set(key, own - 1);
    else takenBy.delete(key);
    taken--;
  }

  return {
    /** Reserves a slot for this key during the work. Throws at once when the key's slots or all slots are taken. */
    async run<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
      take(key);
      try {
        return await work();
      } finally {
        leave(key);
      }
    },
  };
}
