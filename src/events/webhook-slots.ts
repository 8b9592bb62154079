/** Bounds how many calls are under way in one process. Endpoints that fail have at most half of it, so that they delay no other. */
export interface Slots {
  /** Returns false if none is free; `onFree` is called once when one may be. */
  take(isFailing: boolean, onFree: () => void): boolean;
  free(isFailing: boolean): void;
}

export function createSlots(most: number): Slots {
  const mostFailing = Math.ceil(most / 2);
  let taken = 0;
  let failing = 0;
  const waiting = new Set<() => void>();

  return {
    take(isFailing, onFree) {
      if (taken >= most || (isFailing && failing >= mostFailing)) {
        waiting.add(onFree);
        return false;
      }
      taken++;
      if (isFailing) failing++;
      return true;
    },
    free(isFailing) {
      taken--;
      if (isFailing) failing--;
      const all = [...waiting];
      waiting.clear();
      for (const onFree of all) onFree();
    },
  };
}
