/** The states that were seen, each by 64 bits of its canonical form: millions of forms would not fit into memory. */
export interface SeenStates {
  readonly size: number;
  /** The number of the state, counted from 0 in the order of the first look. */
  add(form: string): { index: number; isNew: boolean };
  /** The same for a state that is known by two hashes. Returns its number: `size` before the call if it is new. */
  addHashes(one: number, other: number): number;
}

const firstSlots = 1 << 16;

export function createSeenStates(): SeenStates {
  let slots = firstSlots;
  /** For each slot the number of its state plus one; 0 if it is free. */
  let table = new Uint32Array(slots);
  let high = new Int32Array(slots / 2 + 1);
  let low = new Int32Array(slots / 2 + 1);
  let size = 0;

  function slotOf(one: number, other: number): number {
    let slot = (one ^ Math.imul(other, 0x9e3779b1)) & (slots - 1);
    for (;;) {
      const index = (table[slot] ?? 0) - 1;
      if (index < 0 || (high[index] === one && low[index] === other)) return slot;
      slot = (slot + 1) & (slots - 1);
    }
  }

  function grow(): void {
    slots *= 2;
    table = new Uint32Array(slots);
    high = extended(high, slots / 2 + 1);
    low = extended(low, slots / 2 + 1);
    for (let index = 0; index < size; index++) table[slotOf(high[index] ?? 0, low[index] ?? 0)] = index + 1;
  }

  function addHashes(one: number, other: number): number {
    const slot = slotOf(one, other);
    const found = (table[slot] ?? 0) - 1;
    if (found >= 0) return found;
    const index = size++;
    table[slot] = index + 1;
    high[index] = one;
    low[index] = other;
    if (size * 2 > slots) grow();
    return index;
  }

  return {
    get size() {
      return size;
    },
    add(form) {
      const [one, other] = hashOf(form);
      const before = size;
      const index = addHashes(one, other);
      return { index, isNew: index === before };
    },
    addHashes,
  };
}

function extended(values: Int32Array, length: number): Int32Array<ArrayBuffer> {
  const longer = new Int32Array(length);
  longer.set(values);
  return longer;
}

/** Two hashes that mix differently: one chance in 10^4 that two of sixty million states are taken for one. */
function hashOf(form: string): [number, number] {
  let one = 0x811c9dc5;
  let other = 0x2545f491;
  for (let index = 0; index < form.length; index++) {
    const code = form.charCodeAt(index);
    one = Math.imul(one ^ code, 0x01000193);
    other = Math.imul((other << 7) ^ (other >>> 25) ^ code, 0x5bd1e995);
  }
  one ^= one >>> 15;
  one = Math.imul(one, 0x2c1b3c6d);
  other ^= other >>> 13;
  other = Math.imul(other, 0x297a2d39);
  return [one ^ (one >>> 12), other ^ (other >>> 15)];
}
