/** Numbers between 0 and 1 that follow from a seed (mulberry32). */
export type Random = () => number;

export function seeded(seed: number): Random {
  let state = Math.imul(seed, 0x9e3779b1) >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export const below = (random: Random, count: number) => Math.floor(random() * count);

export function oneOf<Value>(random: Random, values: readonly Value[]): Value {
  return values[below(random, values.length)] as Value;
}

export const digits = (random: Random, count: number) => String(below(random, 10 ** count)).padStart(count, '0');

/** How many events happen, given the expected number (Poisson; by the normal curve where there are many). */
export function happening(random: Random, expected: number): number {
  if (expected > 40) {
    const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
    return Math.max(0, Math.round(expected + normal * Math.sqrt(expected)));
  }
  const least = Math.exp(-expected);
  let [count, product] = [0, random()];
  while (product > least) {
    count++;
    product *= random();
  }
  return count;
}
