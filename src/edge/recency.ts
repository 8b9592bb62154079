/** A place in a list of recency. What is listed extends it. */
export interface Listed<T> {
  newer: T | undefined;
  older: T | undefined;
}

/** Things in the order they were last seen, linked to one another, so that a sight costs the same at any length. */
export interface Recency<T> {
  readonly length: number;
  readonly oldest: T | undefined;
  /** Adds something that is on no list. */
  addNewest(item: T): void;
  /** Takes out something that is on this list. */
  remove(item: T): void;
}

export function createRecency<T extends Listed<T>>(): Recency<T> {
  let oldest: T | undefined;
  let newest: T | undefined;
  let length = 0;
  return {
    get length() {
      return length;
    },
    get oldest() {
      return oldest;
    },
    addNewest(item) {
      item.older = newest;
      if (newest === undefined) oldest = item;
      else newest.newer = item;
      newest = item;
      length++;
    },
    remove(item) {
      if (item.newer === undefined) newest = item.older;
      else item.newer.older = item.older;
      if (item.older === undefined) oldest = item.newer;
      else item.older.newer = item.newer;
      item.newer = undefined;
      item.older = undefined;
      length--;
    },
  };
}
