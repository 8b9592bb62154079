/** The links of a list entry. Entries extend it. */
export interface Listed<T> {
  newer: T | undefined;
  older: T | undefined;
}

/** A doubly linked list in the order items were last seen. Every operation takes constant time. */
export function createRecency<T extends Listed<T>>() {
  let oldest: T | undefined;
  let newest: T | undefined;
  let length = 0;
  return {
    get length(): number {
      return length;
    },
    get oldest(): T | undefined {
      return oldest;
    },
    /** Adds an item that is in no list. */
    addNewest(item: T): void {
      item.older = newest;
      if (newest === undefined) oldest = item;
      else newest.newer = item;
      newest = item;
      length++;
    },
    /** Removes an item of this list. */
    remove(item: T): void {
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
