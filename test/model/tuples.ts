/** Numbers different tuples of integers, in the order of their first use. */
export interface Tuples {
  readonly size: number;
  /** The number of the tuple: `size` before the call if it is new. */
  numberOf(values: ArrayLike<number>): number;
}

const firstSlots = 1 << 12;

export function createTuples(width: number): Tuples {
  let slots = firstSlots;
  /** For each slot the number of its tuple plus one; 0 if it is free. */
  let table = new Uint32Array(slots);
  let tuples = new Int32Array((slots / 2) * width);
  let size = 0;

  function isAt(index: number, values: ArrayLike<number>): boolean {
    const start = index * width;
    for (let at = 0; at < width; at++) if (tuples[start + at] !== values[at]) return false;
    return true;
  }

  function grow(): void {
    slots *= 2;
    table = new Uint32Array(slots);
    const longer = new Int32Array((slots / 2) * width);
    longer.set(tuples);
    tuples = longer;
    for (let index = 0; index < size; index++) {
      let slot = hashTuple(tuples.subarray(index * width, (index + 1) * width), width, 0) & (slots - 1);
      while (table[slot] !== 0) slot = (slot + 1) & (slots - 1);
      table[slot] = index + 1;
    }
  }

  return {
    get size() {
      return size;
    },
    numberOf(values) {
      let slot = hashTuple(values, width, 0) & (slots - 1);
      for (;;) {
        const index = (table[slot] ?? 0) - 1;
        if (index < 0) break;
        if (isAt(index, values)) return index;
        slot = (slot + 1) & (slots - 1);
      }
      const index = size++;
      table[slot] = index + 1;
      for (let at = 0; at < width; at++) tuples[index * width + at] = values[at] ?? 0;
      if (size * 2 >= slots) grow();
      return index;
    },
  };
}

/** Different seeds give hashes that have nothing to do with each other. */
export function hashTuple(values: ArrayLike<number>, width: number, seed: number): number {
  let hash = seed ^ 0x811c9dc5;
  for (let at = 0; at < width; at++) {
    let value = Math.imul(values[at] ?? 0, 0xcc9e2d51);
    value = Math.imul((value << 15) | (value >>> 17), 0x1b873593);
    hash ^= value;
    hash = Math.imul((hash << 13) | (hash >>> 19), 5) + 0xe6546b64;
  }
  hash ^= hash >>> 16;
  hash = Math.imul(hash, 0x85ebca6b);
  hash ^= hash >>> 13;
  hash = Math.imul(hash, 0xc2b2ae35);
  return hash ^ (hash >>> 16);
}
